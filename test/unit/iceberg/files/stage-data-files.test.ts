import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputRow } from '../../../../src/codec/build-columns.ts';
import { readFileSchema } from '../../../../src/codec/parquet/file-schema.ts';
import { stageDataFiles } from '../../../../src/iceberg/files/stage-data-files.ts';
import type { ContentFile } from '../../../../src/iceberg/metadata/content-file.ts';
import { decodeSingleValue } from '../../../../src/iceberg/metadata/single-value.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { applyTransform } from '../../../../src/table/partitioning/apply-transform.ts';
import type { Transform } from '../../../../src/table/partitioning/transform.ts';
import { type StagedTableOptions, stagedTable } from '../../../support/iceberg/staged-table.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

const uuid = 'f79c3e09-677c-4bbd-a479-3f349cb785e7';

/** Every type of the format, nested ones with ids on every node. */
const everything: StructType = struct([
  ['b', { kind: 'boolean' }, 1],
  ['i', { kind: 'integer' }, 2],
  ['l', { kind: 'long' }, 3],
  ['f', { kind: 'float' }, 4],
  ['d', { kind: 'double' }, 5],
  ['dec', { kind: 'decimal', precision: 9, scale: 2 }, 6],
  ['big', { kind: 'decimal', precision: 38, scale: 10 }, 7],
  ['day', { kind: 'date' }, 8],
  ['t', { kind: 'time' }, 9],
  ['ts', { kind: 'timestamp' }, 10],
  ['ntz', { kind: 'timestamp_ntz' }, 11],
  ['ns', { kind: 'timestamp_ntz_ns' }, 12],
  ['s', { kind: 'string' }, 13],
  ['u', { kind: 'string', format: 'uuid' }, 14],
  ['bin', { kind: 'binary' }, 15],
  [
    'st',
    struct([
      ['x', { kind: 'integer' }, 17],
      ['y', { kind: 'string' }, 18],
    ]),
    16,
  ],
  ['li', { kind: 'list', element: struct([['z', { kind: 'long' }, 21]]), elementNullable: true, elementId: 20 }, 19],
  ['m', { kind: 'map', key: { kind: 'string' }, value: { kind: 'double' }, valueNullable: true, keyId: 23, valueId: 24 }, 22],
]);

/** What the engine does not write itself. */
const rare: readonly (readonly [string, DataType, number])[] = [
  ['fx', { kind: 'binary', fixedLength: 3 }, 25],
  ['tns', { kind: 'timestamp_ns' }, 26],
];

function struct(fields: readonly (readonly [string, DataType, number])[]): StructType {
  return { kind: 'struct', fields: fields.map(([name, type, id]): Field => ({ name, type, nullable: true, id })) };
}

const row: InputRow = {
  b: true,
  i: -5,
  l: 2n ** 53n + 1n,
  f: 1.5,
  d: -0,
  dec: '-1.28',
  big: '12345678901234567890.0123456789',
  day: -1,
  t: 36_672_123_456n,
  ts: -1n,
  ntz: 1_709_164_800_000_001n,
  ns: -1n,
  s: 'größer als sechzehn Zeichen',
  u: uuid,
  bin: Uint8Array.of(0xff, 1, 2),
  st: { x: 1, y: null },
  li: [{ z: 7n }, null],
  m: new Map([['k', 0.5]]),
};

async function staged(rows: readonly InputRow[], options: StagedTableOptions, stage: Parameters<typeof stageDataFiles>[3] = {}) {
  const table = stagedTable(made, options);
  const held = await made.hold(options.schema, rows);
  const files = await stageDataFiles(table.context, table.state, held, stage);
  await held.dispose();
  return { ...table, files };
}

function boundsOf(file: ContentFile | undefined, schema: StructType, name: string): readonly unknown[] {
  const field = schema.fields.find((one) => one.name === name);
  const [lower, upper] = [file?.lowerBounds?.get(field?.id ?? 0), file?.upperBounds?.get(field?.id ?? 0)];
  const decode = (bytes: Uint8Array | undefined) =>
    bytes === undefined || field === undefined ? undefined : decodeSingleValue(field.type, bytes);
  return [decode(lower), decode(upper)];
}

describe.each(['parquet', 'avro', 'orc'] as const)('a file of format %s', (format) => {
  it('has metrics of every type', async () => {
    const { files } = await staged([row, { ...row, i: 5, s: 'a', d: Number.NaN, f: null, bin: null }], { schema: everything }, { format });
    const [file] = files;
    expect(files).toHaveLength(1);
    expect(file).toMatchObject({ content: 'data', format, recordCount: 2, specId: 0, partition: [], sortOrderId: 0 });
    expect(file?.path).toMatch(new RegExp(`/data/00000-0-[0-9a-f-]{36}-00001\\.${format}$`));
    expect(boundsOf(file, everything, 'i')).toEqual([-5, 5]);
    expect(boundsOf(file, everything, 'b')).toEqual([true, true]);
    expect(boundsOf(file, everything, 'l')).toEqual([2n ** 53n + 1n, 2n ** 53n + 1n]);
    expect(boundsOf(file, everything, 'dec')).toEqual([-128n, -128n]);
    expect(boundsOf(file, everything, 'day')).toEqual([-1, -1]);
    expect(boundsOf(file, everything, 't')).toEqual([36_672_123_456n, 36_672_123_456n]);
    expect(boundsOf(file, everything, 'ts')).toEqual([-1n, -1n]);
    expect(boundsOf(file, everything, 'ns')).toEqual([-1n, -1n]);
    expect(boundsOf(file, everything, 'u')).toEqual([uuid, uuid]);
    expect(boundsOf(file, everything, 's')).toEqual(['a', 'größer als sech{']);
    expect(boundsOf(file, everything, 'bin').map((bytes) => Buffer.from(bytes as Uint8Array).toString('hex'))).toEqual([
      'ff0102',
      'ff0102',
    ]);
    // The bounds of zeros of either sign are the outer ones, NaN is none.
    expect(boundsOf(file, everything, 'd').map((zero) => Object.is(zero, -0))).toEqual([true, false]);
    expect([file?.nanValueCounts?.get(5), file?.nullValueCounts?.get(4), file?.nullValueCounts?.get(18)]).toEqual([1, 1, 2]);
    expect([file?.valueCounts?.get(17), file?.valueCounts?.get(21), file?.lowerBounds?.get(24)]).toEqual([2, undefined, undefined]);
  });

  it('keeps within what the metrics modes ask for', async () => {
    const properties = {
      'write.metadata.metrics.default': 'counts',
      'write.metadata.metrics.column.i': 'none',
      'write.metadata.metrics.column.s': 'full',
      'write.metadata.metrics.column.st.x': 'truncate(4)',
    };
    const { files } = await staged([row], { schema: everything, properties }, { format });
    expect(boundsOf(files[0], everything, 's')).toEqual([row['s'], row['s']]);
    expect(boundsOf(files[0], everything, 'l')).toEqual([undefined, undefined]);
    expect([files[0]?.valueCounts?.has(2), files[0]?.valueCounts?.has(3), files[0]?.lowerBounds?.has(17)]).toEqual([false, true, true]);
  });

  it('is one of several, one for each partition, named by it', async () => {
    const spec = [
      { sourceId: 13, fieldId: 1000, name: 's', transform: { kind: 'identity' } },
      { sourceId: 10, fieldId: 1001, name: 'ts_day', transform: { kind: 'day' } },
    ] as const;
    const rows = [row, { ...row, s: 'a b/c' }, { ...row, s: null, ts: null }, { ...row, s: 'a b/c', i: 1 }];
    const { files } = await staged(rows, { schema: everything, spec }, { format });
    const found = files.map(({ partition, recordCount, path }) => ({
      partition,
      recordCount,
      directory: path.split('/').slice(-3, -1).join('/'),
    }));
    expect(found).toHaveLength(3);
    expect(found).toContainEqual({ partition: ['a b/c', -1], recordCount: 2, directory: 's=a+b%2Fc/ts_day=1969-12-31' });
    expect(found).toContainEqual({ partition: [undefined, undefined], recordCount: 1, directory: 's=null/ts_day=null' });
  });

  it('is not there without rows', async () => {
    const { files } = await staged([], { schema: everything }, { format });
    expect(files).toEqual([]);
  });

  it('is sorted where the table is', async () => {
    const schema = struct([
      ['k', { kind: 'long' }, 1],
      ['p', { kind: 'integer' }, 2],
    ]);
    const rows = Array.from({ length: 500 }, (_, index) => ({ k: BigInt((index * 7919) % 500), p: index % 2 }));
    const sortOrder = [{ transform: { kind: 'identity' }, sourceId: 1, direction: 'desc', nullOrder: 'nulls-last' }] as const;
    const spec = [{ sourceId: 2, fieldId: 1000, name: 'p', transform: { kind: 'identity' } }] as const;
    const { files } = await staged(rows, { schema, sortOrder, spec }, { format, sortOrderId: 1 });
    expect(files.map(({ recordCount, sortOrderId }) => [recordCount, sortOrderId])).toEqual([
      [250, 1],
      [250, 1],
    ]);
    if (format !== 'parquet') return;
    for (const { path } of files) {
      const keys = (await made.engine.rows(`SELECT k FROM '${path}'`)).map(([key]) => Number(key));
      expect(keys).toEqual(keys.toSorted((a, b) => b - a));
    }
  });
});

describe('a parquet file', () => {
  it('has the id of the schema on every node, and its types', async () => {
    const { files } = await staged([row], { schema: everything });
    const ids: number[] = [];
    const visit = (column: ReturnType<typeof readFileSchema>['columns'][number]): void => {
      if (column.id !== undefined) ids.push(column.id);
      if (column.kind === 'struct') column.members.forEach(visit);
      if (column.kind === 'list') visit(column.element);
      if (column.kind === 'map') [column.key, column.value].forEach(visit);
    };
    readFileSchema(await footerOf(files[0])).columns.forEach(visit);
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
    const types = await made.engine.rows(
      `SELECT name, coalesce(nullif(split_part(logical_type, '(', 1), ''), converted_type, type) FROM parquet_schema('${files[0]?.path ?? ''}') WHERE field_id IN (6, 7, 9, 10, 12, 14)`,
    );
    expect(types).toEqual([
      ['dec', 'DecimalType'],
      ['big', 'DecimalType'],
      ['t', 'TimeType'],
      ['ts', 'TimestampType'],
      ['ns', 'TimestampType'],
      ['u', 'UUIDType'],
    ]);
  });

  it('says what its columns take and where its row groups begin', async () => {
    const { files } = await staged([row, row], { schema: everything });
    expect(files[0]?.splitOffsets).toEqual([4]);
    const sizes = [...(files[0]?.columnSizes?.entries() ?? [])];
    expect(sizes.map(([id]) => id).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 21, 23, 24,
    ]);
    expect(sizes.every(([, size]) => size > 0)).toBe(true);
  });

  it('of values of a fixed length and instants of nanoseconds is right all the same', async () => {
    const schema = struct([['u', { kind: 'string', format: 'uuid' }, 14], ...rare]);
    const rows = [
      { u: uuid, fx: Uint8Array.of(1, 2, 3), tns: 1_704_067_200_123_456_789n },
      { u: null, fx: null, tns: null },
    ];
    const { files } = await staged(rows, { schema });
    const path = files[0]?.path ?? '';
    const types = await made.engine.rows(
      `SELECT name, type, type_length, split_part(logical_type, '(', 1), field_id FROM parquet_schema('${path}') OFFSET 1`,
    );
    expect(types.map((type) => type.map(String))).toEqual([
      ['u', 'FIXED_LEN_BYTE_ARRAY', '16', 'UUIDType', '14'],
      ['fx', 'FIXED_LEN_BYTE_ARRAY', '3', 'null', '25'],
      ['tns', 'INT64', 'null', 'TimestampType', '26'],
    ]);
    expect(await made.engine.rows(`SELECT CAST(u AS VARCHAR), hex(fx) FROM '${path}'`)).toEqual([
      [uuid, '010203'],
      [null, null],
    ]);
    expect(boundsOf(files[0], schema, 'tns')).toEqual([1_704_067_200_123_456_789n, 1_704_067_200_123_456_789n]);
    expect([files[0]?.splitOffsets, files[0]?.columnSizes?.size]).toEqual([[4], 3]);
  });

  it('is divided at the target size', async () => {
    const schema = struct([
      ['k', { kind: 'long' }, 1],
      ['s', { kind: 'string' }, 2],
    ]);
    const table = stagedTable(made, { schema, properties: { 'write.parquet.compression-codec': 'uncompressed' } });
    const rows = { sql: `SELECT range AS k, md5(CAST(range AS VARCHAR)) AS s FROM range(300000)`, schema };
    const files = await stageDataFiles(table.context, table.state, rows, { targetFileBytes: 2 * 2 ** 20 });
    expect(files.length).toBeGreaterThan(2);
    expect(files.reduce((sum, { recordCount }) => sum + recordCount, 0)).toBe(300_000);
  });

  it('lies where the properties say, behind directories made of a hash', async () => {
    const schema = struct([['k', { kind: 'long' }, 1]]);
    const { files } = await staged([{ k: 1n }], { schema, properties: { 'write.object-storage.enabled': 'true' } });
    expect(files[0]?.path).toMatch(/\/data\/[01]{4}\/[01]{4}\/[01]{4}\/[01]{8}\/00000-0-/);
  });

  it('keeps the row lineage of moved rows', async () => {
    const schema = struct([['k', { kind: 'long' }, 1]]);
    const table = stagedTable(made, { schema, formatVersion: 3 });
    const long = { type: { kind: 'long' }, nullable: true } as const;
    const rows = {
      sql: 'SELECT 1::BIGINT, 77::BIGINT, NULL::BIGINT',
      schema: {
        kind: 'struct',
        fields: [
          { name: 'k', ...long },
          { name: '_row_id', ...long },
          { name: '_last_updated_sequence_number', ...long },
        ],
      },
    } as const;
    const files = await stageDataFiles(table.context, table.state, rows, { withRowTracking: true });
    const ids = await made.engine.rows(`SELECT name, field_id FROM parquet_schema('${files[0]?.path ?? ''}') OFFSET 1`);
    expect(ids.map(([name, id]) => [name, Number(id)])).toEqual([
      ['k', 1],
      ['_row_id', 2147483540],
      ['_last_updated_sequence_number', 2147483539],
    ]);
    expect(files[0]?.lowerBounds?.size).toBe(1);
  });
});

describe('partition transforms', () => {
  const values: readonly (readonly [string, DataType, InputRow[string]])[] = [
    ['integer', { kind: 'integer' }, -7],
    ['long', { kind: 'long' }, -(2n ** 62n)],
    ['decimal', { kind: 'decimal', precision: 9, scale: 2 }, '-10.65'],
    ['date', { kind: 'date' }, -1],
    ['time', { kind: 'time' }, 81_068_000_000n],
    ['timestamp', { kind: 'timestamp' }, -1n],
    ['timestamp without zone', { kind: 'timestamp_ntz' }, 1_510_871_468_000_001n],
    ['nanoseconds', { kind: 'timestamp_ntz_ns' }, -1n],
    ['string', { kind: 'string' }, '\u{1f469}\u{10ffff}ßiceberg'],
    ['uuid', { kind: 'string', format: 'uuid' }, uuid],
    ['binary', { kind: 'binary' }, Uint8Array.of(0, 1, 2, 3)],
  ];
  const transforms: readonly Transform[] = [
    { kind: 'identity' },
    { kind: 'void' },
    { kind: 'bucket', count: 1_000 },
    { kind: 'truncate', width: 3 },
    { kind: 'year' },
    { kind: 'month' },
    { kind: 'day' },
    { kind: 'hour' },
  ];

  it.each(values)("of a %s are the specification's", async (_, type, value) => {
    const schema = struct([['c', type, 1]]);
    const plain = type.kind === 'decimal' && typeof value === 'string' ? BigInt(value.replace('.', '')) : value;
    const expected = transforms.flatMap((transform) => {
      try {
        return [{ transform, value: applyTransform(transform, type, plain as never) }];
      } catch {
        return [];
      }
    });
    const spec = expected.map(({ transform }, index) => ({ sourceId: 1, fieldId: 1000 + index, name: `p${index}`, transform }));
    const { files } = await staged([{ c: value }, { c: null }], { schema, spec });
    const partitions = files.map(({ partition }) => partition.map((one) => (one instanceof Uint8Array ? [...one] : one)));
    expect(partitions).toContainEqual(expected.map((one) => (one.value instanceof Uint8Array ? [...one.value] : one.value)));
    expect(partitions).toContainEqual(expected.map(() => undefined));
  });

  it('of many partitions are written in one go', async () => {
    const schema = struct([['k', { kind: 'long' }, 1]]);
    const spec = [{ sourceId: 1, fieldId: 1000, name: 'k_bucket', transform: { kind: 'bucket', count: 300 } }] as const;
    const table = stagedTable(made, { schema, spec });
    const files = await stageDataFiles(table.context, table.state, { sql: 'SELECT range AS k FROM range(20000)', schema });
    expect(files.length).toBe(300);
    expect(files.reduce((sum, { recordCount }) => sum + recordCount, 0)).toBe(20_000);
  });
});

it('a write that fails leaves nothing', async () => {
  const schema = struct([['k', { kind: 'long' }, 1]]);
  const table = stagedTable(made, { schema });
  await expect(stageDataFiles(table.context, table.state, { sql: "SELECT CAST(error('no') AS BIGINT) AS k", schema })).rejects.toThrow(
    /no/,
  );
  expect(await readdir(table.state.metadata.location, { recursive: true })).toEqual(['data']);
});

async function footerOf(file: ContentFile | undefined): Promise<Uint8Array> {
  const bytes = await readFile(file?.path ?? '');
  const length = bytes.readUInt32LE(bytes.length - 8);
  return bytes.subarray(bytes.length - 8 - length, bytes.length - 8);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/bigint-json.ts';
import { describeError, isServiceError } from '../../../../src/base/errors.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { type ReadAvroRowsOptions, readAvroRows } from '../../../../src/codec/avro/read-avro-rows.ts';
import type { AvroCodec } from '../../../../src/codec/avro/read-container.ts';
import { writeAvroFile } from '../../../../src/codec/avro/write-avro-file.ts';
import { AvroRowWriter, type WriteAvroRowsOptions } from '../../../../src/codec/avro/write-avro-rows.ts';
import { AvroContainerWriter } from '../../../../src/codec/avro/write-container.ts';
import { buildBatch, type InputRow } from '../../../../src/codec/build-columns.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { ColumnBatch } from '../../../../src/schema/columns.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { schemaAndRows } from '../../../support/random-batches.ts';
import { avroVector } from './vectors.ts';

const sync = new SeededRandom(2).bytes(16);

function struct(...fields: readonly Field[]): StructType & DataType {
  return { kind: 'struct', fields };
}

function field(id: number, name: string, type: DataType, nullable = true): Field {
  return { name, type, nullable, id };
}

function read(bytes: Uint8Array, schema: StructType, options: Partial<ReadAvroRowsOptions> = {}): readonly unknown[] {
  return [...rowsOf(readAvroRows(bytes, { name: 'f.avro', schema, ...options }).batches)];
}

async function write(schema: StructType, rows: readonly InputRow[], codec: AvroCodec = 'deflate'): Promise<Uint8Array> {
  return await writeAvroRows([buildBatch(schema, rows)], { schema, codec, sync });
}

/** A file with one column of a stored type. */
async function stored(type: JsonValue, values: readonly InputRow[string][], id = 1): Promise<Uint8Array> {
  const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type, 'field-id': id }] };
  return await writeAvroFile({ schema, codec: 'null', sync, records: values.map((a) => ({ a })) });
}

const text: DataType = { kind: 'string' };
const int: DataType = { kind: 'integer' };
const long: DataType = { kind: 'long' };
const table = struct(
  field(1, 'id', long),
  field(2, 'label', text),
  field(3, 'ts', { kind: 'timestamp' }),
  field(4, 'tn', { kind: 'timestamp_ntz' }),
  field(5, 'dt', { kind: 'date' }),
  field(6, 'dec', { kind: 'decimal', precision: 20, scale: 4 }),
  field(
    7,
    'st',
    struct(
      field(17, 'c', { kind: 'double' }),
      field(10, 'a', int),
      field(11, 'b', { kind: 'list', element: text, elementNullable: true, elementId: 12 }),
    ),
  ),
  field(8, 'm', { kind: 'map', key: text, value: { kind: 'double' }, valueNullable: true, keyId: 13, valueId: 14 }),
  field(9, 'mi', { kind: 'map', key: int, value: text, valueNullable: true, keyId: 15, valueId: 16 }),
);
const nothing = { ts: null, tn: null, dt: null, dec: null, m: null, mi: null };

describe('files of Spark', () => {
  it('are read by field id through a rename and with columns they do not have', () => {
    const rows = ['data-0', 'data-1', 'data-2'].flatMap((name) => read(avroVector(name).bytes, table));
    expect(rows).toEqual([
      {
        id: 1n,
        label: 'x',
        ts: -1n,
        tn: 1704067200000001n,
        dt: -1,
        dec: '1.2345',
        st: { c: null, a: 1, b: ['q', null] },
        m: new Map([
          ['k', 1.5],
          ['n', null],
        ]),
        mi: new Map([
          [1, 'one'],
          [2, null],
        ]),
      },
      { id: 3n, label: 'z', st: { c: 0.5, a: 3, b: null }, ...nothing },
      { id: 2n, label: null, st: null, ...nothing },
    ]);
  });

  it('tell which fields they do not have, at every level', () => {
    const schema = struct(field(1, 'id', long), field(99, 'later', int), ...table.fields.slice(6, 7));
    const rows = readAvroRows(avroVector('data-0').bytes, { name: 'f', schema });
    expect(rows.absentFieldIds).toEqual(new Set([99, 17]));
    expect([...rowsOf(rows.batches)]).toEqual([{ id: 1n, later: null, st: { c: null, a: 1, b: ['q', null] } }]);
  });
});

describe('rows come back as they were written', () => {
  it('of any schema, with and without ids, with every codec', async () => {
    const seed = 411;
    await fc.assert(
      fc.asyncProperty(
        schemaAndRows,
        fc.boolean(),
        fc.constantFrom<AvroCodec>('null', 'deflate', 'snappy', 'zstandard'),
        async ({ schema, rows }, ids, codec) => {
          const numbered = ids ? withIds(schema) : schema;
          const batch = buildBatch(numbered, rows);
          const bytes = await writeAvroRows([batch], { schema: numbered, codec, sync, blockBytes: 200 });
          const file = readAvroRows(bytes, { name: 'f', schema: numbered, batchRows: 7 });
          expect(file.absentFieldIds.size).toBe(0);
          expect([...rowsOf(file.batches)]).toEqual([...rowsOf([batch])]);
        },
      ),
      { seed, numRuns: 150 },
    );
  });

  it('of the types that only Iceberg has', async () => {
    const schema = struct(
      field(1, 'u', { kind: 'string', format: 'uuid' }),
      field(2, 'f', { kind: 'binary', fixedLength: 3 }),
      field(3, 't', { kind: 'time' }),
      field(4, 'ns', { kind: 'timestamp_ns' }),
      field(5, 'nn', { kind: 'timestamp_ntz_ns' }),
      field(6, 'mu', { kind: 'map', key: { kind: 'string', format: 'uuid' }, value: long, valueNullable: false, keyId: 7, valueId: 8 }),
      field(9, 'u2', { kind: 'string', format: 'uuid' }),
    );
    const rows = [
      {
        u: 'f79c3e09-677c-4bbd-a479-3f349cb785e7',
        f: Uint8Array.of(0, 255, 7),
        t: 86_399_999_999n,
        ns: -(2n ** 63n),
        nn: 2n ** 63n - 1n,
        mu: new Map([['00000000-0000-0000-0000-0000000000ff', 1n]]),
        u2: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      },
      { u: null, f: null, t: null, ns: null, nn: null, mu: null, u2: null },
    ];
    expect(read(await write(schema, rows), schema)).toEqual(rows);
  });

  it('in batches of the asked size, over many blocks', async () => {
    const schema = struct(field(1, 'id', long, false), field(2, 's', text));
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ id: BigInt(index), s: index % 3 === 0 ? null : `s${index}` }));
    const bytes = await writeAvroRows([buildBatch(schema, rows.slice(0, 4000)), buildBatch(schema, rows.slice(4000))], {
      schema,
      sync,
      blockBytes: 1000,
    });
    const batches = [...readAvroRows(bytes, { name: 'f', schema, batchRows: 3000 }).batches];
    expect(batches.map((batch) => batch.rowCount)).toEqual([3000, 3000, 3000, 1000]);
    expect([...rowsOf(batches)]).toEqual(rows);
  });
});

describe('values are read as the type the table has now', () => {
  it.each<[string, JsonValue, DataType, InputRow[string], unknown]>([
    ['an int as long', 'int', long, -5, -5n],
    ['a float as double', 'float', { kind: 'double' }, 1.5, 1.5],
    ['an int as byte', 'int', { kind: 'byte' }, -128, -128],
    [
      'a decimal with more digits',
      decimal('fixed', 9, 2, 4),
      { kind: 'decimal', precision: 38, scale: 2 },
      Uint8Array.of(255, 255, 255, 133),
      '-1.23',
    ],
    ['a decimal of bytes', decimal('bytes', 9, 2), { kind: 'decimal', precision: 9, scale: 2 }, Uint8Array.of(0, 200), '2.00'],
    ['a decimal with padding', decimal('bytes', 9, 2), { kind: 'decimal', precision: 9, scale: 2 }, new Uint8Array(20).fill(255), '-0.01'],
    ['milliseconds as timestamp', { type: 'long', logicalType: 'timestamp-millis' }, { kind: 'timestamp' }, -1n, -1000n],
    ['local microseconds', { type: 'long', logicalType: 'local-timestamp-micros' }, { kind: 'timestamp_ntz' }, 7n, 7n],
    ['microseconds as nanoseconds', { type: 'long', logicalType: 'timestamp-micros' }, { kind: 'timestamp_ns' }, -3n, -3000n],
    ['a date as timestamp', { type: 'int', logicalType: 'date' }, { kind: 'timestamp_ntz' }, -2, -172_800_000_000n],
    ['milliseconds of a day', { type: 'int', logicalType: 'time-millis' }, { kind: 'time' }, 86_399_999, 86_399_999_000n],
    ['a long without a unit', 'long', { kind: 'timestamp' }, 9n, 9n],
    ['text of a uuid', 'string', { kind: 'string', format: 'uuid' }, 'abc', 'abc'],
    ['a fixed as binary', { type: 'fixed', name: 'f', size: 1 }, { kind: 'binary' }, Uint8Array.of(5), Uint8Array.of(5)],
    ['a union of one', ['int'], int, 3, 3],
    ['a union of null', ['null'], int, null, null],
    ['null behind the value', ['int', 'null'], int, 4, 4],
  ])('%s', async (_, avro, type, value, expected) => {
    expect(read(await stored(avro, [value]), struct(field(1, 'now', type)))).toEqual([{ now: expected }]);
  });

  it.each<[string, JsonValue, DataType]>([
    ['a long as int', 'long', int],
    ['a double as float', 'double', { kind: 'float' }],
    ['a string as long', 'string', long],
    ['a decimal of another scale', decimal('bytes', 9, 3), { kind: 'decimal', precision: 9, scale: 2 }],
    ['a decimal with fewer digits', decimal('bytes', 10, 2), { kind: 'decimal', precision: 9, scale: 2 }],
    ['nanoseconds as microseconds', { type: 'long', logicalType: 'timestamp-nanos' }, { kind: 'timestamp' }],
    ['a time as timestamp', { type: 'long', logicalType: 'time-micros' }, { kind: 'timestamp' }],
    ['a union of several', ['null', 'int', 'string'], int],
    ['an array as map', { type: 'array', items: 'int' }, { kind: 'map', key: int, value: int, valueNullable: true }],
  ])('%s is refused with the column and both types', async (_, avro, type) => {
    const bytes = await stored(avro, []);
    expect(() => readAvroRows(bytes, { name: 'f.avro', schema: struct(field(1, 'now', type)) })).toThrow(
      /^f\.avro: column "a" is stored as .* and not read as /,
    );
  });

  it.each<[string, JsonValue, DataType, InputRow[string]]>([
    ['a byte past 8 bits', 'int', { kind: 'byte' }, 128],
    ['a decimal past 128 bits', decimal('bytes', 38, 0), { kind: 'decimal', precision: 38, scale: 0 }, new Uint8Array(17).fill(1)],
    ['a timestamp past 64 bits', { type: 'long', logicalType: 'timestamp-micros' }, { kind: 'timestamp_ns' }, 2n ** 62n],
  ])('%s is corrupt', async (_, avro, type, value) => {
    const bytes = await stored(avro, [value]);
    expect(() => read(bytes, struct(field(1, 'now', type)))).toThrow(expect.objectContaining({ code: 'AVRO_FILE_CORRUPT' }));
  });
});

function decimal(type: 'fixed' | 'bytes', precision: number, scale: number, size?: number): JsonValue {
  return { type, logicalType: 'decimal', precision, scale, ...(size === undefined ? {} : { name: 'd', size }) };
}

describe('files without ids', () => {
  const inner = { type: 'record', name: 'p', fields: [{ name: 'x_old', type: 'int' }] };
  const schema = {
    type: 'record',
    name: 'r',
    fields: [
      { name: 'old', type: 'string' },
      { name: 'points', type: { type: 'array', items: inner } },
    ],
  };
  const records = [{ old: 'v', points: [{ x_old: 4 }] }];
  const points = field(2, 'points', { kind: 'list', element: struct(field(4, 'x', int)), elementNullable: true, elementId: 3 });

  it('are read through the name mapping, level by level', async () => {
    const bytes = await writeAvroFile({ schema, codec: 'null', sync, records });
    const ids = new Map([
      ['old', 1],
      ['points', 2],
      ['points.element.x_old', 4],
    ]);
    const rows = read(bytes, struct(field(1, 'renamed', text), points), { nameToId: (path) => ids.get(path.join('.')) });
    expect(rows).toEqual([{ renamed: 'v', points: [{ x: 4 }] }]);
  });

  it('are read by name when there is no mapping', async () => {
    const bytes = await writeAvroFile({ schema, codec: 'null', sync, records });
    expect(read(bytes, struct(field(1, 'renamed', text), points))).toEqual([{ renamed: null, points: [{ x: null }] }]);
  });
});

describe('writing refuses', () => {
  const uuid: DataType = { kind: 'string', format: 'uuid' };
  it.each<[string, StructType, StructType, InputRow, RegExp]>([
    [
      'a null where none is allowed',
      struct(field(1, 'a', long, false)),
      struct(field(1, 'a', long)),
      { a: null },
      /^column "a": is required/,
    ],
    [
      'a fixed of another size',
      struct(field(1, 'a', { kind: 'binary', fixedLength: 2 })),
      struct(field(1, 'a', { kind: 'binary' })),
      { a: Uint8Array.of(1) },
      /1 bytes instead of 2/,
    ],
    ['text that is no uuid', struct(field(1, 'a', uuid)), struct(field(1, 'a', text)), { a: 'x' }, /"x" is no uuid/],
    [
      'a decimal with too many digits',
      struct(field(1, 'a', { kind: 'decimal', precision: 2, scale: 0 })),
      struct(field(1, 'a', { kind: 'decimal', precision: 9, scale: 0 })),
      { a: '128' },
      /more digits/,
    ],
    ['a column of another type', struct(field(1, 'a', long)), struct(field(1, 'a', int)), { a: 1 }, /holds int.* instead of /],
  ])('%s', async (_, schema, batchSchema, row, message) => {
    const writer = new AvroRowWriter({ schema, sync });
    await expect(writer.append(buildBatch(batchSchema, [row]))).rejects.toThrow(message);
  });
});

it('a broken data file gives a typed error or rows, never anything else', async () => {
  const seed = 88;
  const random = new SeededRandom(seed);
  const rows = Array.from({ length: 20 }, (_, index) => ({ id: BigInt(index), label: 'ä'.repeat(index), st: { a: 1, b: ['x', null] } }));
  const bytes = await write(table, rows, 'null');
  for (let round = 0; round < 2000; round++) {
    const broken = Uint8Array.from(bytes.subarray(0, round % 4 === 0 ? Math.floor(random.next() * bytes.length) : bytes.length));
    const at = Math.floor(random.next() * broken.length);
    broken[at] = (broken[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
    try {
      read(broken, table);
    } catch (error) {
      const code = isServiceError(error) ? error.code : describeError(error);
      expect(code, `seed ${seed} round ${round}`).toMatch(/^AVRO_(FILE_CORRUPT|UNSUPPORTED)$/);
    }
  }
});

it('strings that are valid only together are refused', async () => {
  const schema = JSON.stringify({ type: 'record', name: 'r', fields: [{ name: 'a', type: 'string', 'field-id': 1 }] });
  const writer = new AvroContainerWriter({ schema, codec: 'null', sync });
  for (const byte of [0xc3, 0xa4]) {
    writer.sink.bytes(Uint8Array.of(byte));
    writer.endRow();
  }
  const bytes = await writer.finish();
  expect(() => read(bytes, struct(field(1, 'a', text)))).toThrow(/a string is not valid UTF-8/);
});

function withIds(schema: StructType): StructType {
  let last = 0;
  const typed = (type: DataType): DataType => {
    switch (type.kind) {
      case 'struct':
        return { ...type, fields: type.fields.map((inner) => ({ ...inner, id: ++last, type: typed(inner.type) })) };
      case 'list':
        return { ...type, elementId: ++last, element: typed(type.element) };
      case 'map':
        return { ...type, keyId: ++last, valueId: ++last, key: typed(type.key), value: typed(type.value) };
      default:
        return type;
    }
  };
  return { kind: 'struct', fields: schema.fields.map((inner) => ({ ...inner, id: ++last, type: typed(inner.type) })) };
}

async function writeAvroRows(
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options: WriteAvroRowsOptions,
): Promise<Uint8Array> {
  const writer = new AvroRowWriter(options);
  for await (const batch of batches) await writer.append(batch);
  return await writer.finish();
}

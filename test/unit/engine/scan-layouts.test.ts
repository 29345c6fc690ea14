import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import type { ScanOptions } from '../../../src/engine/engine.ts';
import { scanColumns } from '../../../src/engine/engine.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, Field, StructType } from '../../../src/schema/types.ts';
import { type HiddenColumn, ofFiles } from '../../../src/table/hidden-columns.ts';
import type { FileLayout, FileScan, ScanFile, StoredColumn } from '../../../src/table/scan.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let made: TestEngine;
let fileCount = 0;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

const long: DataType = { kind: 'long' };
const string: DataType = { kind: 'string' };

function struct(types: Readonly<Record<string, DataType>>): StructType {
  return { kind: 'struct', fields: Object.entries(types).map(([name, type], index) => ({ name, type, nullable: true, id: index + 1 })) };
}

/** A Parquet file of the engine's own query; `ids`: FIELD_IDS of the copy. */
async function parquet(sql: string, ids = ''): Promise<ScanFile> {
  fileCount += 1;
  const path = join(made.directory, `file-${fileCount}.parquet`);
  await made.engine.rows(`COPY (${sql}) TO '${path}' (FORMAT parquet${ids === '' ? '' : `, FIELD_IDS {${ids}}`})`);
  return { path, sizeBytes: 0, rowCount: undefined, partitionValues: {} };
}

async function* streamOf(batches: readonly ColumnBatch[]): AsyncGenerator<ColumnBatch> {
  await Promise.resolve();
  yield* batches;
}

/** A file whose rows are given. */
function given(schema: StructType, rows: readonly InputRow[]): ScanFile {
  const batches = rows.map((row) => buildBatch(schema, [row]));
  return {
    path: 'rows.avro',
    sizeBytes: 0,
    rowCount: rows.length,
    partitionValues: {},
    rows: () => streamOf(batches),
  };
}

function byId(field: Field, parts: Partial<StoredColumn> = {}): StoredColumn {
  return { field, match: { by: 'id', id: field.id ?? 0 }, storedType: field.type, ...parts };
}

function byName(field: Field, name: string): StoredColumn {
  return { field, match: { by: 'name', name }, storedType: field.type };
}

function scanOf(schema: StructType, files: readonly ScanFile[], options: Partial<FileScan> = {}): FileScan {
  return {
    schema,
    storedColumns: schema.fields.map((field) => byId(field)),
    partitionColumns: [],
    files,
    statistics: { filesConsidered: files.length, bytesConsidered: 0, filesSelected: files.length, bytesSelected: 0 },
    ...options,
  };
}

async function rowsOf(scan: FileScan, options: ScanOptions = {}, extra: readonly string[] = []): Promise<readonly unknown[]> {
  const relation = await made.engine.scan(scan, options);
  const fields = [...scan.schema.fields, ...extra.map((name): Field => ({ name, type: long, nullable: true }))];
  const rows = await made.rows({ sql: relation.sql, schema: { kind: 'struct', fields } });
  await relation.dispose();
  return rows;
}

describe('files of several shapes', () => {
  const schema = struct({ a: long, s: string });
  const [a, s] = schema.fields as [Field, Field];

  it('are one scan, each read in its own way, indices and positions as of the whole', async () => {
    const first = await parquet('SELECT 1::BIGINT AS x, 10 AS y', 'x: 1');
    const other = await parquet("SELECT unnest([2, 3])::BIGINT AS old_a, 'o' AS old_s");
    const third = await parquet("SELECT 4::INTEGER AS x, 't' AS z", 'x: 1, z: 2');
    const named: FileLayout = { storedColumns: [byName(a, 'old_a'), byName(s, 'old_s')], partitionColumns: [] };
    const files = [
      first,
      { ...other, layout: named },
      third,
      given(schema, [
        { a: 5n, s: 'g' },
        { a: 6n, s: null },
      ]),
    ];
    const found = await rowsOf(scanOf(schema, files), { withPositions: true }, [scanColumns.fileIndex, scanColumns.rowPosition]);
    expect(found.map((row) => Object.values<unknown>(row as Record<string, unknown>)).toSorted()).toEqual([
      [1n, null, 0n, 0n],
      [2n, 'o', 1n, 0n],
      [3n, 'o', 1n, 1n],
      [4n, 't', 2n, 0n],
      [5n, 'g', 3n, 0n],
      [6n, null, 3n, 1n],
    ]);
  });

  it('have deleted rows by their place in the file, partition values and defaults of their own', async () => {
    const bare = await parquet('SELECT unnest([1, 2, 3])::BIGINT AS x', 'x: 1');
    const constant: FileLayout = { storedColumns: [byId(a)], partitionColumns: ['s'] };
    const defaulted: FileLayout = {
      storedColumns: [byId(a), byId(s)],
      partitionColumns: [],
      defaults: new Map([['s', { type: 'string', value: "it's" }]]),
    };
    const files: ScanFile[] = [
      { ...bare, layout: constant, partitionValues: { s: 'p' }, deletedRows: () => Promise.resolve(BigInt64Array.of(1n)) },
      { ...bare, layout: defaulted, deletedRows: () => Promise.resolve(BigInt64Array.of(0n, 2n)) },
      {
        ...given(struct({ a: long }), [{ a: 8n }, { a: 9n }]),
        layout: constant,
        partitionValues: { s: 'q' },
        deletedRows: () => Promise.resolve(BigInt64Array.of(0n)),
      },
    ];
    const found = await rowsOf(scanOf(schema, files));
    expect(found).toHaveLength(4);
    expect(found).toEqual(
      expect.arrayContaining([
        { a: 1n, s: 'p' },
        { a: 3n, s: 'p' },
        { a: 2n, s: "it's" },
        { a: 9n, s: 'q' },
      ]),
    );
  });
});

describe('a default', () => {
  it('stands for a column that a file lacks, not for its nulls', async () => {
    const schema = struct({
      a: long,
      d: { kind: 'date' },
      ts: { kind: 'timestamp' },
      b: { kind: 'binary' },
      n: { kind: 'decimal', precision: 9, scale: 2 },
    });
    const defaults: FileLayout['defaults'] = new Map([
      ['a', { type: 'integer', value: 7n, width: 'long' }],
      ['d', { type: 'date', days: -1 }],
      ['ts', { type: 'timestamp', micros: -1n }],
      ['b', { type: 'binary', value: Uint8Array.of(0, 0xff) }],
      ['n', { type: 'decimal', unscaled: -5n, precision: 9, scale: 2 }],
    ]);
    const without = await parquet('SELECT 0 AS other', 'other: 99');
    const nulls = await parquet('SELECT NULL::BIGINT AS a, NULL::DATE AS d', 'a: 1, d: 2');
    const shown = { d: -1, ts: -1n, b: Uint8Array.of(0, 0xff), n: '-0.05' };
    expect(await rowsOf(scanOf(schema, [without], { defaults }))).toEqual([{ a: 7n, ...shown }]);
    expect(await rowsOf(scanOf(schema, [nulls], { defaults }))).toEqual([{ a: null, ...shown, d: null }]);
  });
});

describe('members that files do not hold', () => {
  const inner = struct({ x: long, y: string });
  const schema = struct({
    st: inner,
    li: { kind: 'list', element: inner, elementNullable: true },
    m: { kind: 'map', key: string, value: inner, valueNullable: true },
  });
  const value = { type: 'string', value: 'dflt' } as const;

  it('are null or their default, whatever the file has under their name', async () => {
    const file = await parquet(
      "SELECT {'old': 1::INTEGER, 'y': 9} AS st, [{'old': 2, 'y': 8}, NULL] AS li, MAP {'k': {'old': 3, 'y': 7}} AS m UNION ALL SELECT NULL, NULL, NULL",
      'st: 1, li: 2, m: 3',
    );
    const stored: StructType = {
      kind: 'struct',
      fields: inner.fields.map((field) => ({ ...field, name: field.name === 'x' ? 'old' : 'y' })),
    };
    const [st, li, m] = schema.fields as [Field, Field, Field];
    const storedColumns = [
      byId(st, { storedType: stored, absent: [{ path: ['y'], value }] }),
      byId(li, {
        storedType: { kind: 'list', element: stored, elementNullable: true },
        absent: [{ path: ['element', 'y'], value: undefined }],
      }),
      byId(m, { storedType: { kind: 'map', key: string, value: stored, valueNullable: true }, absent: [{ path: ['value', 'y'], value }] }),
    ];
    expect(await rowsOf(scanOf(schema, [file], { storedColumns }))).toEqual([
      { st: { x: 1n, y: 'dflt' }, li: [{ x: 2n, y: null }, null], m: new Map([['k', { x: 3n, y: 'dflt' }]]) },
      { st: null, li: null, m: null },
    ]);
  });

  it('leave a struct what it is when it has none of them', async () => {
    const file = await parquet("SELECT {'gone': 1} AS st, [{'gone': 2}, NULL] AS li UNION ALL SELECT NULL, NULL", 'st: 1, li: 2');
    const [st, li] = schema.fields as [Field, Field, Field];
    const storedColumns = [
      byId(st, {
        absent: [
          { path: ['x'], value: undefined },
          { path: ['y'], value },
        ],
      }),
      byId(li, {
        absent: [
          { path: ['element', 'x'], value: undefined },
          { path: ['element', 'y'], value },
        ],
      }),
    ];
    const narrow: StructType = { kind: 'struct', fields: [st, li] };
    expect(await rowsOf(scanOf(narrow, [file], { storedColumns }))).toEqual([
      { st: { x: null, y: 'dflt' }, li: [{ x: null, y: 'dflt' }, null] },
      { st: null, li: null },
    ]);
  });
});

describe('types of other formats', () => {
  it('are read as they are stored: UUIDs with and without their annotation, times, nanoseconds', async () => {
    const uuid = 'f79c3e09-677c-4bbd-a479-3f349cb785e7';
    const schema = struct({
      u: { kind: 'string', format: 'uuid' },
      t: { kind: 'time' },
      n: { kind: 'timestamp_ntz_ns' },
      w: { kind: 'struct', fields: [{ name: 'u', type: { kind: 'string', format: 'uuid' }, nullable: true }] },
    });
    const file = await parquet(
      `SELECT '${uuid}'::UUID AS u, TIME '10:11:12.000001' AS t, make_timestamp_ns(-1) AS n, {'u': '${uuid}'::UUID} AS w`,
      'u: 1, t: 2, n: 3, w: 4',
    );
    expect(await rowsOf(scanOf(schema, [file]))).toEqual([{ u: uuid, t: 36_672_000_001n, n: -1n, w: { u: uuid } }]);
  });

  it('are wider than they were in old files', async () => {
    const schema = struct({
      l: long,
      d: { kind: 'double' },
      n: { kind: 'decimal', precision: 20, scale: 2 },
      ts: { kind: 'timestamp_ntz' },
      ns: { kind: 'timestamp_ns' },
    });
    const file = await parquet(
      "SELECT 1::INTEGER AS l, 1.5::FLOAT AS d, 1.25::DECIMAL(9,2) AS n, DATE '1970-01-02' AS ts, DATE '1970-01-02' AS ns",
      'l: 1, d: 2, n: 3, ts: 4, ns: 5',
    );
    expect(await rowsOf(scanOf(schema, [file]))).toEqual([{ l: 1n, d: 1.5, n: '1.25', ts: 86_400_000_000n, ns: 86_400_000_000_000n }]);
  });
});

it('row tracking is found by field id, in files of any kind', async () => {
  const schema = struct({ a: long });
  const fieldIds = { rowId: 900, commitVersion: 901 };
  const rowTracking = { rowId: '_row_id', commitVersion: '_seq', fieldIds };
  const moved = await parquet(
    'SELECT unnest([1, 2])::BIGINT AS a, unnest([70, NULL])::BIGINT AS r, unnest([NULL, 3])::BIGINT AS q',
    'a: 1, r: 900, q: 901',
  );
  const plain = await parquet('SELECT 3::BIGINT AS a', 'a: 1');
  const rows = given(struct({ a: long, r: long, q: long }), [
    { a: 4n, r: 80n, q: 2n },
    { a: 5n, r: null, q: null },
  ]);
  const numbers = { baseRowId: 10n, defaultRowCommitVersion: 5n };
  const files = [
    { ...moved, ...numbers },
    { ...plain, baseRowId: 20n, defaultRowCommitVersion: 6n },
    { ...rows, baseRowId: 30n, defaultRowCommitVersion: 7n },
    given(schema, [{ a: 6n }]),
  ];
  const found = await rowsOf(scanOf(schema, files, { rowTracking }), { withRowTracking: true }, ['_row_id', '_seq']);
  expect(found.map((row) => Object.values<unknown>(row as Record<string, unknown>)).toSorted()).toEqual([
    [1n, 70n, 5n],
    [2n, 11n, 3n],
    [3n, 20n, 6n],
    [4n, 80n, 2n],
    [5n, 31n, 7n],
    [6n, null, null],
  ]);
});

describe('hidden columns', () => {
  const schema = struct({ a: long });
  const fieldIds = { rowId: 900, commitVersion: 901 };
  const rowTracking = { rowId: '_row_id', commitVersion: '_seq', fieldIds };
  const hiddenField = (name: string, type: DataType): Field => ({ name, type, nullable: true });
  const place: readonly HiddenColumn[] = [
    { field: hiddenField('path', string), value: { kind: 'of-file' } },
    { field: hiddenField('pos', long), value: { kind: 'position' } },
  ];
  const members = place.map(({ field }) => field);
  const hidden: readonly HiddenColumn[] = [
    { field: hiddenField('row', long), value: { kind: 'row-id' } },
    { field: hiddenField('seq', long), value: { kind: 'commit-version' } },
    { field: hiddenField('place', { kind: 'struct', fields: members }), value: { kind: 'struct', members: place } },
    { field: hiddenField('spec', struct({ p: string })), value: { kind: 'of-file' } },
  ];

  async function hiddenRows(scan: FileScan): Promise<readonly unknown[]> {
    const relation = await made.engine.scan(scan);
    expect(relation.schema).toEqual(schema);
    const fields = [...schema.fields, ...(scan.hidden ?? []).map(({ field }) => field)];
    const rows = await made.rows({ sql: `${relation.sql} ORDER BY a`, schema: { kind: 'struct', fields } });
    await relation.dispose();
    return rows.map((row) => fields.map(({ name }) => row[name]));
  }

  it('tell the place of rows in files of any shape, deleted ones counted', async () => {
    const other: FileLayout = { storedColumns: schema.fields.map((field) => byName(field, 'x')), partitionColumns: [] };
    const tracked = struct({ a: long, r: long, q: long });
    const facts = buildBatch(ofFiles(hidden), [{ path: 'one', spec: { p: 'x' } }, { path: 'two' }, { path: 'three', spec: {} }]);
    const files: readonly ScanFile[] = [
      {
        ...(await parquet('SELECT unnest([1, 2, 3])::BIGINT AS a', 'a: 1')),
        baseRowId: 10n,
        defaultRowCommitVersion: 5n,
        deletedRows: () => Promise.resolve(BigInt64Array.of(0n)),
      },
      { ...(await parquet('SELECT 4::BIGINT AS x')), layout: other },
      {
        ...given(tracked, [{ a: 5n, r: 80n, q: null }, { a: 6n }]),
        baseRowId: 30n,
        defaultRowCommitVersion: 7n,
      },
    ];
    expect(await hiddenRows(scanOf(schema, files, { rowTracking, hidden, facts }))).toEqual([
      [2n, 11n, 5n, { path: 'one', pos: 1n }, { p: 'x' }],
      [3n, 12n, 5n, { path: 'one', pos: 2n }, { p: 'x' }],
      [4n, null, null, { path: 'two', pos: 0n }, null],
      [5n, 80n, 7n, { path: 'three', pos: 0n }, { p: null }],
      [6n, 31n, 7n, { path: 'three', pos: 1n }, { p: null }],
    ]);
  });

  it('are null of tracking where a scan has none, and there without files', async () => {
    const file = await parquet('SELECT 1::BIGINT AS a', 'a: 1');
    const facts = buildBatch(ofFiles(hidden), [{ path: 'one' }]);
    expect(await hiddenRows(scanOf(schema, [file], { hidden, facts }))).toEqual([[1n, null, null, { path: 'one', pos: 0n }, null]]);
    expect(await hiddenRows(scanOf(schema, [], { hidden, rowTracking, facts: buildBatch(ofFiles(hidden), []) }))).toEqual([]);
  });

  it('stand behind what else is asked for', async () => {
    const file = { ...(await parquet('SELECT 1::BIGINT AS a', 'a: 1')), baseRowId: 4n, defaultRowCommitVersion: 2n };
    const scan = scanOf(schema, [file], { hidden: hidden.slice(0, 1), rowTracking });
    const relation = await made.engine.scan(scan, { withPositions: true, withRowTracking: true });
    expect(await made.engine.rows(relation.sql)).toEqual([[1n, 0n, 0n, 4n, 2n, 4n]]);
    await relation.dispose();
  });
});

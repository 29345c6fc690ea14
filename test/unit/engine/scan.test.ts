import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanColumns } from '../../../src/engine/engine.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import type { FileScan, ScanFile, StoredColumn } from '../../../src/table/scan.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let made: TestEngine;
let fileCount = 0;
beforeAll(async () => {
  made = await openTestEngine();
  await mkdir(join(made.directory, 'odd [1] *? {x}'), { recursive: true });
});
afterAll(() => made.close());

const long: DataType = { kind: 'long' };
const string: DataType = { kind: 'string' };

function struct(types: Readonly<Record<string, DataType>>): StructType {
  return { kind: 'struct', fields: Object.entries(types).map(([name, type]) => ({ name, type, nullable: true })) };
}

/** A Parquet file of the engine's own query. */
async function parquet(sql: string, name = 'file'): Promise<ScanFile> {
  fileCount += 1;
  const path = join(made.directory, `${name}-${fileCount}.parquet`);
  await made.engine.rows(`COPY (${sql}) TO '${path}' (FORMAT parquet)`);
  return { path, sizeBytes: 0, rowCount: undefined, partitionValues: {} };
}

function scanOf(schema: StructType, files: readonly ScanFile[], options: Partial<FileScan> = {}): FileScan {
  const partitionColumns = options.partitionColumns ?? [];
  const stored = schema.fields
    .filter((field) => !partitionColumns.includes(field.name))
    .map((field): StoredColumn => ({ field, match: { by: 'name', name: field.name }, storedType: field.type }));
  return {
    schema,
    storedColumns: stored,
    partitionColumns,
    files,
    statistics: { filesConsidered: files.length, bytesConsidered: 0, filesSelected: files.length, bytesSelected: 0 },
    ...options,
  };
}

async function rowsOf(scan: FileScan): Promise<readonly unknown[]> {
  const relation = await made.engine.scan(scan);
  const rows = await made.rows(relation);
  await relation.dispose();
  return rows;
}

describe('columns of a scan', () => {
  it("are the table's, in its order: absent ones null, others of a file left out", async () => {
    const file = await parquet('SELECT 1::BIGINT AS b, 2::BIGINT AS extra, 3::BIGINT AS a');
    expect(await rowsOf(scanOf(struct({ a: long, missing: string, b: long }), [file]))).toEqual([{ a: 3n, missing: null, b: 1n }]);
  });

  it('have the types of the table where a file has narrower or older ones', async () => {
    const file = await parquet(
      "SELECT 1::INTEGER AS wide, 1.5::FLOAT AS real, 7::INTEGER AS number, 8::INTEGER AS exact, DATE '2024-02-29' AS day, 1.25::DECIMAL(4,2) AS grown, " +
        "255::UTINYINT AS unsigned, TIMESTAMP '2024-01-01 00:00:00' AS instant, TIMESTAMP_MS '2024-01-01 00:00:00.001' AS millis, " +
        "TIMESTAMP_NS '2024-01-01 00:00:00.000001999' AS nanos",
    );
    const schema = struct({
      wide: long,
      real: { kind: 'double' },
      number: { kind: 'double' },
      exact: { kind: 'decimal', precision: 12, scale: 2 },
      day: { kind: 'timestamp_ntz' },
      grown: { kind: 'decimal', precision: 20, scale: 4 },
      unsigned: { kind: 'short' },
      instant: { kind: 'timestamp' },
      millis: { kind: 'timestamp_ntz' },
      nanos: { kind: 'timestamp_ntz' },
    });
    expect(await rowsOf(scanOf(schema, [file]))).toEqual([
      {
        wide: 1n,
        real: 1.5,
        number: 7,
        exact: '8.00',
        day: 1_709_164_800_000_000n,
        grown: '1.2500',
        unsigned: 255,
        instant: 1_704_067_200_000_000n,
        millis: 1_704_067_200_001_000n,
        nanos: 1_704_067_200_000_001n,
      },
    ]);
  });

  it('are found without regard to case, and may be called as the engine calls its own', async () => {
    const file = await parquet('SELECT 1::BIGINT AS "ID", 2::BIGINT AS file_index, 3::BIGINT AS filename');
    const schema = struct({ id: long, file_index: long, filename: long });
    expect(await rowsOf(scanOf(schema, [file]))).toEqual([{ id: 1n, file_index: 2n, filename: 3n }]);
  });

  it('are renamed at every depth, and null values stay null', async () => {
    const file = await parquet(
      "SELECT * FROM (VALUES (1, {'p1': 1, 'p2': [{'p3': 'x'}, NULL]}, MAP {'k': {'p4': 1::BIGINT}}), (2, NULL, NULL), (3, {'p1': NULL, 'p2': NULL}, MAP {})) AS t(id, s, m)",
    );
    const list = (element: DataType): DataType => ({ kind: 'list', element, elementNullable: true });
    const map = (value: DataType): DataType => ({ kind: 'map', key: string, value, valueNullable: true });
    const schema = struct({
      id: { kind: 'integer' },
      st: struct({ a: long, l: list(struct({ 'b c': string })) }),
      mp: map(struct({ v: long })),
    });
    const stored = [
      { name: 'id', type: { kind: 'integer' } as const },
      { name: 's', type: struct({ p1: { kind: 'integer' }, p2: list(struct({ p3: string })) }) },
      { name: 'm', type: map(struct({ p4: long })) },
    ];
    const storedColumns = schema.fields.map((field, index): StoredColumn => {
      const column = stored[index];
      return { field, match: { by: 'name', name: column?.name ?? '' }, storedType: column?.type ?? field.type };
    });
    expect(await rowsOf(scanOf(schema, [file], { storedColumns }))).toEqual([
      { id: 1, st: { a: 1n, l: [{ 'b c': 'x' }, null] }, mp: new Map([['k', { v: 1n }]]) },
      { id: 2, st: null, mp: null },
      { id: 3, st: { a: null, l: null }, mp: new Map() },
    ]);
  });

  it('of structs that a file lacks members of are null there', async () => {
    const file = await parquet("SELECT {'a': 1} AS s, [{'a': 2}] AS l");
    const member = struct({ a: long, added: string });
    const schema = struct({ s: member, l: { kind: 'list', element: member, elementNullable: true } });
    expect(await rowsOf(scanOf(schema, [file]))).toEqual([{ s: { a: 1n, added: null }, l: [{ a: 2n, added: null }] }]);
  });
});

describe('partition values', () => {
  const schema = struct({
    id: long,
    text: string,
    number: { kind: 'integer' },
    day: { kind: 'date' },
    instant: { kind: 'timestamp' },
    bytes: { kind: 'binary' },
    yes: { kind: 'boolean' },
    money: { kind: 'decimal', precision: 10, scale: 2 },
    real: { kind: 'double' },
  });
  const partitionColumns = schema.fields.slice(1).map((field) => field.name);
  const values = {
    text: "it's",
    number: '-5',
    day: '2024-02-29',
    instant: '2024-02-29 10:00:00.000001',
    bytes: 'ff00',
    yes: 'true',
    money: '1.50',
    real: 'NaN',
  };

  it('are read from their text, not from the file', async () => {
    const file = await parquet("SELECT 1::BIGINT AS id, 'inside' AS text");
    const typed = {
      text: "it's",
      number: -5,
      day: 19_782,
      instant: 1_709_200_800_000_001n,
      bytes: new Uint8Array([255, 0]),
      yes: true,
      money: '1.50',
      real: Number.NaN,
    };
    const nulls = Object.fromEntries(partitionColumns.map((name) => [name, null]));
    const one = { ...file, partitionValues: values };
    const none = { ...file, partitionValues: Object.fromEntries(partitionColumns.map((name) => [name, undefined])) };
    expect(await rowsOf(scanOf(schema, [one], { partitionColumns }))).toEqual([{ id: 1n, ...typed }]);
    const both = await rowsOf(scanOf(schema, [one, none], { partitionColumns }));
    expect(both).toHaveLength(2);
    expect(both).toEqual(
      expect.arrayContaining([
        { id: 1n, ...typed },
        { id: 1n, ...nulls },
      ]),
    );
  });

  it('that are no value of the type are an error', async () => {
    const file = { ...(await parquet('SELECT 1::BIGINT AS id')), partitionValues: { ...values, number: 'five' } };
    await expect(rowsOf(scanOf(schema, [file], { partitionColumns }))).rejects.toMatchObject({ code: 'ENGINE_QUERY_FAILED' });
  });
});

describe('deleted rows and positions', () => {
  it('leave out rows by their place in the file', async () => {
    const schema = struct({ id: long });
    const first = await parquet('SELECT range AS id FROM range(10000)');
    const second = await parquet('SELECT range + 10000 AS id FROM range(10)');
    const deleted = BigInt64Array.from({ length: 9_998 }, (_, index) => BigInt(index + 1));
    const files = [{ ...first, deletedRows: () => Promise.resolve(deleted) }, second];
    const left = [0n, 9_999n, ...Array.from({ length: 10 }, (_, index) => BigInt(10_000 + index))];
    const rows = await rowsOf(scanOf(schema, files));
    expect(new Set(rows.map((row) => (row as { id: bigint }).id))).toEqual(new Set(left));

    const all = await made.engine.scan(scanOf(schema, files), { withDeletedRows: true });
    expect(await made.engine.rows(`SELECT count(*) FROM (${all.sql})`)).toEqual([[10_010n]]);
    const placed = await made.engine.scan(scanOf(schema, files), { withPositions: true });
    expect(
      await made.engine.rows(
        `SELECT id, ${scanColumns.fileIndex}, ${scanColumns.rowPosition} FROM (${placed.sql}) WHERE id IN (0, 9999, 10003) ORDER BY id`,
      ),
    ).toEqual([
      [0n, 0n, 0n],
      [9_999n, 0n, 9_999n],
      [10_003n, 1n, 3n],
    ]);
    await Promise.all([all.dispose(), placed.dispose()]);
  });
});

describe('files of a scan', () => {
  it('may be none', async () => {
    expect(await rowsOf(scanOf(struct({ a: long, s: struct({ b: string }) }), []))).toEqual([]);
  });

  it('may have characters in their names that mean something in patterns', async () => {
    const file = await parquet('SELECT 1::BIGINT AS a', 'odd [1] *? {x}/p=a%20b');
    await parquet('SELECT 2::BIGINT AS a', 'odd [1] *? {x}/p=a%20c');
    expect(await rowsOf(scanOf(struct({ a: long }), [file]))).toEqual([{ a: 1n }]);
    expect(
      await rowsOf(
        scanOf(struct({ a: long }), [
          { ...file, path: new URL(`file://${encodeURI(file.path).replaceAll('?', '%3F').replaceAll('#', '%23')}`).href },
        ]),
      ),
    ).toEqual([{ a: 1n }]);
    await rm(file.path);
    await expect(rowsOf(scanOf(struct({ a: long }), [file]))).rejects.toMatchObject({ code: 'ENGINE_FILE_MISSING', kind: 'not-found' });
  });

  it('that are gone or damaged are told apart', async () => {
    const schema = struct({ a: long });
    const gone = { ...(await parquet('SELECT 1::BIGINT AS a')), path: join(made.directory, 'gone.parquet') };
    await expect(rowsOf(scanOf(schema, [gone]))).rejects.toMatchObject({ code: 'ENGINE_FILE_MISSING', kind: 'not-found' });
    const damaged = { ...gone, path: join(made.directory, 'damaged.parquet') };
    await writeFile(damaged.path, 'no parquet at all, but long enough to have a footer');
    await expect(rowsOf(scanOf(schema, [damaged]))).rejects.toMatchObject({ code: 'ENGINE_FILE_CORRUPT', kind: 'corrupt' });
    await writeFile(damaged.path, '');
    await expect(rowsOf(scanOf(schema, [damaged]))).rejects.toMatchObject({ code: 'ENGINE_FILE_CORRUPT', kind: 'corrupt' });
    const text = await parquet("SELECT 'no number' AS a");
    await expect(rowsOf(scanOf(schema, [text]))).rejects.toMatchObject({ code: 'ENGINE_FILE_CORRUPT', kind: 'corrupt' });
    const remote = { ...gone, path: 's3://bucket/file.parquet' };
    await expect(rowsOf(scanOf(schema, [remote]))).rejects.toMatchObject({ code: 'ENGINE_NEEDS_LOCAL_FILES', kind: 'unsupported' });
  });

  it('are read in part where a filter and their statistics allow', async () => {
    const file = await parquet('SELECT range AS a FROM range(500000)');
    const relation = await made.engine.scan(
      scanOf(struct({ a: long, p: long }), [{ ...file, partitionValues: { p: '7' } }], { partitionColumns: ['p'] }),
    );
    const plan = await made.engine.explain({
      sql: `SELECT count(*) FROM (${relation.sql}) WHERE a = 5 AND p = 7`,
      schema: struct({ n: long }),
    });
    expect(plan.replaceAll(/\s+/g, '')).toContain('Filters:c0=5');
    await relation.dispose();
  });
});

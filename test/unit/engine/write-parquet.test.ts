import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParquetTarget, WrittenFile } from '../../../src/engine/engine.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import type { Relation } from '../../../src/table/relation.ts';
import { scanOf } from '../../support/engine-scans.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let made: TestEngine;
let directories = 0;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

function struct(types: Readonly<Record<string, DataType>>): StructType {
  return { kind: 'struct', fields: Object.entries(types).map(([name, type]) => ({ name, type, nullable: true })) };
}

const long: DataType = { kind: 'long' };
const double: DataType = { kind: 'double' };
const string: DataType = { kind: 'string' };

function freshDirectory(): string {
  directories += 1;
  return join(made.directory, `written-${directories}`);
}

function write(rows: Relation, target: Partial<ParquetTarget> & { readonly directory: string }): Promise<readonly WrittenFile[]> {
  return made.engine.writeParquet(rows, {
    pathOf: ({ index }) => `part-${index}.parquet`,
    partitionBy: [],
    compression: 'zstd',
    ...target,
  });
}

describe('statistics of written files', () => {
  it('are exact bounds in the types of the columns, and null counts', async () => {
    const schema = struct({
      long,
      decimal: { kind: 'decimal', precision: 20, scale: 2 },
      float: { kind: 'float' },
      string,
      binary: { kind: 'binary' },
      boolean: { kind: 'boolean' },
      date: { kind: 'date' },
      timestamp: { kind: 'timestamp' },
      timestamp_ntz: { kind: 'timestamp_ntz' },
      struct: struct({ a: long, b: struct({ c: string }) }),
      list: { kind: 'list', element: long, elementNullable: true },
      map: { kind: 'map', key: string, value: long, valueNullable: true },
      nothing: long,
    });
    const rows = await made.hold(schema, [
      {
        long: -(2n ** 63n),
        decimal: '-999999999999999999.99',
        float: 0.1,
        string: 'é',
        binary: new Uint8Array([1]),
        boolean: true,
        date: -719_162,
        timestamp: -1n,
        timestamp_ntz: 1_000_000n,
        struct: { a: 1n, b: { c: 'x' } },
        list: [],
        map: new Map(),
      },
      { long: 5n, decimal: '0.01', float: 0.5, string: '', date: 5, timestamp: 1n, timestamp_ntz: 2n, struct: { a: null, b: null } },
      {},
    ]);
    const [file] = await write(rows, { directory: freshDirectory() });
    expect(file?.rowCount).toBe(3);
    expect(file?.statistics).toEqual([
      { path: ['long'], nullCount: 1, min: -(2n ** 63n), max: 5n },
      { path: ['decimal'], nullCount: 1, min: -99_999_999_999_999_999_999n, max: 1n },
      { path: ['float'], nullCount: 1, min: Math.fround(0.1), max: 0.5 },
      { path: ['string'], nullCount: 1, min: '', max: 'é' },
      { path: ['binary'], nullCount: 2 },
      { path: ['boolean'], nullCount: 2 },
      { path: ['date'], nullCount: 1, min: -719_162n, max: 5n },
      { path: ['timestamp'], nullCount: 1, min: -1n, max: 1n },
      { path: ['timestamp_ntz'], nullCount: 1, min: 2n, max: 1_000_000n },
      { path: ['struct', 'a'], nullCount: 2, min: 1n, max: 1n },
      { path: ['struct', 'b', 'c'], nullCount: 2, min: 'x', max: 'x' },
      { path: ['list'], nullCount: 2 },
      { path: ['map'], nullCount: 2 },
      { path: ['nothing'], nullCount: 3 },
    ]);
  });

  it('have no bounds where a NaN takes part, in whatever row group it stands', async () => {
    // The engine tells of a NaN in the last row group only, so that one in an earlier group got bounds that were none.
    const rows: Relation = {
      sql: "SELECT CASE WHEN range = 5 THEN 'NaN'::DOUBLE ELSE 1.0 END AS early, CASE WHEN range = 299999 THEN 'NaN'::DOUBLE ELSE 1.0 END AS late, range::DOUBLE AS none FROM range(300000)",
      schema: struct({ early: double, late: double, none: double }),
    };
    const [file] = await write(rows, { directory: freshDirectory() });
    expect(file?.statistics).toEqual([
      { path: ['early'], nullCount: 0 },
      { path: ['late'], nullCount: 0 },
      { path: ['none'], nullCount: 0, min: 0, max: 299_999 },
    ]);
  });

  it('keep their bounds when a whole row group is null', async () => {
    const rows: Relation = {
      sql: 'SELECT CASE WHEN range >= 200000 THEN range END AS n, CASE WHEN range < 10 THEN range::VARCHAR END AS s FROM range(300000)',
      schema: struct({ n: long, s: string }),
    };
    const [file] = await write(rows, { directory: freshDirectory() });
    expect(file?.statistics).toEqual([
      { path: ['n'], nullCount: 200_000, min: 200_000n, max: 299_999n },
      { path: ['s'], nullCount: 299_990, min: '0', max: '9' },
    ]);
  });

  it('of long text begin with the true bounds', async () => {
    const rows = await made.hold(struct({ ascii: string, accented: string }), [{ ascii: 'z'.repeat(5_000), accented: 'é'.repeat(2_000) }]);
    const [file] = await write(rows, { directory: freshDirectory() });
    const [ascii, accented] = file?.statistics ?? [];
    expect(String(ascii?.min).slice(0, 200)).toBe('z'.repeat(200));
    expect(String(ascii?.max).slice(0, 200)).toBe('z'.repeat(200));
    expect(String(ascii?.max) >= 'z'.repeat(250)).toBe(true);
    expect(accented?.min).toBe('é'.repeat(2_000));
  });
});

describe('partitions', () => {
  const awkward = ['a/b=c', '', '__HIVE_DEFAULT_PARTITION__', 'ü %20', '["x",null]', "it's", '..', 'x'.repeat(400), null];

  it('come out by value, whatever it is, with a file for each', async () => {
    const schema = struct({ id: long, p: string, q: { kind: 'timestamp' } });
    const rows = await made.hold(
      schema,
      awkward.flatMap((p, index) => [
        { id: BigInt(index), p, q: 1_500_000n },
        { id: BigInt(index + 100), p, q: null },
      ]),
    );
    const directory = freshDirectory();
    const files = await write(rows, { directory, partitionBy: ['p', 'q'], pathOf: ({ index }) => `d${index}/f.parquet` });
    expect(new Set(files.map((file) => JSON.stringify(file.partitionValues)))).toEqual(
      new Set(
        awkward.flatMap((p) => [JSON.stringify([p ?? undefined, '1970-01-01 00:00:01.5']), JSON.stringify([p ?? undefined, undefined])]),
      ),
    );
    const scan = await made.engine.scan(scanOf(schema, directory, files, ['p', 'q']));
    const read = await made.rows(scan);
    const byId = (left: { readonly [name: string]: unknown }, right: { readonly [name: string]: unknown }): number =>
      Number(left['id']) - Number(right['id']);
    expect(read.toSorted(byId)).toEqual((await made.rows(rows)).toSorted(byId));
    await scan.dispose();
  });

  it('are not written into the files unless they are kept', async () => {
    const rows = await made.hold(struct({ id: long, p: long }), [{ id: 1n, p: 7n }]);
    const columns = async (keepPartitionColumns: boolean): Promise<readonly unknown[]> => {
      const directory = freshDirectory();
      const [file] = await write(rows, { directory, partitionBy: ['p'], keepPartitionColumns });
      const found = await made.engine.rows(`SELECT name FROM parquet_schema('${join(directory, file?.path ?? '')}') OFFSET 1`);
      return found.flat();
    };
    expect(await columns(false)).toEqual(['id']);
    expect(await columns(true)).toEqual(['id', 'p']);
  });

  it('without a row get no file', async () => {
    const rows = await made.hold(struct({ id: long, p: long }), []);
    expect(await write(rows, { directory: freshDirectory(), partitionBy: ['p'] })).toEqual([]);
    expect(await write(rows, { directory: freshDirectory() })).toEqual([]);
  });

  it('of an empty text and of null stay apart', async () => {
    const rows = await made.hold(struct({ id: long, p: string }), [
      { id: 1n, p: '' },
      { id: 2n, p: null },
    ]);
    const files = await write(rows, { directory: freshDirectory(), partitionBy: ['p'] });
    expect(files.map((file) => file.partitionValues).toSorted()).toEqual([[''], [undefined]]);
  });
});

describe('files', () => {
  const many: Relation = {
    sql: 'SELECT range AS id, hash(range)::VARCHAR AS text FROM range(400000)',
    schema: struct({ id: long, text: string }),
  };

  it('are closed at about the target size', async () => {
    const files = await write(many, { directory: freshDirectory(), targetFileBytes: 2_000_000 });
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(file.sizeBytes).toBeLessThan(3_000_000);
    expect(files.reduce((sum, file) => sum + file.rowCount, 0)).toBe(400_000);
  });

  it('of a partition are divided at about the target size', async () => {
    const rows: Relation = { sql: `SELECT *, id % 2 AS p FROM (${many.sql})`, schema: struct({ id: long, text: string, p: long }) };
    const files = await write(rows, { directory: freshDirectory(), partitionBy: ['p'], targetFileBytes: 1_000_000 });
    expect(files.length).toBeGreaterThan(2);
    expect(new Set(files.map((file) => file.partitionValues[0]))).toEqual(new Set(['0', '1']));
    expect(files.reduce((sum, file) => sum + file.rowCount, 0)).toBe(400_000);
  });

  it('keep the order of a sorted relation', async () => {
    const directory = freshDirectory();
    const [file] = await write({ ...many, sql: `${many.sql} ORDER BY text` }, { directory });
    const disorder = await made.engine.rows(
      `SELECT count(*) FROM (SELECT text < lag(text) OVER (ORDER BY file_row_number) AS bad FROM read_parquet('${join(directory, file?.path ?? '')}')) WHERE bad`,
    );
    expect(disorder).toEqual([[0n]]);
  });

  it('have the stored names and field ids, at every depth', async () => {
    const directory = freshDirectory();
    const list = (element: DataType, elementId?: number): DataType => ({ kind: 'list', element, elementNullable: true, elementId });
    const schema = struct({ id: long, s: struct({ a: long, l: list(struct({ b: string })) }) });
    const stored: StructType = {
      kind: 'struct',
      fields: [
        { name: 'col-1', id: 1, type: long, nullable: true },
        {
          name: 'col-2',
          id: 2,
          nullable: true,
          type: {
            kind: 'struct',
            fields: [
              { name: 'col-3', id: 3, type: long, nullable: true },
              {
                name: 'col-4',
                id: 4,
                nullable: true,
                type: list({ kind: 'struct', fields: [{ name: 'col-6', id: 6, type: string, nullable: true }] }, 5),
              },
            ],
          },
        },
      ],
    };
    const rows = await made.hold(schema, [
      { id: 1n, s: { a: 2n, l: [{ b: 'x' }, null] } },
      { id: 2n, s: null },
    ]);
    const [file] = await write(rows, { directory, storedSchema: stored });
    const footer = await made.engine.rows(
      `SELECT name, field_id FROM parquet_schema('${join(directory, file?.path ?? '')}') WHERE field_id IS NOT NULL ORDER BY field_id`,
    );
    expect(footer).toEqual([
      ['col-1', 1n],
      ['col-2', 2n],
      ['col-3', 3n],
      ['col-4', 4n],
      ['element', 5n],
      ['col-6', 6n],
    ]);
    expect(file?.statistics.map((entry) => entry.path.join('.'))).toEqual(['col-1', 'col-2.col-3', 'col-2.col-4']);
    const scan = await made.engine.scan({
      ...scanOf(schema, directory, file === undefined ? [] : [file]),
      storedColumns: schema.fields.map((field, index) => ({
        field,
        match: { by: 'id', id: index + 1 },
        storedType: stored.fields[index]?.type ?? field.type,
      })),
    });
    expect(await made.rows(scan)).toEqual(await made.rows(rows));
    await scan.dispose();
  });

  it('and everything else are gone when the write fails or is aborted', async () => {
    const failing = freshDirectory();
    const bad: Relation = {
      sql: `SELECT id, CASE WHEN id = 399999 THEN error('boom') ELSE text END AS text FROM (${many.sql})`,
      schema: many.schema,
    };
    await expect(write(bad, { directory: failing })).rejects.toMatchObject({ code: 'ENGINE_QUERY_FAILED' });
    expect(await readdir(failing)).toEqual([]);

    const aborted = freshDirectory();
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 50);
    const endless: Relation = { sql: 'SELECT range AS id FROM range(100000000000)', schema: struct({ id: long }) };
    const target: ParquetTarget = { directory: aborted, pathOf: () => 'x.parquet', partitionBy: [], compression: 'snappy' };
    await expect(made.engine.writeParquet(endless, target, controller.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await readdir(aborted)).toEqual([]);

    const stray = freshDirectory();
    await mkdir(stray);
    await writeFile(join(stray, 'mine'), '');
    await expect(write(many, { directory: stray, pathOf: () => '../x.parquet' })).rejects.toMatchObject({ kind: 'internal' });
    expect(await readdir(stray)).toEqual(['mine']);
  });
});

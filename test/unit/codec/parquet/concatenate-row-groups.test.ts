import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { buildBatch, type InputRow } from '../../../../src/codec/build-columns.ts';
import { RowGroupConcatenation } from '../../../../src/codec/parquet/concatenate-row-groups.ts';
import { type FooterBytes, parquetMark } from '../../../../src/codec/parquet/footer.ts';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { parseThriftStruct, printThriftStruct, type ThriftField } from '../../../../src/codec/parquet/thrift-compact.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { StructType } from '../../../../src/schema/types.ts';

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'text', type: { kind: 'string' }, nullable: true },
    { name: 'ratio', type: { kind: 'double' }, nullable: true },
    { name: 'tags', type: { kind: 'list', element: { kind: 'string' }, elementNullable: true }, nullable: true },
    { name: 'inner', type: { kind: 'struct', fields: [{ name: 'n', type: { kind: 'integer' }, nullable: true }] }, nullable: true },
  ],
};

function footerOf(file: Uint8Array): FooterBytes {
  const length = Buffer.from(file).readUInt32LE(file.length - 8);
  const start = file.length - 8 - length;
  return { bytes: file.subarray(start, start + length), start };
}

/** The file with another footer. */
function withFooter(file: Uint8Array, change: (fields: readonly ThriftField[]) => readonly ThriftField[]): Uint8Array {
  const { bytes, start } = footerOf(file);
  const footer = printThriftStruct({ kind: 'struct', fields: change(parseThriftStruct(bytes).fields) });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([file.subarray(0, start), footer, length, Buffer.from('PAR1')]);
}

/** The file of the files' row groups, or why there is none. */
function concatenated(files: readonly Uint8Array[]): Uint8Array | string {
  const whole = new RowGroupConcatenation();
  const parts: Uint8Array[] = [parquetMark];
  for (const file of files) {
    const added = whole.add(footerOf(file));
    if (added.kind === 'refused') return added.reason;
    parts.push(...added.ranges.map((range) => file.subarray(range.from, range.until)));
  }
  return Buffer.concat([...parts, whole.finish()]);
}

function bytesOf(result: Uint8Array | string): Uint8Array {
  if (typeof result === 'string') throw new TypeError(`refused: ${result}`);
  return result;
}

function rowsFrom(first: number, count: number): readonly InputRow[] {
  const random = new SeededRandom(first);
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(first + index),
    text: index % 7 === 0 ? null : `text ${Math.floor(random.next() * 50)}`,
    ratio: index % 5 === 0 ? null : random.next(),
    tags: index % 3 === 0 ? [] : ['a', null, `t${index % 11}`],
    inner: index % 4 === 0 ? null : { n: index },
  }));
}

describe('files out of the row groups of others', () => {
  let folder = '';
  let query: (sql: string) => Promise<Record<string, unknown>[]>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'row-groups-'));
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    query = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** A file that DuckDB writes. */
  async function duckFile(sql: string, options = ''): Promise<Uint8Array> {
    const path = join(folder, `${crypto.randomUUID()}.parquet`);
    await query(`COPY (${sql}) TO '${path}' (FORMAT parquet${options})`);
    return readFile(path);
  }

  async function stored(file: Uint8Array): Promise<string> {
    const path = join(folder, `${crypto.randomUUID()}.parquet`);
    await writeFile(path, file);
    return path;
  }

  it('have all rows in order, for both readers, whatever the codec of each', async () => {
    const parts = [rowsFrom(0, 3000), rowsFrom(3000, 1), rowsFrom(3001, 5000)];
    const codecs = ['zstd', 'snappy', 'uncompressed'] as const;
    const files = await Promise.all(
      parts.map((rows, index) => writeParquet([buildBatch(schema, rows)], { compression: codecs[index] ?? 'zstd' })),
    );
    const whole = bytesOf(concatenated(files));
    const expected = rowsOf([buildBatch(schema, parts.flat())]);
    expect(rowsOf((await readParquet(whole, { schema })).batches)).toEqual(expected);
    const path = await stored(whole);
    const seen = `SELECT count(*)::INT AS n, bool_and(id = file_row_number) AS ordered, sum(ratio) AS ratios, sum(len(tags))::INT AS tags, sum("inner".n)::INT AS ns FROM `;
    const [own] = await query(`${seen} read_parquet('${path}', file_row_number=true)`);
    const paths = await Promise.all(files.map(stored));
    const [separate] = await query(
      `${seen.replace('id = file_row_number', 'true')} read_parquet(${JSON.stringify(paths).replaceAll('"', "'")})`,
    );
    expect(own).toEqual({ ...separate, ratios: expect.closeTo(Number(separate?.['ratios']), 6) as unknown, ordered: true });
    const groups = await query(`SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${path}') ORDER BY 1`);
    expect(groups.map((group) => Number(group['row_group_num_rows']))).toEqual([3000, 1, 5000]);
  });

  it('keep several row groups of a file, their statistics, and dictionary pages', async () => {
    const select = (from: number): string => `SELECT i AS id, 'v' || (i % 9) AS s, i / 3 AS d FROM range(${from}, ${from + 10_000}) t(i)`;
    const files = [
      await duckFile(select(0), ', ROW_GROUP_SIZE 2048'),
      await duckFile(select(10_000), ', ROW_GROUP_SIZE 4096, COMPRESSION zstd'),
    ];
    const path = await stored(bytesOf(concatenated(files)));
    const [seen] = await query(
      `SELECT count(*)::INT AS n, bool_and(id = file_row_number AND s = 'v' || (id % 9)) AS same FROM read_parquet('${path}', file_row_number=true)`,
    );
    expect(seen).toEqual({ n: 20_000, same: true });
    const bounds = await query(
      `SELECT stats_min_value AS a, stats_max_value AS b FROM parquet_metadata('${path}') WHERE path_in_schema = 'id'`,
    );
    expect(bounds.at(0)).toEqual({ a: '0', b: '2047' });
    expect(bounds.at(-1)?.['b']).toBe('19999');
    const [skipped] = await query(`SELECT count(*)::INT AS n FROM read_parquet('${path}') WHERE id BETWEEN 9990 AND 10009`);
    expect(skipped).toEqual({ n: 20 });
  });

  it('can be taken together again, and may be all there is to one without rows', async () => {
    const files = await Promise.all(
      [rowsFrom(0, 10), [], rowsFrom(10, 10)].map((rows) => writeParquet([buildBatch(schema, rows)], { compression: 'zstd' })),
    );
    const once = bytesOf(concatenated(files));
    const twice = bytesOf(concatenated([once, ...files]));
    expect((await readParquet(twice, { columns: ['id'] })).batches.reduce((sum, batch) => sum + batch.rowCount, 0)).toBe(40);
  });

  it('refuse other schemas, other writers and other key-value pairs', async () => {
    const ours = await writeParquet([buildBatch(schema, rowsFrom(0, 10))], { compression: 'zstd' });
    const id = await duckFile('SELECT i AS id FROM range(10) t(i)');
    const differ = 'schema, writer or key-value pairs differ';
    expect(concatenated([id, await duckFile('SELECT i AS other FROM range(10) t(i)')])).toBe(differ);
    expect(concatenated([id, await duckFile('SELECT i::INTEGER AS id FROM range(10) t(i)')])).toBe(differ);
    expect(concatenated([id, await duckFile('SELECT i AS id FROM range(10) t(i)', ", KV_METADATA {calendar: 'old'}")])).toBe(differ);
    expect(concatenated([ours, id])).toBe(differ);
    const otherWriter = withFooter(id, (fields) =>
      fields.map((field) => (field.id === 6 ? { ...field, value: Buffer.from('other') } : field)),
    );
    expect(concatenated([id, otherWriter])).toBe(differ);
    expect(typeof concatenated([otherWriter, otherWriter])).toBe('object');
  });

  it('leave Bloom filters and page indexes behind, with all that points at them', async () => {
    const file = await duckFile("SELECT 'k' || (i % 50) AS k FROM range(10000) t(i)", ', WRITE_BLOOM_FILTER true');
    const [before] = await query(`SELECT bloom_filter_offset AS at FROM parquet_metadata('${await stored(file)}')`);
    expect(before?.['at']).not.toBeNull();
    const path = await stored(bytesOf(concatenated([file, file])));
    const after = await query(`SELECT DISTINCT bloom_filter_offset AS at, bloom_filter_length AS length FROM parquet_metadata('${path}')`);
    expect(after).toEqual([{ at: null, length: null }]);
    const [found] = await query(`SELECT count(*)::INT AS n FROM read_parquet('${path}') WHERE k = 'k7'`);
    expect(found).toEqual({ n: 400 });
  });

  it('refuse what is encrypted, and row counts that contradict each other', async () => {
    const file = await duckFile('SELECT i AS id FROM range(10) t(i)');
    const encrypted = withFooter(file, (fields) => [...fields, { id: 8, type: 12, value: { kind: 'struct', fields: [] } }]);
    expect(concatenated([encrypted])).toBe('the file is encrypted or signed');
    const other = withFooter(file, (fields) => fields.map((field) => (field.id === 3 ? { ...field, value: 11n } : field)));
    expect(concatenated([other])).toBe('the row groups have other rows than the file');
  });

  it('are never made of bytes outside the data, whatever a damaged footer says', async () => {
    const file = await duckFile("SELECT i AS id, 'x' || i AS s FROM range(1000) t(i)");
    const { bytes, start } = footerOf(file);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const damaged = Uint8Array.from(bytes);
        for (const [at, value] of changes) damaged[at] = value;
        const added = new RowGroupConcatenation().add({ bytes: damaged, start });
        if (added.kind === 'refused') return;
        for (const range of added.ranges) {
          expect(range.from).toBeGreaterThanOrEqual(4);
          expect(range.until).toBeGreaterThan(range.from);
          expect(range.until).toBeLessThanOrEqual(start);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { buildBatch, type InputRow } from '../../../../src/codec/build-columns.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';
import type { StructType } from '../../../../src/schema/types.ts';

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false, id: 1 },
    { name: 'small', type: { kind: 'byte' }, nullable: true },
    { name: 'status', type: { kind: 'string' }, nullable: true },
    { name: 'unique', type: { kind: 'string' }, nullable: true },
    { name: 'amount', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
    { name: 'wide', type: { kind: 'decimal', precision: 38, scale: 3 }, nullable: true },
    { name: 'at', type: { kind: 'timestamp' }, nullable: true },
    { name: 'local', type: { kind: 'timestamp_ntz' }, nullable: true },
    { name: 'day', type: { kind: 'date' }, nullable: true },
    { name: 'ok', type: { kind: 'boolean' }, nullable: true },
    { name: 'ratio', type: { kind: 'double' }, nullable: true },
    { name: 'raw', type: { kind: 'binary' }, nullable: true },
    {
      name: 'mixed',
      type: {
        kind: 'struct',
        fields: [
          { name: 'n', type: { kind: 'integer' }, nullable: true },
          { name: 't', type: { kind: 'string' }, nullable: true },
        ],
      },
      nullable: true,
    },
    { name: 'tags', type: { kind: 'list', element: { kind: 'string' }, elementNullable: true }, nullable: true },
    { name: 'props', type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: true }, nullable: true },
  ],
};

const rowCount = 5000;

function orderRow(index: number, random: SeededRandom): InputRow {
  if (index % 97 === 5) return { id: index };
  return {
    id: BigInt(index) + 2n ** 53n,
    small: (index % 256) - 128,
    status: ['paid', 'sent', 'back'][index % 3],
    unique: `row ${Math.floor(random.next() * 1e9)}`,
    amount: (index / 100).toFixed(2),
    wide: `-${index}1234567890123456789.125`,
    at: BigInt(index) * 1_000_001n - 5_000_000n,
    local: BigInt(index),
    day: index - 2500,
    ok: index % 2 === 0,
    ratio: index / 8,
    raw: Uint8Array.of(index % 256, 0),
    mixed: index % 7 === 0 ? null : { n: index, t: `t${index % 10}` },
    tags: index % 5 === 0 ? [] : ['a', null, `x${index % 3}`],
    props: { k: index, none: null },
  };
}

describe.each(['zstd', 'snappy'] as const)('a %s file in the eyes of DuckDB', (compression) => {
  let folder = '';
  let query: (sql: string) => Promise<Record<string, unknown>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parquet-'));
    const random = new SeededRandom(11);
    const batch = buildBatch(
      schema,
      Array.from({ length: rowCount }, (_, index) => orderRow(index, random)),
    );
    const path = join(folder, 'file.parquet');
    await writeFile(path, await writeParquet([batch], { compression }));
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    await connection.run("set timezone = 'UTC'");
    query = async (sql) => (await connection.runAndReadAll(sql.replaceAll('FILE', `'${path}'`))).getRowObjectsJson()[0] ?? {};
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has every value', async () => {
    expect(
      await query(`select count(*) as c, sum(id)::varchar as ids, sum(small)::varchar as small, count(distinct "unique") as u,
        sum(amount)::varchar as amount, max(wide)::varchar as wide, min("at")::varchar as first, max("local")::varchar as last,
        min(day)::varchar as day, count(*) filter (ok) as ok, sum(ratio) as ratio, sum(octet_length(raw))::varchar as raw,
        sum(mixed.n)::varchar as n, count(mixed.t) as t, sum(len(tags))::varchar as tags, sum(props['k'])::varchar as k from FILE`),
    ).toEqual(expectedAggregates());
    expect(
      await query(
        `select id::varchar as id, status, amount::varchar as amount, mixed, tags, cardinality(props) as props from FILE where ratio = 1`,
      ),
    ).toEqual({
      id: (2n ** 53n + 8n).toString(),
      status: 'back',
      amount: '0.08',
      mixed: { n: 8, t: 't8' },
      tags: ['a', null, 'x2'],
      props: '2',
    });
  });

  it('has required fields, field ids and standard names', async () => {
    expect(await query(`select repetition_type, field_id::integer as field_id from parquet_schema(FILE) where name = 'id'`)).toEqual({
      repetition_type: 'REQUIRED',
      field_id: 1,
    });
    const names = await query(`select list(name) as names from parquet_schema(FILE)`);
    expect(names['names']).toEqual(expect.arrayContaining(['list', 'element', 'key_value', 'key', 'value']));
  });

  it('has statistics per column chunk, and dictionaries only where values repeat', async () => {
    expect(await query(`select stats_min_value, stats_max_value from parquet_metadata(FILE) where path_in_schema = 'status'`)).toEqual({
      stats_min_value: 'back',
      stats_max_value: 'sent',
    });
    const encodings = async (column: string): Promise<unknown> =>
      (await query(`select encodings from parquet_metadata(FILE) where path_in_schema = '${column}'`))['encodings'];
    expect(await encodings('status')).toContain('RLE_DICTIONARY');
    expect(await encodings('unique')).not.toContain('RLE_DICTIONARY');
    expect(await encodings('id')).toContain('DELTA_BINARY_PACKED');
  });
});

function expectedAggregates(): Record<string, unknown> {
  const random = new SeededRandom(11);
  const rows = Array.from({ length: rowCount }, (_, index) => ({ index, row: orderRow(index, random) }));
  const full = rows.filter(({ row }) => row['status'] !== undefined);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const indices = full.map(({ index }) => index);
  const inStruct = indices.filter((index) => index % 7 !== 0);
  return {
    c: rowCount.toString(),
    ids: rows.reduce((total, { row }) => total + BigInt(row['id'] as bigint | number), 0n).toString(),
    small: sum(indices.map((index) => (index % 256) - 128)).toString(),
    u: new Set(full.map(({ row }) => row['unique'])).size.toString(),
    amount: (sum(indices) / 100).toFixed(2),
    wide: '-01234567890123456789.125'.replace('-0', '-'),
    first: '1969-12-31 23:59:55+00',
    last: '1970-01-01 00:00:00.004999',
    day: new Date(-2500 * 86_400_000).toISOString().slice(0, 10),
    ok: indices.filter((index) => index % 2 === 0).length.toString(),
    ratio: sum(indices) / 8,
    raw: (2 * full.length).toString(),
    n: sum(inStruct).toString(),
    t: inStruct.length.toString(),
    tags: (3 * indices.filter((index) => index % 5 !== 0).length).toString(),
    k: sum(indices).toString(),
  };
}

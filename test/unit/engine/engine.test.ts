import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

const opened: TestEngine[] = [];
async function open(options: { readonly memoryLimitBytes?: number } = {}): Promise<TestEngine> {
  const made = await openTestEngine(options);
  opened.push(made);
  return made;
}
afterEach(async () => {
  for (const made of opened.splice(0)) await made.close();
});

function struct(types: Readonly<Record<string, DataType>>): StructType {
  return { kind: 'struct', fields: Object.entries(types).map(([name, type]) => ({ name, type, nullable: true })) };
}
const long: DataType = { kind: 'long' };

describe('reading', () => {
  it('gives batches in the order of the query, while later rows are still to come', async () => {
    const { engine } = await open();
    const endless = { sql: 'SELECT range AS id FROM range(100000000000)', schema: struct({ id: long }) };
    let next = 0n;
    for await (const batch of engine.read(endless)) {
      expect(batch.rowCount).toBeLessThanOrEqual(2_048);
      const [column] = batch.columns;
      expect(column?.layout === 'fixed' ? column.values[0] : undefined).toBe(next);
      next += BigInt(batch.rowCount);
      if (next > 10_000n) break;
    }
    // The connection of the reader that stopped is no longer executing.
    expect(await engine.rows('SELECT 1')).toEqual([[1]]);
  });

  it('is aborted between batches and within one', async () => {
    const { engine } = await open();
    const controller = new AbortController();
    const read = async (): Promise<void> => {
      for await (const batch of engine.read(
        { sql: 'SELECT range AS id FROM range(100000000000)', schema: struct({ id: long }) },
        controller.signal,
      )) {
        if (batch.rowCount > 0) controller.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'ABORTED' });
    const slow = new AbortController();
    setTimeout(() => {
      slow.abort();
    }, 50);
    const busy = engine.rows('SELECT count(*) FROM range(100000000000) AS t(i) WHERE hash(i) % 7 = i % 5', slow.signal);
    await expect(busy).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(engine.rows('SELECT 1', slow.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('casts what the engine computes in types of its own to those the relation declares', async () => {
    const { engine } = await open();
    const sql =
      "SELECT sum(range) AS s, 200::UTINYINT AS u, uuid() IS NOT NULL AS b, 'a'::ENUM('a', 'b') AS e, [1::UBIGINT] AS l FROM range(3)";
    const schema = await engine.describe(sql);
    expect(schema.fields.map((field) => field.type.kind)).toEqual(['decimal', 'short', 'boolean', 'string', 'list']);
    const made = opened[0];
    expect(await made?.rows({ sql, schema })).toEqual([{ s: '3', u: 200, b: true, e: 'a', l: ['1'] }]);
  });

  it('refuses types that tables do not have, by name', async () => {
    const { engine } = await open();
    await expect(engine.describe("SELECT TIMETZ '10:00:00+01' AS t")).rejects.toMatchObject({
      code: 'ENGINE_TYPE_UNSUPPORTED',
      kind: 'unsupported',
    });
    await expect(engine.describe('SELECT INTERVAL 1 DAY AS i')).rejects.toThrow(/"i" has type INTERVAL/u);
  });

  it('handles lists and strings that share, reorder or skip values', async () => {
    const made = await open();
    const sql =
      'SELECT l, s FROM (SELECT [i, i + 1] AS l, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat(chr(97 + (i % 26)::INTEGER), (i % 40)::INTEGER) END AS s, i FROM range(5000) AS t(i)) WHERE i % 7 = 0 ORDER BY hash(i)';
    const schema = struct({ l: { kind: 'list', element: long, elementNullable: true }, s: { kind: 'string' } });
    const rows = await made.rows({ sql, schema });
    const expected = Array.from({ length: 5_000 }, (_, index) => index)
      .filter((index) => index % 7 === 0)
      .map((index) => ({
        l: [BigInt(index), BigInt(index + 1)],
        s: index % 3 === 0 ? null : String.fromCharCode(97 + (index % 26)).repeat(index % 40),
      }));
    const byFirst = (left: unknown, right: unknown): number => JSON.stringify(left, printed).localeCompare(JSON.stringify(right, printed));
    expect(rows.toSorted(byFirst)).toEqual(expected.toSorted(byFirst));
  });
});

function printed(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString().padStart(6, '0') : value;
}

describe('held rows', () => {
  it('are kept until disposed of, and gone afterwards', async () => {
    const made = await open();
    const held = await made.engine.materialize({ sql: 'SELECT range AS id FROM range(3)', schema: struct({ id: long }) });
    expect(await made.rows(held)).toEqual([{ id: 0n }, { id: 1n }, { id: 2n }]);
    await held.dispose();
    await held.dispose();
    await expect(made.rows(held)).rejects.toMatchObject({ code: 'ENGINE_QUERY_INVALID' });
  });

  it('may come in batches of any size, and sliced', async () => {
    const made = await open();
    const schema = struct({ id: long });
    const batches = async function* (): AsyncGenerator<ColumnBatch> {
      for (const size of [0, 1, 5_000, 2_048]) {
        await Promise.resolve();
        yield buildBatch(
          schema,
          Array.from({ length: size }, (_, index) => ({ id: BigInt(index) })),
        );
      }
    };
    const held = await made.engine.hold(schema, batches());
    expect(await made.engine.rows(`SELECT count(*), sum(id)::BIGINT FROM (${held.sql})`)).toEqual([[7_049n, 12_497_500n + 2_096_128n]]);
  });

  it('leave nothing behind when their source fails', async () => {
    const made = await open();
    const failing = async function* (): AsyncGenerator<ColumnBatch> {
      yield buildBatch(struct({ id: long }), [{ id: 1n }]);
      await Promise.resolve();
      throw new RangeError('no more');
    };
    await expect(made.engine.hold(struct({ id: long }), failing())).rejects.toThrow('no more');
    expect(await made.engine.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'held'")).toEqual([[0n]]);
  });

  it('of more than the memory limit spill to the disk', async () => {
    const made = await open({ memoryLimitBytes: 128 * 2 ** 20 });
    const rows = {
      sql: "SELECT range AS id, hash(range) % 1000003 AS k, repeat('x', 100) || range AS pad FROM range(2000000)",
      schema: struct({ id: long }),
    };
    const held = await made.engine.materialize({ ...rows, sql: `${rows.sql} ORDER BY k` });
    expect(await made.engine.rows(`SELECT count(*), count(DISTINCT id) FROM (${held.sql})`)).toEqual([[2_000_000n, 2_000_000n]]);
    await held.dispose();
  }, 60_000);
});

describe('the engine', () => {
  it('reaches nothing outside and lets no setting be changed', async () => {
    const { engine } = await open();
    await expect(engine.rows('INSTALL httpfs')).rejects.toMatchObject({ name: 'ServiceError' });
    await expect(engine.rows("SET memory_limit = '1TB'")).rejects.toThrow(/locked/u);
    expect(await engine.rows("SELECT current_setting('TimeZone')")).toEqual([['UTC']]);
    expect(await engine.rows("SELECT CAST(TIMESTAMPTZ '2024-01-01 00:00:00' AS VARCHAR)")).toEqual([['2024-01-01 00:00:00+00']]);
  });

  it('tells a value that cannot be computed from a query that makes no sense', async () => {
    const { engine } = await open();
    await expect(engine.rows("SELECT 'x'::INTEGER")).rejects.toMatchObject({ code: 'ENGINE_QUERY_FAILED', kind: 'invalid' });
    await expect(engine.rows('SELECT nope')).rejects.toMatchObject({ code: 'ENGINE_QUERY_INVALID', kind: 'invalid' });
  });

  it('reports memory that does not suffice as such', async () => {
    const { engine } = await open({ memoryLimitBytes: 64 * 2 ** 20 });
    const big = engine.rows('SELECT length(list(repeat(range::VARCHAR, 1000))::VARCHAR) FROM range(400000)');
    await expect(big).rejects.toMatchObject({ code: 'ENGINE_OUT_OF_MEMORY', kind: 'unavailable', retryable: true });
    expect(await engine.rows('SELECT 1')).toEqual([[1]]);
  });

  it('removes its spill directory when it closes, and refuses to work afterwards', async () => {
    const made = await openTestEngine();
    expect(await readdir(join(made.directory, 'spill'))).toHaveLength(1);
    await made.engine.close();
    await made.engine.close();
    expect(await readdir(join(made.directory, 'spill'))).toEqual([]);
    await expect(made.engine.rows('SELECT 1')).rejects.toMatchObject({ code: 'ENGINE_CLOSED' });
    await made.close();
  });
});

import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import type { Engine } from '../../../../src/engine/engine.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';
import { watchedEngine } from '../../../support/watched-engine.ts';

/** Several of the engine's portions of 2,048, for each partition. */
const rowsOfFile = 8_000;
const feed = { 'delta.enableChangeDataFeed': 'true' };
const cases: readonly {
  readonly operation: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Files are written so many times; the operation is broken off at each of them. */
  readonly writes: number;
  readonly run: (tables: LocalTables, table: DeltaTable, signal: AbortSignal) => Promise<unknown>;
}[] = [
  {
    operation: 'UPDATE',
    properties: feed,
    writes: 2,
    run: (_, table, signal) =>
      table.operations.update({
        condition: parseExpression('id % 2 = 0'),
        assignments: [{ target: ['v'], value: parseExpression("'w'") }],
        signal,
      }),
  },
  {
    operation: 'DELETE',
    properties: feed,
    writes: 2,
    run: (_, table, signal) => table.operations.delete({ condition: parseExpression('id % 2 = 0'), signal }),
  },
  {
    operation: 'MERGE with deletion vectors',
    properties: { ...feed, 'delta.enableDeletionVectors': 'true' },
    writes: 3,
    run: async (tables, table, signal) =>
      table.operations.merge({
        source: await tables.query(`SELECT CAST(i * 2 AS BIGINT) AS id, 'm' AS v, 'a' AS p FROM range(${2 * rowsOfFile}) t(i)`),
        targetAlias: 't',
        sourceAlias: 's',
        condition: parseExpression('t.id = s.id'),
        clauses: [
          { on: 'matched', action: 'update', assignments: 'all' },
          { on: 'not-matched', action: 'insert', values: 'all' },
        ],
        signal,
      }),
  },
  {
    operation: 'a partial overwrite',
    properties: feed,
    writes: 3,
    run: async (tables, table, signal) =>
      table.operations.write({
        rows: await tables.query("SELECT CAST(4 AS BIGINT) AS id, 'n' AS v, 'a' AS p"),
        mode: { kind: 'overwrite', replaceWhere: parseExpression('id % 2 = 0') },
        signal,
      }),
  },
  {
    operation: 'OPTIMIZE',
    properties: { 'delta.enableRowTracking': 'true' },
    writes: 3,
    run: (_, table, signal) => table.operations.optimize({ signal }),
  },
  {
    operation: 'OPTIMIZE with Z-order',
    properties: {},
    writes: 3,
    run: (_, table, signal) => table.operations.optimize({ zOrderBy: ['id'], signal }),
  },
];

describe('a rewrite that is broken off', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const dataFiles = async (name: string): Promise<readonly string[]> =>
    (await readdir(tables.path(name), { recursive: true })).filter((path) => /\.(parquet|bin)$/.test(path)).sort();

  it.each(cases.flatMap((given) => Array.from({ length: given.writes }, (_, index) => ({ ...given, at: index + 1 }))))(
    '$operation leaves nothing behind, broken off before, in and after its write $at',
    async ({ operation, properties, at, run }) => {
      const name = `${operation} ${at}`;
      const table = await tables.create(name, 'id BIGINT, v STRING, p STRING', { partitionBy: ['p'], properties });
      for (const from of [0, rowsOfFile]) {
        const p = "CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END";
        await tables.append(table, `SELECT i AS id, 'v' || i AS v, ${p} AS p FROM range(${from}, ${from + rowsOfFile}) t(i)`);
      }
      const text = async (): Promise<string> => (await tables.rows(table)).join('\n');
      const [before, rows] = [await dataFiles(name), await text()];
      const broken = async (watch: (abort: AbortController) => Parameters<typeof watchedEngine>[1]): Promise<void> => {
        const abort = new AbortController();
        const engine: Engine = watchedEngine(tables.engine, watch(abort));
        await expect(run(tables, await tables.open(name, undefined, engine), abort.signal)).rejects.toMatchObject({ kind: 'aborted' });
        expect(await dataFiles(name)).toEqual(before);
        expect((await table.refresh()).version).toBe(2);
        expect((await text()) === rows).toBe(true);
      };
      const once =
        (act: () => void) =>
        (number: number): void => {
          if (number === at) act();
        };
      await broken((abort) => ({ writing: once(abort.abort.bind(abort)) }));
      await broken((abort) => ({ writing: once(queueMicrotask.bind(undefined, abort.abort.bind(abort))) }));
      await broken((abort) => ({ written: once(abort.abort.bind(abort)) }));
      await run(tables, await tables.open(name), new AbortController().signal);
      expect((await table.refresh()).version).toBe(3);
    },
  );
});

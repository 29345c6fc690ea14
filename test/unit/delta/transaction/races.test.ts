import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const run = promisify(execFile);
const support = fileURLToPath(new URL('../../../support/', import.meta.url));
let tables: LocalTables;

beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(async () => {
  await tables.close();
});

interface Race {
  readonly done: number;
  readonly lost: number;
}

/** Another process that works on the table. */
async function racer(table: DeltaTable, what: 'append' | 'increment', writer: number, count: number): Promise<Race> {
  const args = [`--import=${support}run-typescript.mjs`, `${support}racing-writer.ts`, table.location, what, String(writer), String(count)];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_NO_WARNINGS: '1' } });
  const result: unknown = JSON.parse(stdout);
  return result as Race;
}

describe('processes that write one table at once', () => {
  it('append without losing or doubling a row, and without ever failing', async () => {
    const table = await tables.create('appended', 'writer INT, n INT');
    const races = await Promise.all([racer(table, 'append', 1, 50), racer(table, 'append', 2, 50)]);
    expect(races).toEqual([
      { done: 50, lost: 0 },
      { done: 50, lost: 0 },
    ]);
    const expected = [1, 2].flatMap((writer) => Array.from({ length: 50 }, (_, n) => `{"writer":${writer},"n":${n}}`));
    expect((await tables.rows(table)).toSorted()).toEqual(expected.toSorted());
    expect((await table.refresh()).version).toBe(100);
  }, 300_000);

  it('update the same row one after the other, and never fail an append', async () => {
    const table = await tables.create('updated', 'writer INT, n INT');
    await tables.append(table, 'SELECT 0 AS writer, 0 AS n');
    const [first, second, appended] = await Promise.all([
      racer(table, 'increment', 11, 6),
      racer(table, 'increment', 12, 6),
      racer(table, 'append', 3, 10),
    ]);
    expect(appended).toEqual({ done: 10, lost: 0 });
    expect([first.done, second.done]).toEqual([6, 6]);
    const rows = await tables.rows(table);
    expect(rows.filter((row) => row.startsWith('{"writer":0,'))).toEqual(['{"writer":0,"n":12}']);
    expect(rows).toHaveLength(11);
    expect((await table.refresh()).version).toBe(23);
  }, 300_000);
});

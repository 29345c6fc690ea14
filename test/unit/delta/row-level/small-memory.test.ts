import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const rowCount = 400_000;
const timeoutMs = 180_000;

// The rows take several times the memory that the engine has: what does not fit goes to disk.
describe('with little memory for the engine', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open({ memoryLimitBytes: 96 << 20 });
  });

  afterAll(async () => {
    await tables.close();
  });

  const filled = async (name: string, properties: Readonly<Record<string, string>>): Promise<DeltaTable> => {
    const table = await tables.create(name, 'id BIGINT, v STRING', { properties });
    const v =
      'md5(CAST(i AS VARCHAR)) || md5(CAST(i + 1 AS VARCHAR)) || md5(CAST(i + 2 AS VARCHAR)) || md5(CAST(i + 3 AS VARCHAR)) || md5(CAST(i + 4 AS VARCHAR)) || md5(CAST(i + 5 AS VARCHAR))';
    await tables.append(table, `SELECT i AS id, ${v} AS v FROM range(${rowCount}) t(i)`);
    return table;
  };
  const sums = async (table: DeltaTable): Promise<readonly unknown[]> => {
    const scan = await tables.engine.scan(await table.scan(await table.refresh()));
    try {
      const [row = []] = await tables.engine.rows(
        `SELECT count(*), count(DISTINCT id), CAST(sum(id) AS BIGINT), count(*) FILTER (length(v) < 100) FROM (${scan.sql})`,
      );
      return row.map(Number);
    } finally {
      await scan.dispose();
    }
  };

  it.each([
    ['rewritten files', {}],
    ['deletion vectors', { 'delta.enableDeletionVectors': 'true', 'delta.enableRowTracking': 'true' }],
  ])(
    'a MERGE of as many rows as the table has works, by %s',
    async (label, properties) => {
      const table = await filled(`merge ${label}`, properties);
      const half = rowCount / 2;
      const result = await table.operations.merge({
        source: await tables.query(
          `SELECT CAST(i AS BIGINT) AS id, 'm' || md5(CAST(i AS VARCHAR)) AS v FROM range(${half}, ${half + rowCount}) t(i)`,
        ),
        targetAlias: 't',
        sourceAlias: 's',
        condition: parseExpression('t.id = s.id'),
        clauses: [
          { on: 'matched', action: 'update', assignments: 'all' },
          { on: 'not-matched', action: 'insert', values: 'all' },
        ],
      });
      expect(result).toMatchObject({ updatedRows: BigInt(half), insertedRows: BigInt(half) });
      const count = rowCount + half;
      expect(await sums(table)).toEqual([count, count, (count * (count - 1)) / 2, rowCount]);
    },
    timeoutMs,
  );

  it(
    'an UPDATE of every row works',
    async () => {
      const table = await filled('update', { 'delta.enableRowTracking': 'true' });
      await table.operations.update({ assignments: [{ target: ['v'], value: parseExpression("concat('u', substring(v, 1, 10))") }] });
      expect(await sums(table)).toEqual([rowCount, rowCount, (rowCount * (rowCount - 1)) / 2, rowCount]);
    },
    timeoutMs,
  );
});

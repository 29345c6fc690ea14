import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GoldenTables, objectsOf } from '../support/golden-tables.ts';
import { trackedRows } from '../support/tracked-rows.ts';

describe('row ids of tables of Spark', () => {
  let golden: GoldenTables;

  beforeAll(async () => {
    golden = await GoldenTables.unpack('fixtures-delta');
  });

  afterAll(async () => {
    await golden.close();
  });

  it('are those that Spark reads, for rows that were moved and rows that were not', async () => {
    const name = 'delta/row-tracking';
    const rows = await trackedRows(golden.engine, await golden.open(name));
    expect([...rows].map(([id, row]) => [Number(id), row.value, Number(row.rowId), Number(row.commitVersion)])).toEqual(
      objectsOf(golden.expectation(name)['rowIds']).map((row) => [row['id'], row['v'], row['row_id'], row['row_commit_version']]),
    );
    expect(rows.size).toBe(3);
  });
});

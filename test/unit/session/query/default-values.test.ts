import { expect, it } from 'vitest';
import { temporarySession } from '../../../support/temporary-session.ts';

it('takes the word DEFAULT in the rows of an INSERT for the default of its column, and for null where there is none', async () => {
  await using bench = await temporarySession();
  const { session } = bench;
  await session.sql(
    "CREATE TABLE t (id INT, v STRING DEFAULT 'x', n INT) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
  );
  await session.sql("INSERT INTO t VALUES (1, DEFAULT, default), (2, 'given', 2)");
  await session.sql('INSERT INTO t (v, id) VALUES (DEFAULT, 3)');
  expect(await session.table('t').orderBy('id').collect()).toEqual([
    { id: 1, v: 'x', n: null },
    { id: 2, v: 'given', n: 2 },
    { id: 3, v: 'x', n: null },
  ]);
});

it('takes the word DEFAULT for a name anywhere else', async () => {
  await using bench = await temporarySession();
  await bench.session.sql(
    "CREATE TABLE t (v STRING DEFAULT 'x') USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
  );
  await expect(bench.session.sql('INSERT INTO t SELECT * FROM VALUES (DEFAULT)')).rejects.toMatchObject({
    errorClass: 'UNRESOLVED_COLUMN.WITHOUT_SUGGESTION',
  });
});

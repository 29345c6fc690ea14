import { describe, expect, it } from 'vitest';
import { DeltaTable, expr } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Values of structs by way of builders and DataFrames; SQL's are among the restated cases. */

describe('a struct', () => {
  const bench = deltaBench();

  it('that UPDATE or MERGE by builders give must have every member of its column and no other', async () => {
    const { session, path } = bench();
    const rows = await session.sql("SELECT 1 AS id, named_struct('a', 1, 'b', 2) AS x");
    await rows.write.format('delta').save(path('built'));
    const table = await DeltaTable.forPath(session, path('built'));
    const lacking = expr("named_struct('a', 5)");
    const mismatch = { errorClass: 'DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION', sqlState: '42846' };
    expect(await refusalOf(table.update({ set: { x: lacking } }))).toMatchObject(mismatch);
    const given = await session.sql("SELECT 1 AS id, named_struct('a', 5, 'c', 6) AS x");
    const source = given.alias('s');
    const merge = table.alias('t').merge(source, 't.id = s.id');
    expect(await refusalOf(merge.whenMatchedUpdateAll().execute())).toMatchObject(mismatch);
    expect(await refusalOf(merge.whenMatchedUpdate({ set: { x: 's.x' } }).execute())).toMatchObject(mismatch);
    await merge.withSchemaEvolution().whenMatchedUpdateAll().execute();
    expect(await table.toDF().collect()).toEqual([{ id: 1, x: { a: 5, b: 2, c: 6 } }]);
  });

  it('that a DataFrame appends goes by name and may lack members', async () => {
    const { session, path } = bench();
    const rows = await session.sql("SELECT 1 AS id, named_struct('a', 1, 'b', 2) AS x");
    await rows.write.format('delta').save(path('appended'));
    const append = async (text: string) => (await session.sql(text)).write.format('delta').mode('append').save(path('appended'));
    await append("SELECT 2 AS id, named_struct('b', 3, 'a', 4) AS x");
    await append("SELECT 3 AS id, named_struct('b', 5) AS x");
    expect(await session.read.format('delta').load(path('appended')).orderBy('id').collect()).toEqual([
      { id: 1, x: { a: 1, b: 2 } },
      { id: 2, x: { a: 4, b: 3 } },
      { id: 3, x: { a: null, b: 5 } },
    ]);
  });
});

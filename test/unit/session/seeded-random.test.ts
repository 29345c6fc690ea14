import { describe, expect, it } from 'vitest';
import { expr } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

describe('rand and randn with a seed', () => {
  it('give each row the number that Spark gives it in a table of one partition', async () => {
    await using made = await temporarySession();
    const rows = await (await made.session.sql('SELECT id, rand(0) AS u, randn(0) AS n, rand(NULL) AS z FROM range(0, 3, 1, 1)')).collect();
    expect(rows[0]).toEqual({ id: 0n, u: 0.7604953758285915, n: 1.6034991609278433, z: 0.7604953758285915 });
    expect(new Set(rows.map(({ u }) => u)).size).toBe(3);
  });

  it('are the same each time, in the whole input of a query, whatever is left out above and how it is called', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t USING delta AS SELECT id FROM range(10000)');
    const numbered = session.table('t').withColumn('r', expr('rand(5)'));
    const all = new Map((await numbered.collect()).map((row) => [row['id'], row['r']]));
    expect(all.size).toBe(10_000);
    const later = await (await session.sql('SELECT * FROM (SELECT id, rand(5) AS r FROM t) WHERE id >= 9000')).collect();
    expect(later.map((row) => [row['id'], row['r']])).toEqual(later.map((row) => [row['id'], all.get(row['id'])]));
    const kept = await session.table('t').where('rand(5) < 0.01').collect();
    expect(kept.map(({ id }) => id)).toEqual([...all].flatMap(([id, r]) => (Number(r) < 0.01 ? [id] : [])));
    expect((await session.table('t').orderBy(expr('rand(5)')).limit(1).collect())[0]?.['id']).toBe(
      [...all].toSorted((a, b) => Number(a[1]) - Number(b[1]))[0]?.[0],
    );
  });

  it.each([
    ['SELECT rand(id) FROM range(3)', 'SEED_EXPRESSION_IS_UNFOLDABLE'],
    ['SELECT * FROM range(2) a JOIN range(2) b ON rand(5) < 0.5', 'UNSUPPORTED_FEATURE'],
    ['SELECT * FROM VALUES (rand(5))', 'UNSUPPORTED_FEATURE'],
    ['UPDATE t SET v = rand(5)', 'UNSUPPORTED_FUNCTION'],
  ])('are refused where rows have no place: %s', async (text, errorClass) => {
    await using made = await temporarySession();
    await made.session.sql('CREATE TABLE t (v DOUBLE) USING delta');
    await expect(made.session.sql(text).then((frame) => frame.collect())).rejects.toMatchObject({ errorClass });
  });
});

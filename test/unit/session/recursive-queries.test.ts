import { describe, expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

const growing = 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)';

describe('queries that WITH names', () => {
  it('are computed once, however often they mention one another', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const doubled = Array.from(
      { length: 30 },
      (_, index) => `c${index + 1} AS (SELECT a.x FROM c${index} a JOIN c${index} b ON a.x = b.x)`,
    );
    const text = `WITH c0 AS (SELECT 1 AS x), ${doubled.join(', ')} SELECT * FROM c30`;
    const began = Date.now();
    expect(await (await session.sql(text)).collect()).toEqual([{ x: 1 }]);
    const [row] = await (await session.sql(`EXPLAIN EXTENDED ${text}`)).collect();
    const shown = row?.['plan'] as string;
    expect(shown.length).toBeLessThan(1_000_000);
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  it('make rows of their own rows within the levels and rows that settings allow', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await expect((await session.sql(`${growing} SELECT * FROM t`)).collect()).rejects.toMatchObject({
      errorClass: 'RECURSION_LEVEL_LIMIT_EXCEEDED',
      sqlState: '42836',
    });
    session.conf.set('spark.sql.cteRecursionLevelLimit', -1);
    expect(await (await session.sql(`${growing} SELECT * FROM t LIMIT 500`)).count()).toBe(500);
    session.conf.set('spark.sql.cteRecursionRowLimit', 1_000);
    const doubling = 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t, range(2)) SELECT count(*) FROM t';
    await expect((await session.sql(doubling)).collect()).rejects.toMatchObject({ errorClass: 'RECURSION_ROW_LIMIT_EXCEEDED' });
    session.conf.set('spark.sql.cteRecursionLevelLimit', 'many');
    await expect(session.sql(`${growing} SELECT * FROM t`)).rejects.toMatchObject({ errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH' });
  });

  it('read tables, and are read by statements that write', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE staff (id INT, boss INT) USING delta');
    await session.sql('INSERT INTO staff VALUES (1, NULL), (2, 1), (3, 2), (4, 9)');
    await session.sql('CREATE TABLE depths (id INT, depth INT) USING delta');
    await session.sql(
      `INSERT INTO depths WITH RECURSIVE t AS (SELECT id, 0 AS depth FROM staff WHERE boss IS NULL
       UNION ALL SELECT s.id, t.depth + 1 FROM staff s JOIN t ON s.boss = t.id) SELECT * FROM t`,
    );
    expect(await session.table('depths').orderBy('id').collect()).toEqual([
      { id: 1, depth: 0 },
      { id: 2, depth: 1 },
      { id: 3, depth: 2 },
    ]);
    await session.sql(
      'CREATE TEMPORARY VIEW v AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    );
    expect(await session.table('v').count()).toBe(3);
    await session.sql(
      'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2) MERGE INTO depths USING t ON id = n WHEN MATCHED THEN DELETE',
    );
    expect(await session.table('depths').count()).toBe(1);
  });
});

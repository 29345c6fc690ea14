import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { col } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

describe('statements beside the everyday ones', () => {
  it('INSERT WITH SCHEMA EVOLUTION adds the columns that the table lacks', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    await session.sql('INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 1 AS id, "x" AS v');
    expect(await session.table('t').collect()).toEqual([{ id: 1, v: 'x' }]);
  });

  it('CREATE TABLE LIKE takes columns, partitions, comment and properties, and no rows', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql(
      "CREATE TABLE a (id INT NOT NULL COMMENT 'key', p STRING) USING delta PARTITIONED BY (p) COMMENT 'all' TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'k' = 'v')",
    );
    await session.sql("INSERT INTO a VALUES (1, 'x')");
    await session.sql("CREATE TABLE b LIKE a TBLPROPERTIES ('k' = 'w')");
    const [detail] = await (await session.sql('DESCRIBE DETAIL b')).collect();
    expect(detail).toMatchObject({ description: 'all', partitionColumns: ['p'] });
    expect(await session.table('b').count()).toBe(0);
    await session.sql("INSERT INTO b VALUES (2, 'y')");
    expect(await session.table('b').collect()).toEqual([{ id: 2, p: 'y' }]);
    const properties = await (await session.sql('SHOW TBLPROPERTIES b')).collect();
    expect(properties).toContainEqual({ key: 'k', value: 'w' });
    await session.sql('CREATE TABLE IF NOT EXISTS b LIKE a');
    await expect(session.sql('CREATE TABLE b LIKE a')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await expect(session.sql('CREATE TABLE c LIKE a PARTITIONED BY (id)')).rejects.toMatchObject({ errorClass: 'PARSE_SYNTAX_ERROR' });
  });

  it('ALTER TABLE RENAME TO gives a table with a location another name and refuses one in the warehouse', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    await session.sql(`CREATE TABLE a (id INT) USING delta LOCATION '${join(directory, 'elsewhere')}'`);
    await session.sql('INSERT INTO a VALUES (1)');
    await session.sql('ALTER TABLE a RENAME TO b');
    expect(await session.table('b').collect()).toEqual([{ id: 1 }]);
    await expect(session.table('a').collect()).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await session.sql('CREATE TABLE m (id INT) USING delta');
    await expect(session.sql('ALTER TABLE m RENAME TO n')).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    await expect(session.sql('ALTER TABLE b RENAME TO m')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await expect(session.sql('ALTER TABLE none RENAME TO x')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('each ? is the one it is in the statement, also in queries inside of it', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE u (id INT, g INT) USING iceberg');
    await session.sql('INSERT INTO u VALUES (1, 7), (2, 8), (3, 9)');
    await session.sql('CREATE TABLE p (id INT, g INT) USING delta PARTITIONED BY (g)');
    await session.sql('INSERT INTO p PARTITION (g = ?) SELECT id FROM u WHERE g = ?', [5, 9]);
    expect(await session.table('p').collect()).toEqual([{ id: 3, g: 5 }]);
    await session.sql('INSERT INTO IDENTIFIER(?) REPLACE WHERE g = ? SELECT id, ? AS g FROM IDENTIFIER(?) WHERE g = ?', [
      'p',
      5,
      5,
      'u',
      8,
    ]);
    expect(await session.table('p').collect()).toEqual([{ id: 2, g: 5 }]);
    await session.sql(
      'UPDATE u SET g = ?, id = (SELECT max(id) FROM p WHERE g < ?) + ? WHERE g = ? AND id IN (SELECT id FROM u WHERE g = ?)',
      [1, 6, 10, 7, 7],
    );
    await session.sql(
      'WITH c AS (SELECT * FROM u WHERE g = ?) DELETE FROM u WHERE id = ? AND g IN (SELECT g FROM c WHERE g > ?)',
      [9, 3, 8],
    );
    expect(await session.table('u').orderBy('id').collect()).toEqual([
      { id: 2, g: 8 },
      { id: 12, g: 1 },
    ]);
    const lacking = session.sql('INSERT INTO p PARTITION (g = ?) SELECT id FROM u WHERE g = ?', [5]);
    await expect(lacking).rejects.toMatchObject({ errorClass: 'UNBOUND_SQL_PARAMETER' });
  });

  it.each([
    'CACHE TABLE t',
    "CACHE LAZY TABLE t OPTIONS ('storageLevel' 'DISK_ONLY')",
    'UNCACHE TABLE t',
    'UNCACHE TABLE IF EXISTS none',
    'CLEAR CACHE',
  ])('%s keeps nothing, and says so', async (text) => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    const [row] = await (await session.sql(text)).collect();
    expect(row?.['result']).toMatch(/^nothing is cached/u);
  });

  it('CACHE TABLE with a query makes a temporary view, which follows its table', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    await session.sql('CACHE TABLE v AS SELECT id + 1 AS next FROM t');
    await session.sql('INSERT INTO t VALUES (1)');
    expect(await (await session.sql('SELECT * FROM v')).collect()).toEqual([{ next: 2 }]);
    await expect(session.sql('CACHE TABLE v SELECT 1')).rejects.toMatchObject({ errorClass: 'TEMP_TABLE_OR_VIEW_ALREADY_EXISTS' });
    await expect(session.sql('CACHE TABLE none')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await expect(session.sql('UNCACHE TABLE none')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('global temporary views have a namespace of their own', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1 AS one');
    await session.sql('CREATE TEMPORARY VIEW v AS SELECT 2 AS two');
    session.range(3).createGlobalTempView('w');
    expect(await (await session.sql('SELECT * FROM GLOBAL_TEMP.v, v')).collect()).toEqual([{ one: 1, two: 2 }]);
    expect(await session.table('global_temp.w').count()).toBe(3);
    expect(await (await session.sql('SHOW VIEWS IN global_temp')).collect()).toEqual([
      { namespace: 'global_temp', viewName: 'v', isTemporary: true },
      { namespace: '', viewName: 'v', isTemporary: true },
      { namespace: 'global_temp', viewName: 'w', isTemporary: true },
    ]);
    expect(await (await session.sql("SHOW TABLES IN global_temp LIKE 'w'")).collect()).toEqual([
      { namespace: 'global_temp', tableName: 'w', isTemporary: true },
    ]);
    expect(await (await session.sql('SHOW VIEWS')).collect()).toEqual([{ namespace: '', viewName: 'v', isTemporary: true }]);
    const again = session.sql('CREATE GLOBAL TEMP VIEW V AS SELECT 1');
    await expect(again).rejects.toMatchObject({ errorClass: 'TEMP_TABLE_OR_VIEW_ALREADY_EXISTS' });
    expect(() => {
      session.range(1).createGlobalTempView('w');
    }).toThrow(/global_temp/u);
    await session.sql('CREATE OR REPLACE GLOBAL TEMPORARY VIEW v AS SELECT 3 AS three');
    await session.sql('DROP VIEW global_temp.v');
    await expect(session.sql('SELECT * FROM global_temp.v')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    expect([session.dropGlobalTempView('W'), session.dropGlobalTempView('w')]).toEqual([true, false]);
  });

  it('SHOW PARTITIONS shows those that have the values given', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT, p INT, q STRING) USING delta PARTITIONED BY (p, q)');
    await session.sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a')");
    expect(await (await session.sql("SHOW PARTITIONS t PARTITION (p = 1, q = 'b')")).collect()).toEqual([{ p: 1, q: 'b' }]);
    expect(await (await session.sql('SHOW PARTITIONS t PARTITION (P = 1)')).count()).toBe(2);
    const none = { errorClass: 'DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN' };
    await expect(session.sql('SHOW PARTITIONS t PARTITION (id = 1)')).rejects.toMatchObject(none);
  });

  it('TABLESAMPLE takes the same rows under one seed, SORT BY orders rows', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const half = 'SELECT id FROM (SELECT * FROM range(1000)) TABLESAMPLE (50 PERCENT) REPEATABLE (7) SORT BY id DESC';
    const [once, again] = [await (await session.sql(half)).collect(), await (await session.sql(half)).collect()];
    expect(once.length).toBeGreaterThan(300);
    expect(once.length).toBeLessThan(700);
    expect(again).toEqual(once);
    expect(once.map(({ id }) => Number(id))).toEqual(once.map(({ id }) => Number(id)).sort((one, other) => other - one));
  });

  it('SHOW VIEWS lists temporary views, ANALYZE TABLE is refused by name', async () => {
    await using made = await temporarySession();
    const { session } = made;
    session.range(1).createOrReplaceTempView('numbers');
    expect(await (await session.sql("SHOW VIEWS LIKE 'num*'")).collect()).toEqual([
      { namespace: '', viewName: 'numbers', isTemporary: true },
    ]);
    await expect(session.sql('ANALYZE TABLE t COMPUTE STATISTICS')).rejects.toThrow('ANALYZE TABLE');
  });

  it('errors that expressions raise carry their class and state', async () => {
    await using made = await temporarySession();
    const frame = made.session.range(1).selectExpr('1 / id AS x');
    await expect(frame.collect()).rejects.toMatchObject({ errorClass: 'DIVIDE_BY_ZERO', sqlState: '22012' });
    await expect(frame.count()).resolves.toBe(1);
  });

  it('names what happened when the change files of a feed are gone', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 'feed');
    await session.sql(`CREATE TABLE delta.\`${path}\` (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')`);
    await session.sql(`INSERT INTO delta.\`${path}\` VALUES (1), (2)`);
    await session.sql(`DELETE FROM delta.\`${path}\` WHERE id = 1`);
    await rm(join(path, '_change_data'), { recursive: true });
    const feed = session.read.option('readChangeFeed', true).option('startingVersion', 0).format('delta').load(path);
    await expect(feed.collect()).rejects.toMatchObject({ errorClass: 'DELTA_CHANGE_DATA_FILE_NOT_FOUND', kind: 'not-found' });
  });
});

describe('DataFrame methods beside the everyday ones', () => {
  it('describes columns in rows of text', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(
      [
        { n: 1, v: 'a' },
        { n: 3, v: 'b' },
      ],
      'n INT, v STRING',
    );
    expect(await (await frame.describe()).collect()).toEqual([
      { summary: 'count', n: '2', v: '2' },
      { summary: 'mean', n: '2.0', v: null },
      { summary: 'stddev', n: '1.4142135623730951', v: null },
      { summary: 'min', n: '1', v: 'a' },
      { summary: 'max', n: '3', v: 'b' },
    ]);
  });

  it('fills and drops nulls under the names of na', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame([{ n: null }, { n: 2 }], 'n INT');
    expect(await frame.na.fill(0).orderBy(col('n')).collect()).toEqual([{ n: 0 }, { n: 2 }]);
    expect(await frame.na.drop().collect()).toEqual([{ n: 2 }]);
  });
});

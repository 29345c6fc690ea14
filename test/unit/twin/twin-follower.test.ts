import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { readFileSchema } from '../../../src/codec/parquet/file-schema.ts';
import { footerLength, footerTailBytes } from '../../../src/codec/parquet/footer.ts';
import type { DeltaTable } from '../../../src/delta/delta-table.ts';
import type { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import { nextVersion, toVersion } from '../../../src/table/version.ts';
import { TwinPair } from '../../support/twin-pair.ts';

describe('a twin of a Delta table', () => {
  const open: TwinPair[] = [];
  afterEach(async () => {
    for (const pair of open.splice(0)) await pair.close();
  });

  async function pairOf(columns: string, options: Parameters<(typeof TwinPair)['create']>[1] = {}): Promise<TwinPair> {
    const pair = await TwinPair.create(columns, options);
    open.push(pair);
    return pair;
  }

  /** With a twin that shows ten rows. */
  async function filledPair(options: Parameters<(typeof TwinPair)['create']>[1] = {}): Promise<TwinPair> {
    const pair = await pairOf('id bigint, name string', options);
    await pair.follow();
    await pair.tables.append(pair.leader, "SELECT i AS id, 'n' || i % 3 AS name FROM range(10) t(i)");
    await expectEqual(pair);
    return pair;
  }

  async function expectEqual(pair: TwinPair): Promise<IcebergTable> {
    const twin = await pair.follow();
    expect(await pair.twinRows()).toEqual(await pair.leaderRows());
    expect(await filesOf(twin)).toEqual(await filesOf(pair.leader));
    return twin;
  }

  async function operations(twin: IcebergTable): Promise<readonly string[]> {
    return (await twin.history({})).map(({ operation }) => operation).toReversed();
  }

  async function filesOf(table: DeltaTable | IcebergTable): Promise<readonly string[]> {
    return (await table.scan(await table.refresh())).files.map(({ path }) => path).toSorted();
  }

  it('shows every append with the very same files, as a snapshot of its own', async () => {
    const pair = await pairOf('id bigint not null, name string, at timestamp, tags array<string>, m map<string,struct<x:int>>');
    const { leader, tables } = pair;
    await expectEqual(pair);
    const sql = (from: number): string =>
      `SELECT i AS id, 'name ' || i AS name, TIMESTAMPTZ '2026-01-01 00:00:00.123456Z' AS at, ['a', NULL] AS tags, MAP {'k': {'x': i::INT}} AS m FROM range(${from}, ${from + 3}) t(i)`;
    await tables.append(leader, sql(0));
    await tables.append(leader, sql(3));
    const twin = await expectEqual(pair);
    expect(await operations(twin)).toEqual(['append', 'append', 'append']);
  });

  it('has the ids of its columns in every file that is written from then on', async () => {
    const pair = await pairOf('id bigint, s struct<a:int,l:array<string>>, p string', { partitionBy: ['p'] });
    await pair.follow();
    await pair.tables.append(pair.leader, "SELECT 1::BIGINT AS id, {'a': 2::INT, 'l': ['x']} AS s, 'p 1' AS p");
    await expectEqual(pair);
    const [path = ''] = await filesOf(pair.leader);
    const bytes = await readFile(path);
    const { columns } = readFileSchema(bytes.subarray(bytes.length - footerTailBytes - (footerLength(bytes) ?? 0), -footerTailBytes));
    const twin = await pair.twin();
    const ids = new Map((await twin.refresh()).schema.fields.map(({ name, id }) => [name, id]));
    expect(columns.map(({ name, id }) => [name, id])).toEqual(['id', 's'].map((name) => [name, ids.get(name)]));
  });

  it('begins with all that a leader has that was there before, and follows from then on', async () => {
    const pair = await pairOf('id bigint, p date', { partitionBy: ['p'] });
    for (const day of [1, 2, 3]) await pair.tables.append(pair.leader, `SELECT ${day}::BIGINT AS id, DATE '2026-01-0${day}' AS p`);
    await pair.sql('DELETE FROM {leader} WHERE id = 2');
    await expectEqual(pair);
    await pair.tables.append(pair.leader, 'SELECT 9::BIGINT AS id, NULL::DATE AS p');
    expect(await operations(await expectEqual(pair))).toEqual(['append', 'append']);
  });

  it.each([
    ['an update', "UPDATE {leader} SET name = 'changed' WHERE id < 4", 'overwrite'],
    ['a delete of some rows', 'DELETE FROM {leader} WHERE id < 4', 'overwrite'],
    ['a delete of all rows', 'DELETE FROM {leader}', 'delete'],
    ['an overwrite', "INSERT OVERWRITE {leader} VALUES (7, 'only')", 'overwrite'],
    ['a restore', 'RESTORE TABLE {leader} TO VERSION AS OF 0', 'delete'],
  ])('shows %s as the snapshot it is', async (_, statement, operation) => {
    const pair = await filledPair();
    await pair.sql(statement);
    const twin = await expectEqual(pair);
    expect((await operations(twin)).at(-1)).toBe(operation);
  });

  it('shows a compaction as a snapshot with the same rows', async () => {
    const pair = await filledPair();
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await pair.sql('OPTIMIZE {leader}');
    const twin = await expectEqual(pair);
    expect(await operations(twin)).toEqual(['append', 'append', 'append', 'replace']);
    expect(await filesOf(twin)).toHaveLength(1);
  });

  it('shows nothing of versions that change no file', async () => {
    const pair = await filledPair();
    const { version } = await (await pair.twin()).refresh();
    await pair.sql("ALTER TABLE {leader} SET TBLPROPERTIES ('a' = 'b')");
    await pair.sql('ANALYZE TABLE {leader} COMPUTE DELTA STATISTICS').catch(() => undefined);
    expect((await (await expectEqual(pair)).refresh()).version).toBe(version);
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await expectEqual(pair);
  });

  it('gets the columns of its leader before the version that has them, and wider types', async () => {
    const pair = await pairOf('id int not null, s struct<a:int>', { properties: { 'delta.enableTypeWidening': 'true' } });
    await pair.follow();
    await pair.tables.append(pair.leader, "SELECT 1::INT AS id, {'a': 1::INT} AS s");
    await pair.sql('ALTER TABLE {leader} ADD COLUMNS (note string, s.b string)');
    await pair.sql('ALTER TABLE {leader} ALTER COLUMN id TYPE bigint');
    await pair.sql('ALTER TABLE {leader} ALTER COLUMN id DROP NOT NULL');
    await pair.tables.append(pair.leader, "SELECT 5000000000::BIGINT AS id, {'a': 1::INT, 'b': 'b'} AS s, 'n' AS note");
    await pair.tables.append(pair.leader, "SELECT NULL::BIGINT AS id, {'a': 1::INT, 'b': 'b'} AS s, 'n' AS note");
    const twin = await expectEqual(pair);
    expect((await twin.refresh()).schema.fields.map(({ name, type, nullable }) => [name, type.kind, nullable])).toEqual([
      ['id', 'long', true],
      ['s', 'struct', true],
      ['note', 'string', true],
    ]);
    // Files before and after have other columns, and ids of all of theirs or none.
    await pair.tables.append(pair.leader, "SELECT 2::BIGINT AS id, {'a': 1::INT, 'b': 'c'} AS s, 'm' AS note");
    await expectEqual(pair);
  });

  it('stands still at a change that its format does not have, by name, and its leader goes on', async () => {
    const pair = await pairOf('id int, n int', { properties: { 'delta.enableTypeWidening': 'true' } });
    await pair.follow();
    await pair.sql('ALTER TABLE {leader} ALTER COLUMN n TYPE double');
    await pair.tables.append(pair.leader, 'SELECT 1::INT AS id, 1.5::DOUBLE AS n');
    await expect(pair.follow()).rejects.toMatchObject({
      code: 'TWIN_MISFIT',
      message: 'table "twin" cannot show version 2 of "leader": its column "n" is integer, that of its leader double',
    });
    expect(await pair.leaderRows()).toEqual(['{"id":1,"n":1.5}']);
  });

  it('stands still at rows that are marked as deleted until the files are whole again', async () => {
    const pair = await filledPair({ properties: { 'delta.enableDeletionVectors': 'true' } });
    const before = await pair.twinRows();
    await pair.sql('DELETE FROM {leader} WHERE id = 3');
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_UNSUPPORTED' });
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_UNSUPPORTED' });
    expect(await pair.twinRows()).toEqual(before);
    await pair.sql("ALTER TABLE {leader} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')");
    await pair.sql('REORG TABLE {leader} APPLY (PURGE)');
    await expectEqual(pair);
  });

  it('catches up in one snapshot when the log no longer has the versions between', async () => {
    const pair = await filledPair();
    for (const id of [100, 101, 102]) await pair.tables.append(pair.leader, `SELECT ${id}::BIGINT AS id, 'x' AS name`);
    await pair.sql('DELETE FROM {leader} WHERE id = 101');
    await pair.leader.checkpoint({ dryRun: false });
    for (const version of [0, 1, 2, 3, 4]) await rm(join(pair.leader.location, '_delta_log', `${String(version).padStart(20, '0')}.json`));
    expect((await operations(await expectEqual(pair))).at(-1)).toBe('append');
  });

  it('goes back with a log that was put back, and on with another history', async () => {
    const pair = await filledPair();
    const { version } = await pair.leader.refresh();
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await expectEqual(pair);
    await rm(join(pair.leader.location, '_delta_log', `${String(version + 1).padStart(20, '0')}.json`));
    pair.leader = await pair.tables.open('leader');
    await expectEqual(pair);
    await pair.tables.append(pair.leader, "SELECT 200::BIGINT AS id, 'y' AS name");
    await expectEqual(pair);
  });

  it('says that others changed its rows, and goes on when that is rolled back', async () => {
    const pair = await filledPair();
    const other = await pair.twin();
    const own = (await other.refresh()).snapshotId;
    const { 'tidewater.leader': leader = '' } = (await other.refresh()).properties;
    await expect(pair.sql("INSERT INTO {twin} VALUES (1, 'x')")).rejects.toMatchObject({
      message: expect.stringContaining('is a twin') as string,
    });
    await pair.sql("ALTER TABLE {twin} UNSET TBLPROPERTIES ('tidewater.leader')");
    await pair.sql("INSERT INTO {twin} VALUES (1, 'x')");
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_NOT_A_TWIN' });
    await pair.sql(`ALTER TABLE {twin} SET TBLPROPERTIES ('tidewater.leader' = '${leader}')`);
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_CHANGED', hint: expect.stringContaining(String(own)) as string });
    await pair.sql(`CALL ice.system.rollback_to_snapshot('db.twin', ${String(own)})`);
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await expectEqual(pair);
  });

  it('does not mind that its manifests are rewritten and its snapshots expire', async () => {
    const pair = await filledPair();
    await pair.tables.append(pair.leader, "SELECT 100::BIGINT AS id, 'x' AS name");
    await pair.sql('DELETE FROM {leader} WHERE id = 4');
    await expectEqual(pair);
    await pair.sql("CALL ice.system.rewrite_manifests('db.twin')");
    await pair.sql("CALL ice.system.expire_snapshots(table => 'db.twin', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)");
    await pair.tables.append(pair.leader, "SELECT 101::BIGINT AS id, 'x' AS name");
    await expectEqual(pair);
    expect(await pair.tables.rows(pair.leader, (await pair.leader.refresh()).version)).toHaveLength(11);
  });

  it('is made again when it was dropped, with the ids that files were written with', async () => {
    const pair = await pairOf('id bigint, s struct<a:int>');
    await pair.follow();
    await pair.sql('ALTER TABLE {leader} ADD COLUMNS (s.b string, c string)');
    const row = (id: number): string => `SELECT ${id}::BIGINT AS id, {'a': 1::INT, 'b': 'b'} AS s, 'c' AS c`;
    await pair.tables.append(pair.leader, row(1));
    await expectEqual(pair);
    await pair.tables.append(pair.leader, row(2));
    const ids = async (): Promise<readonly unknown[]> => {
      const twin = await pair.twin();
      await twin.twin.position();
      return twin.twin.columnIds.map(([path, id]) => `${path.join('.')} ${id}`).toSorted();
    };
    await expectEqual(pair);
    const before = await ids();
    await rm(pair.twinLocation, { recursive: true });
    await expectEqual(pair);
    expect(await ids()).toEqual(before);
  });

  it('says that its leader is another table now', async () => {
    const pair = await filledPair();
    await rm(pair.leader.location, { recursive: true });
    pair.leader = await pair.tables.create('leader', 'id bigint, name string');
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_LEADER_REPLACED', kind: 'discontinuity' });
  });

  it('is not made of a table with a life of its own', async () => {
    const pair = await pairOf('id bigint');
    await pair.sql('CREATE NAMESPACE IF NOT EXISTS ice.db');
    await pair.sql('CREATE TABLE {twin} (id bigint) USING iceberg');
    await expect(pair.follow()).rejects.toMatchObject({ code: 'TWIN_NOT_A_TWIN' });
  });

  it('shows each version once when several processes follow, and after any of them ended at a commit', async () => {
    const pair = await filledPair();
    const followers = [await pair.follower(), await pair.follower(), await pair.follower()];
    for (let id = 100; id < 106; id += 1) {
      await pair.tables.append(pair.leader, `SELECT ${id}::BIGINT AS id, 'x' AS name`);
      await Promise.all(followers.map((follower) => follower.catchUp()));
    }
    for (const point of ['before-twin-commit', 'after-twin-commit'] as const) {
      await pair.tables.append(pair.leader, `SELECT 200::BIGINT AS id, '${point}' AS name`);
      const ends = await pair.follower((name) => (name === point ? Promise.reject(ended(point)) : Promise.resolve()));
      await expect(ends.catchUp()).rejects.toThrow(point);
    }
    const twin = await expectEqual(pair);
    expect(await operations(twin)).toEqual(Array.from({ length: 10 }, () => 'append'));
  });

  it('takes its leader over with the progress of writers', async () => {
    const pair = await filledPair();
    const frame = "INSERT INTO {leader} VALUES (1000, 'marked')";
    await pair.sql("SET spark.databricks.delta.write.txnAppId = 'app'");
    await pair.sql('SET spark.databricks.delta.write.txnVersion = 7');
    await pair.sql(frame);
    const twin = await expectEqual(pair);
    expect((await twin.refresh()).progressOf('app')).toBe((await pair.leader.refresh()).progressOf('app'));
  });

  it('keeps vacuum of its leader from what its snapshots show', async () => {
    const pair = await filledPair();
    await pair.sql('DELETE FROM {leader} WHERE id < 5');
    const twin = await expectEqual(pair);
    const shown = await twin.twin.oldestShown();
    await expect(pair.sql('VACUUM {leader}')).rejects.toMatchObject({ errorClass: 'TWIN_NEEDS_FILES' });
    await pair.sql('VACUUM {leader} DRY RUN');
    const options = { retentionHours: 0, allowShortRetention: true, dryRun: false, keepChangesFrom: undefined };
    const held = await pair.leader.vacuum({ ...options, keepChangesFrom: nextVersion(shown ?? toVersion(-1)) });
    expect([held.fileCount, held.heldByFeeds]).toEqual([0, 1]);
    await pair.sql("CALL ice.system.expire_snapshots(table => 'db.twin', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)");
    const gone = await pair.leader.vacuum({ ...options, keepChangesFrom: nextVersion((await twin.twin.oldestShown()) ?? toVersion(-1)) });
    expect([gone.fileCount, gone.heldByFeeds]).toEqual([1, 0]);
    await expectEqual(pair);
  });
});

function ended(point: string): ServiceError {
  return new ServiceError({ code: 'FAILPOINT', kind: 'unavailable', message: point });
}

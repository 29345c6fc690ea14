import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataFrame, Row } from '../../src/index.ts';
import { sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { deltaBench, textIn } from '../support/parity/delta-bench.ts';

/** Batch reads of the change feed: ranges, and every read that is refused. Versions: 0 create, 1 and 2 append, 3 update. */
describe('batch reads of the change feed', () => {
  const bench = deltaBench();
  const made = new Set<string>();

  /** A table of four versions; the tests that only read share one. */
  async function tableOfChanges(name: string): Promise<string> {
    const { sql, at, path } = bench();
    if (made.has(name)) return path(name);
    made.add(name);
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a')`);
    await sql(`INSERT INTO ${at(name)} VALUES (2, 'b')`);
    await sql(`UPDATE ${at(name)} SET v = 'z' WHERE id = 1`);
    return path(name);
  }

  function feed(path: string, options: Readonly<Record<string, string | number>>): DataFrame {
    return bench().session.read.format('delta').option('readChangeFeed', 'true').options(options).load(path);
  }

  async function versionsIn(frame: DataFrame): Promise<readonly bigint[]> {
    const rows = await frame.select('_commit_version').orderBy('_commit_version').collect();
    return rows.map((row) => row['_commit_version'] as bigint);
  }

  /** Times of the versions as the feed gives them. */
  async function timesOf(path: string): Promise<readonly string[]> {
    const rows = await feed(path, { startingVersion: 0 }).select('_commit_version', '_commit_timestamp').distinct().collect();
    const byVersion = new Map(rows.map((row) => [Number(row['_commit_version']), textIn(row, '_commit_timestamp')]));
    return [0, 1, 2, 3].map((version) => byVersion.get(version) ?? '');
  }

  it('B17: gives the columns of the table and three of its own, with their types', async () => {
    const frame = feed(await tableOfChanges('shared'), { startingVersion: 0 });
    expect((await frame.schema).fields.map((field) => [field.name, field.type.kind])).toEqual([
      ['id', 'integer'],
      ['v', 'string'],
      ['_change_type', 'string'],
      ['_commit_version', 'long'],
      ['_commit_timestamp', 'timestamp'],
    ]);
    const rows = await frame.drop('_commit_timestamp').orderBy('_commit_version', 'id', '_change_type').collect();
    expect(rows).toEqual([
      { id: 1, v: 'a', _change_type: 'insert', _commit_version: 1n },
      { id: 2, v: 'b', _change_type: 'insert', _commit_version: 2n },
      { id: 1, v: 'z', _change_type: 'update_postimage', _commit_version: 3n },
      { id: 1, v: 'a', _change_type: 'update_preimage', _commit_version: 3n },
    ]);
    await bench().agree('shared', { allowOrphans: true });
    const theirs = await bench().oracle?.changes('delta-rs', bench().path('shared'), { from: 1, to: 3 });
    if (theirs !== undefined) expect(sortedLines(theirs)).toEqual(sortedLines(rows.map(canonicalRow)));
  });

  it('B17: takes a first and a last version, both included; a last one beyond the newest means the newest', async () => {
    const path = await tableOfChanges('shared');
    expect(await versionsIn(feed(path, { startingVersion: 2 }))).toEqual([2n, 3n, 3n]);
    expect(await versionsIn(feed(path, { startingVersion: 1, endingVersion: 2 }))).toEqual([1n, 2n]);
    expect(await versionsIn(feed(path, { startingVersion: 2, endingVersion: 2 }))).toEqual([2n]);
    expect(await versionsIn(feed(path, { startingVersion: '0', endingVersion: '99' }))).toEqual([1n, 2n, 3n, 3n]);
  });

  it('B17: takes times for versions, and the version when both are given', async () => {
    const path = await tableOfChanges('shared');
    const [, first = '', second = ''] = await timesOf(path);
    expect(await versionsIn(feed(path, { startingTimestamp: second }))).toEqual([2n, 3n, 3n]);
    expect(await versionsIn(feed(path, { startingTimestamp: first, endingTimestamp: second }))).toEqual([1n, 2n]);
    expect(await versionsIn(feed(path, { startingVersion: 1, endingTimestamp: first }))).toEqual([1n]);
    expect(await versionsIn(feed(path, { startingTimestamp: '2001-01-01' }))).toEqual([1n, 2n, 3n, 3n]);
    expect(await versionsIn(feed(path, { startingTimestamp: second, endingTimestamp: '2100-01-01' }))).toEqual([2n, 3n, 3n]);
    expect(await versionsIn(feed(path, { startingVersion: 3, startingTimestamp: first }))).toEqual([3n, 3n]);
  });

  it('B17: table_changes and table_changes_by_path give the same rows in SQL', async () => {
    const { session, sql } = bench();
    const path = await tableOfChanges('shared');
    const [, first = '', second = ''] = await timesOf(path);
    const count = async (call: string): Promise<Row | undefined> => (await sql(`SELECT count(*) AS n FROM ${call}`))[0];
    expect(await count(`table_changes_by_path('${path}', 0)`)).toEqual({ n: 4n });
    expect(await count(`table_changes_by_path('${path}', 1, 2)`)).toEqual({ n: 2n });
    expect(await count(`table_changes_by_path('${path}', '${first}', '${second}')`)).toEqual({ n: 2n });
    await session.sql(`CREATE TABLE changed USING delta LOCATION '${path}'`);
    expect(await count("table_changes('changed', 2)")).toEqual({ n: 3n });
    expect(await count("table_changes('default.changed', 3, 3) WHERE _change_type = 'update_postimage'")).toEqual({ n: 1n });
    const byName = session.read.option('readChangeFeed', true).option('startingVersion', 2).table('changed');
    expect(await byName.count()).toBe(3);
  });

  it('B17: refuses a range that is not there', async () => {
    const path = await tableOfChanges('shared');
    expect(() => feed(path, {})).toThrow(
      expect.objectContaining({
        errorClass: 'DELTA_NO_START_FOR_CDC_READ',
        sqlState: '42601',
        message: 'No startingVersion or startingTimestamp provided for CDC read.',
      }),
    );
    await expect(feed(path, { startingVersion: 99 }).collect()).rejects.toMatchObject({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
      sqlState: '22003',
      message: 'Start version 99 for change data feed exceeds the latest table version 3.',
    });
    await expect(feed(path, { startingVersion: 2, endingVersion: 1 }).collect()).rejects.toMatchObject({
      errorClass: 'DELTA_INVALID_CDC_RANGE',
      sqlState: '22003',
      message: 'CDC range from start 2 to end 1 was invalid. End cannot be before start.',
    });
    await expect(feed(path, { startingTimestamp: '2100-01-01' }).collect()).rejects.toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
      sqlState: '42816',
      message: expect.stringMatching(
        /^Timestamp 2100-01-01 00:00:00\.0 is after the table's latest version \(.+\)\. Use a timestamp at or before .+\.$/,
      ) as string,
    });
    expect(() => feed(path, { startingVersion: 'first' })).toThrow(
      expect.objectContaining({ errorClass: 'DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE', sqlState: '42604' }),
    );
    expect(() => feed(path, { startingTimestamp: 'yesterday-ish' })).toThrow(
      expect.objectContaining({ errorClass: 'DELTA_TIMESTAMP_INVALID', sqlState: '42816' }),
    );
    await expect(bench().sql(`SELECT * FROM table_changes_by_path('${path}', 99)`)).rejects.toMatchObject({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
    });
  });

  it('B17: a range out of bounds gives no rows where the session allows it', async () => {
    const path = await tableOfChanges('shared');
    const lenient = bench().another({ 'spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled': true });
    const read = lenient.read.option('readChangeFeed', 'true');
    expect(await read.option('startingVersion', 99).load(path).count()).toBe(0);
    expect(await read.option('startingTimestamp', '2100-01-01').load(path).count()).toBe(0);
  });

  it('B17: refuses versions that recorded no changes, naming them', async () => {
    const { sql, at, path } = bench();
    const feedOn = 'SET TBLPROPERTIES (delta.enableChangeDataFeed = true)';
    await sql(`CREATE TABLE ${at('late')} (id INT) USING delta`);
    await sql(`INSERT INTO ${at('late')} VALUES (1)`);
    await expect(feed(path('late'), { startingVersion: 0 }).collect()).rejects.toMatchObject({
      errorClass: 'DELTA_MISSING_CHANGE_DATA',
      sqlState: 'KD002',
      message: expect.stringContaining(
        'Error getting change data for range [0 , 1] as change data was not recorded for version [0].',
      ) as string,
    });
    await sql(`ALTER TABLE ${at('late')} ${feedOn}`);
    await sql(`INSERT INTO ${at('late')} VALUES (2)`);
    await expect(feed(path('late'), { startingVersion: 0 }).collect()).rejects.toMatchObject({ errorClass: 'DELTA_MISSING_CHANGE_DATA' });
    expect(await versionsIn(feed(path('late'), { startingVersion: 2 }))).toEqual([3n]);
    await sql(`ALTER TABLE ${at('late')} UNSET TBLPROPERTIES (delta.enableChangeDataFeed)`);
    await sql(`INSERT INTO ${at('late')} VALUES (3)`);
    await sql(`ALTER TABLE ${at('late')} ${feedOn}`);
    await expect(feed(path('late'), { startingVersion: 2 }).collect()).rejects.toMatchObject({
      errorClass: 'DELTA_MISSING_CHANGE_DATA',
      message: expect.stringContaining('range [2 , 6] as change data was not recorded for version [4]') as string,
    });
    expect(await versionsIn(feed(path('late'), { startingVersion: 2, endingVersion: 3 }))).toEqual([3n]);
  });

  it('B17: reads over columns that were added, and refuses ranges over a rename, a drop or another type', async () => {
    const { sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('evolved')} (id INT, v STRING) USING delta
      TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', delta.enableTypeWidening = true)`);
    await sql(`INSERT INTO ${at('evolved')} VALUES (1, 'a')`);
    await sql(`ALTER TABLE ${at('evolved')} ADD COLUMN more DOUBLE`);
    await sql(`INSERT INTO ${at('evolved')} VALUES (2, 'b', 0.5)`);
    const rows = await feed(path('evolved'), { startingVersion: 0 }).select('id', 'more').orderBy('id').collect();
    expect(rows).toEqual([
      { id: 1, more: null },
      { id: 2, more: 0.5 },
    ]);
    const incompatible = {
      errorClass: expect.stringMatching(/^DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_(SCHEMA_CHANGE|DATA_SCHEMA)$/) as string,
      sqlState: '0AKDC',
    };
    await sql(`ALTER TABLE ${at('evolved')} RENAME COLUMN v TO w`);
    await sql(`INSERT INTO ${at('evolved')} VALUES (3, 'c', 1.5)`);
    await expect(feed(path('evolved'), { startingVersion: 1 }).collect()).rejects.toMatchObject(incompatible);
    expect(await versionsIn(feed(path('evolved'), { startingVersion: 5 }))).toEqual([5n]);
    await sql(`ALTER TABLE ${at('evolved')} DROP COLUMN more`);
    await sql(`INSERT INTO ${at('evolved')} VALUES (4, 'd')`);
    await expect(feed(path('evolved'), { startingVersion: 5 }).collect()).rejects.toMatchObject(incompatible);
    await sql(`ALTER TABLE ${at('evolved')} ALTER COLUMN id TYPE BIGINT`);
    await sql(`INSERT INTO ${at('evolved')} VALUES (5, 'e')`);
    await expect(feed(path('evolved'), { startingVersion: 7 }).collect()).rejects.toMatchObject(incompatible);
    expect(await versionsIn(feed(path('evolved'), { startingVersion: 9 }))).toEqual([9n]);
  });

  it('B17: refuses a start whose log is gone', async () => {
    const path = await tableOfChanges('cleaned');
    rmSync(join(path, '_delta_log', '00000000000000000001.json'));
    await expect(feed(path, { startingVersion: 1 }).collect()).rejects.toMatchObject({ errorClass: 'DELTA_LOG_FILE_NOT_FOUND' });
  });

  it('B17: refuses reserved columns in tables with a feed and in writes to them', async () => {
    const { session, sql, at, path } = bench();
    const reserved = `CREATE TABLE ${at('reserved')} (id INT, _change_type STRING) USING delta`;
    await expect(sql(`${reserved} TBLPROPERTIES (delta.enableChangeDataFeed = true)`)).rejects.toMatchObject({
      errorClass: 'DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS',
      sqlState: '42711',
    });
    await tableOfChanges('shared');
    const wider = session.createDataFrame([{ id: 1, v: 'a', _commit_version: 1 }], 'id INT, v STRING, _commit_version BIGINT');
    await expect(wider.write.format('delta').mode('append').option('mergeSchema', true).save(path('shared'))).rejects.toMatchObject({
      errorClass: 'RESERVED_CDC_COLUMNS_ON_WRITE',
      sqlState: '42939',
    });
  });

  it('B17: without readChangeFeed the other options have no effect', async () => {
    const path = await tableOfChanges('shared');
    const rows = await bench().session.read.format('delta').option('startingVersion', '0').load(path).orderBy('id').collect();
    expect(rows).toEqual([
      { id: 1, v: 'z' },
      { id: 2, v: 'b' },
    ]);
  });
});

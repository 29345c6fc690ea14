import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../../../src/app/session.ts';
import type { Row } from '../../../../src/session/rows/row.ts';

const limitMs = 60_000;

describe('a streaming query', { timeout: limitMs }, () => {
  let dir: string;
  let session: Session;
  const at = (name: string): string => join(dir, name);
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'stream-'));
    session = createSession({ config: { 'spark.sql.warehouse.dir': at('warehouse') }, print: () => undefined });
    await session.sql(
      `CREATE TABLE delta.\`${at('t')}\` (id BIGINT, v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)`,
    );
    await session.sql(`INSERT INTO delta.\`${at('t')}\` VALUES (1, 'a'), (2, 'b')`);
  });
  afterEach(async () => {
    await session.stop();
    rmSync(dir, { recursive: true });
  });

  it('passes row changes on in batches, and goes on behind them after a restart', async () => {
    await session.sql(`UPDATE delta.\`${at('t')}\` SET v = 'z' WHERE id = 1`);
    const seen: Row[][] = [];
    const run = async (): Promise<void> => {
      const query = await session.readStream
        .format('delta')
        .option('readChangeFeed', 'true')
        .option('startingVersion', 0)
        .load(at('t'))
        .select('id', 'v', '_change_type', '_commit_version')
        .writeStream.foreachBatch(async (rows) => {
          seen.push(await rows.collect());
        })
        .option('checkpointLocation', at('checkpoint'))
        .trigger({ availableNow: true })
        .start();
      await query.awaitTermination();
    };
    await run();
    expect(seen).toHaveLength(1);
    expect(seen[0]).toHaveLength(4);
    expect(seen[0]).toEqual(
      expect.arrayContaining([
        { id: 1n, v: 'a', _change_type: 'insert', _commit_version: 1n },
        { id: 2n, v: 'b', _change_type: 'insert', _commit_version: 1n },
        { id: 1n, v: 'a', _change_type: 'update_preimage', _commit_version: 2n },
        { id: 1n, v: 'z', _change_type: 'update_postimage', _commit_version: 2n },
      ]),
    );
    await session.sql(`DELETE FROM delta.\`${at('t')}\` WHERE id = 2`);
    await run();
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual([{ id: 2n, v: 'b', _change_type: 'delete', _commit_version: 3n }]);
    await run();
    expect(seen).toHaveLength(2);
  });

  it('gives the changes of a version in one batch, what it took away before what it brought, whatever the limit', async () => {
    await session.sql(
      `CREATE TABLE delta.\`${at('moved')}\` (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')`,
    );
    await session.sql(`INSERT INTO delta.\`${at('moved')}\` SELECT CAST(id AS INT), CAST(id % 5 AS INT) FROM range(0, 50)`);
    await session.sql(`UPDATE delta.\`${at('moved')}\` SET p = (p + 2) % 5`);
    const batches: Row[][] = [];
    const query = await session.readStream
      .option('readChangeFeed', true)
      .option('startingVersion', 0)
      .option('maxFilesPerTrigger', 1)
      .load(at('moved'))
      .writeStream.foreachBatch(async (frame) => {
        batches.push(await frame.collect());
      })
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    expect(batches.map((rows) => rows.length)).toEqual([50, 100]);
    const types = batches[1]?.map((row) => row['_change_type']);
    expect(types).toEqual([...Array<string>(50).fill('update_preimage'), ...Array<string>(50).fill('update_postimage')]);
  });

  it('begins with the rows there are, and splits them as the limit says', async () => {
    await session.sql(`INSERT INTO delta.\`${at('t')}\` VALUES (3, 'c')`);
    const query = await session.readStream
      .option('maxFilesPerTrigger', 1)
      .load(at('t'))
      .writeStream.format('memory')
      .queryName('seen')
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    expect((await session.table('seen').orderBy('id').collect()).map((row) => row['id'])).toEqual([1n, 2n, 3n]);
    expect(query.recentProgress.filter((progress) => progress.numInputRows > 0)).toHaveLength(2);
    expect(query.lastProgress?.sink.description).toBe('MemorySink');
    expect(query.recentProgress[0]?.sources[0]?.endOffset).toMatchObject({
      sourceVersion: 1,
      reservoirVersion: 2,
      index: 0,
      isStartingVersion: true,
    });
  });

  it('writes each batch to a table once, also when its commit was not written down', async () => {
    const run = async (): Promise<void> => {
      const query = await session.readStream
        .load(at('t'))
        .where('id > 0')
        .writeStream.format('delta')
        .option('checkpointLocation', at('checkpoint'))
        .trigger({ availableNow: true })
        .start(at('copy'));
      await query.awaitTermination();
    };
    await run();
    rmSync(join(at('checkpoint'), 'commits', '0'));
    await run();
    expect((await session.read.load(at('copy')).collect()).length).toBe(2);
    const [last] = await session.sql(`DESCRIBE HISTORY delta.\`${at('copy')}\` LIMIT 1`).then((frame) => frame.collect());
    expect(last?.['operation']).toBe('STREAMING UPDATE');
  });

  it('fails on a change it cannot pass on, naming version and cure', async () => {
    await session.sql(`UPDATE delta.\`${at('t')}\` SET v = 'z' WHERE id = 1`);
    const query = await session.readStream
      .option('startingVersion', 0)
      .load(at('t'))
      .writeStream.format('memory')
      .queryName('never')
      .trigger({ availableNow: true })
      .start();
    await expect(query.awaitTermination()).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
      cause: { errorClass: 'DELTA_SOURCE_TABLE_IGNORE_CHANGES' },
    });
    expect(query.isActive).toBe(false);
  });

  it('refuses what needs state between batches, and actions on a stream', async () => {
    const stream = session.readStream.load(at('t'));
    await expect(stream.groupBy('v').count().writeStream.format('memory').queryName('q').start()).rejects.toMatchObject({
      errorClass: 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION',
    });
    await expect(stream.collect()).rejects.toMatchObject({ errorClass: 'STREAMING_QUERY_NOT_STARTED' });
    expect((await stream.schema).fields.map((field) => field.name)).toEqual(['id', 'v']);
  });
});

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../../../src/session/rows/row.ts';
import type { StreamingQueryProgress } from '../../../../src/session/streaming/stream-progress.ts';
import { type TemporarySession, temporarySession } from '../../../support/temporary-session.ts';

const limitMs = 60_000;

describe('a stream of an Iceberg table', { timeout: limitMs }, () => {
  let made: TemporarySession;
  let table: string;
  const longOf = (row: Row | undefined, name: string): string => {
    const value = row?.[name];
    return typeof value === 'bigint' ? String(value) : '';
  };
  const sql = (text: string): Promise<readonly Row[]> => made.session.sql(text).then((frame) => frame.collect());

  beforeEach(async () => {
    made = await temporarySession();
    table = `iceberg.\`${join(made.directory, 't')}\``;
    await sql(`CREATE TABLE ${table} (id BIGINT, v STRING) USING iceberg`);
    await sql(`INSERT INTO ${table} VALUES (1, 'a')`);
    await sql(`INSERT INTO ${table} VALUES (2, 'b')`);
  });

  afterEach(async () => {
    await made[Symbol.asyncDispose]();
  });

  /** The ids of each batch until the stream has caught up. */
  async function batches(options: Readonly<Record<string, string>> = {}): Promise<readonly (readonly unknown[])[]> {
    const seen: unknown[][] = [];
    const query = await made.session.readStream
      .format('iceberg')
      .options(options)
      .load(join(made.directory, 't'))
      .writeStream.foreachBatch(async (rows) => {
        seen.push((await rows.collect()).map((row) => row['id']));
      })
      .option('checkpointLocation', join(made.directory, 'checkpoint'))
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    progress = query.recentProgress;
    return seen;
  }
  let progress: readonly StreamingQueryProgress[] = [];

  it('begins with the oldest snapshot and goes on behind the last file after a restart', async () => {
    expect(await batches()).toEqual([[1n, 2n]]);
    const [row] = await sql(`SELECT snapshot_id FROM ${table}.snapshots ORDER BY committed_at DESC LIMIT 1`);
    expect(progress[0]?.sources[0]?.endOffset).toEqual({
      version: 1,
      snapshot_id: row?.['snapshot_id'],
      position: 1,
      scan_all_files: false,
    });
    await sql(`INSERT INTO ${table} VALUES (3, 'c')`);
    expect(await batches()).toEqual([[3n]]);
    expect(await batches()).toEqual([]);
  });

  it('keeps its batches within the files and rows that are asked for', async () => {
    await sql(`INSERT INTO ${table} VALUES (3, 'c'), (4, 'd')`);
    expect(await batches({ 'streaming-max-rows-per-micro-batch': '2' })).toEqual([
      [1n, 2n],
      [3n, 4n],
    ]);
    await sql(`INSERT INTO ${table} VALUES (5, 'e')`);
    await sql(`INSERT INTO ${table} VALUES (6, 'f')`);
    expect(await batches({ 'streaming-max-files-per-micro-batch': '1' })).toEqual([[5n], [6n]]);
  });

  it('begins at a time', async () => {
    const [row] = await sql(`SELECT unix_millis(max(committed_at)) AS ms FROM ${table}.snapshots`);
    expect(await batches({ 'stream-from-timestamp': longOf(row, 'ms') })).toEqual([[2n]]);
  });

  it('refuses overwrites unless they are to be passed over, and never stops for rewrites', async () => {
    expect(await batches()).toEqual([[1n, 2n]]);
    await sql(`UPDATE ${table} SET v = 'z' WHERE id = 1`);
    const [row] = await sql(`SELECT snapshot_id FROM ${table}.snapshots WHERE operation = 'overwrite'`);
    await expect(batches()).rejects.toThrow(
      `Cannot process overwrite snapshot: ${longOf(row, 'snapshot_id')}, to ignore overwrites, set streaming-skip-overwrite-snapshots=true`,
    );
    await sql(`INSERT INTO ${table} VALUES (3, 'c')`);
    expect(await batches({ 'streaming-skip-overwrite-snapshots': 'true' })).toEqual([[3n]]);
    await sql(`DELETE FROM ${table}`);
    await expect(batches()).rejects.toThrow(
      /Cannot process delete snapshot: \d+, to ignore deletes, set streaming-skip-delete-snapshots=true/,
    );
    expect(await batches({ 'streaming-skip-delete-snapshots': 'true' })).toEqual([]);
  });

  it('says what it has no answer to', async () => {
    await expect(batches({ readChangeFeed: 'true' })).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    await expect(batches({ startingVersion: '1' })).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    await expect(batches({ 'stream-from-timestamp': 'today' })).rejects.toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION' });
  });

  it('writes each batch to an Iceberg table once, whatever is run again', async () => {
    const target = join(made.directory, 'sink');
    const run = async (checkpoint: string): Promise<void> => {
      const query = await made.session.readStream
        .format('iceberg')
        .load(join(made.directory, 't'))
        .writeStream.format('iceberg')
        .option('checkpointLocation', join(made.directory, checkpoint))
        .trigger({ availableNow: true })
        .start(target);
      await query.awaitTermination();
      expect(query.lastProgress?.sink.description).toContain('IcebergSink[');
    };
    await run('sink-checkpoint');
    await sql(`INSERT INTO ${table} VALUES (3, 'c')`);
    await run('sink-checkpoint');
    // As if the query had ended after the table's commit and before its own.
    await rm(join(made.directory, 'sink-checkpoint', 'commits', '1'));
    await run('sink-checkpoint');
    expect(await sql(`SELECT id FROM iceberg.\`${target}\` ORDER BY id`)).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
    const summaries = await sql(
      `SELECT summary['spark.sql.streaming.epochId'] AS epoch FROM iceberg.\`${target}\`.snapshots ORDER BY committed_at`,
    );
    expect(summaries).toEqual([{ epoch: '0' }, { epoch: '1' }]);
  });
});

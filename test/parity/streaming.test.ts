import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataFrame, Row, StreamingQuery, StreamingQueryProgress } from '../../src/index.ts';
import { deltaBench, textIn } from '../support/parity/delta-bench.ts';

/** Streams that read tables: offsets, progress, triggers and restarts. */
describe('streaming reads', () => {
  const bench = deltaBench();

  /** Versions: 0 create, 1 insert of two rows, 2 update of one. */
  async function tableOfChanges(name: string): Promise<void> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a'), (2, 'b')`);
    await sql(`UPDATE ${at(name)} SET v = 'z' WHERE id = 1`);
  }

  function stream(name: string, options: Readonly<Record<string, string | number | boolean>> = {}): DataFrame {
    return bench().session.readStream.format('delta').options(options).load(bench().path(name));
  }

  const feed = { readChangeFeed: 'true', startingVersion: '0' } as const;

  interface Ran {
    readonly query: StreamingQuery;
    readonly batches: ReadonlyMap<number, readonly Row[]>;
  }

  /** Everything there is, through foreachBatch; the checkpoint has the name of the stream. */
  async function drain(rows: DataFrame, checkpoint: string): Promise<Ran> {
    const batches = new Map<number, readonly Row[]>();
    const query = await rows.writeStream
      .foreachBatch(async (batch, batchId) => {
        batches.set(batchId, await batch.collect());
      })
      .option('checkpointLocation', bench().path(checkpoint))
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    return { query, batches };
  }

  function worked(query: StreamingQuery): readonly StreamingQueryProgress[] {
    return query.recentProgress.filter((progress) => progress.sources[0]?.endOffset !== null);
  }

  async function tableId(name: string): Promise<unknown> {
    const [detail] = await bench().sql(`DESCRIBE DETAIL ${bench().at(name)}`);
    return detail?.['id'];
  }

  function offsetFile(checkpoint: string, batchId: number): unknown {
    return JSON.parse(
      readFileSync(join(bench().path(checkpoint), 'offsets', String(batchId)), 'utf8')
        .split('\n')
        .at(-1) ?? '',
    );
  }

  it('B18: a feed stream reports batch, rows, rates, phases, offsets and sink as the reference does', async () => {
    await tableOfChanges('t1');
    const { query, batches } = await drain(stream('t1', feed), 'c1');
    const until = { sourceVersion: 1, reservoirId: await tableId('t1'), reservoirVersion: 3, index: -1, isStartingVersion: false };
    expect([...batches].map(([id, rows]) => [id, rows.length])).toEqual([[0, 4]]);
    const [progress] = worked(query);
    expect(progress).toEqual({
      id: query.id,
      runId: query.runId,
      name: null,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      batchId: 0,
      batchDuration: expect.any(Number) as number,
      numInputRows: 4,
      inputRowsPerSecond: 0,
      processedRowsPerSecond: expect.any(Number) as number,
      durationMs: {
        addBatch: expect.any(Number) as number,
        commitOffsets: expect.any(Number) as number,
        getBatch: expect.any(Number) as number,
        latestOffset: expect.any(Number) as number,
        queryPlanning: expect.any(Number) as number,
        triggerExecution: expect.any(Number) as number,
        walCommit: expect.any(Number) as number,
      },
      stateOperators: [],
      sources: [
        {
          description: `DeltaSource[file:${bench().path('t1')}]`,
          startOffset: null,
          endOffset: until,
          latestOffset: null,
          numInputRows: 4,
          inputRowsPerSecond: 0,
          processedRowsPerSecond: expect.any(Number) as number,
        },
      ],
      sink: { description: 'ForeachBatchSink', numOutputRows: -1 },
    });
    expect(offsetFile('c1', 0)).toEqual(until);
    expect(readdirSync(join(bench().path('c1'), 'commits'))).toEqual(['0']);
  });

  it('B18: a restarted query keeps its id and goes on behind the last batch', async () => {
    await tableOfChanges('t2');
    const first = await drain(stream('t2', feed), 'c2');
    await bench().sql(`DELETE FROM ${bench().at('t2')} WHERE id = 2`);
    const second = await drain(stream('t2', feed), 'c2');
    expect(second.query.id).toBe(first.query.id);
    expect(second.query.runId).not.toBe(first.query.runId);
    expect([...second.batches.keys()]).toEqual([1]);
    expect(second.batches.get(1)).toMatchObject([{ id: 2, v: 'b', _change_type: 'delete', _commit_version: 3n }]);
    expect(worked(second.query)[0]?.sources[0]?.startOffset).toMatchObject({ reservoirVersion: 3, index: -1 });
    expect(worked(second.query)[0]?.sources[0]?.endOffset).toMatchObject({ reservoirVersion: 4, index: -1 });
    const third = await drain(stream('t2', feed), 'c2');
    expect(third.batches.size).toBe(0);
    expect(Object.keys(third.query.lastProgress?.durationMs ?? {}).sort()).toEqual(['latestOffset', 'triggerExecution']);
    expect(third.query.lastProgress).toMatchObject({ numInputRows: 0, sources: [{ endOffset: null }] });
  });

  it('B18: a batch whose work failed comes again with the same id and rows', async () => {
    await tableOfChanges('t3');
    const seen: [number, number][] = [];
    const start = (failing: boolean): Promise<StreamingQuery> =>
      stream('t3', feed)
        .writeStream.foreachBatch(async (rows, batchId) => {
          seen.push([batchId, await rows.count()]);
          if (failing) throw new TypeError('the sink is away');
        })
        .option('checkpointLocation', bench().path('c3'))
        .trigger({ availableNow: true })
        .start();
    const failed = await start(true);
    await expect(failed.awaitTermination()).rejects.toMatchObject({ errorClass: 'STREAM_FAILED', sqlState: 'XXKST', queryId: failed.id });
    expect(failed.isActive).toBe(false);
    expect(failed.exception()?.message).toContain('the sink is away');
    await bench().sql(`INSERT INTO ${bench().at('t3')} VALUES (9, 'later')`);
    await (await start(false)).awaitTermination();
    expect(seen).toEqual([
      [0, 4],
      [0, 4],
      [1, 1],
    ]);
  });

  it('B18: without a start the rows of the newest version come first, as inserts', async () => {
    await tableOfChanges('t4');
    const { query, batches } = await drain(stream('t4', { readChangeFeed: 'true' }), 'c4');
    expect(
      batches
        .get(0)
        ?.map((row) => [row['id'], row['v'], row['_change_type'], row['_commit_version']])
        .sort(),
    ).toEqual([
      [1, 'z', 'insert', 2n],
      [2, 'b', 'insert', 2n],
    ]);
    expect(worked(query)[0]?.sources[0]?.endOffset).toMatchObject({ reservoirVersion: 3, index: -1, isStartingVersion: false });
    await bench().sql(`INSERT INTO ${bench().at('t4')} VALUES (3, 'c')`);
    const next = await drain(stream('t4', { readChangeFeed: 'true' }), 'c4');
    expect(next.batches.get(1)).toMatchObject([{ id: 3, _change_type: 'insert', _commit_version: 3n }]);
  });

  it('B18: maxFilesPerTrigger splits what there is, and every row comes once', async () => {
    await tableOfChanges('t5');
    await bench().sql(`INSERT INTO ${bench().at('t5')} VALUES (3, 'c')`);
    const { batches, query } = await drain(stream('t5', { ...feed, maxFilesPerTrigger: 1 }), 'c5');
    expect(batches.size).toBeGreaterThan(2);
    const changes = [...batches.values()].flat().map((row) => `${Number(row['_commit_version'])} ${textIn(row, '_change_type')}`);
    expect(changes.sort()).toEqual(['1 insert', '1 insert', '2 update_postimage', '2 update_preimage', '3 insert']);
    expect(worked(query).at(-1)?.sources[0]?.endOffset).toMatchObject({ reservoirVersion: 4, index: -1 });
  });

  it('B18: startingVersion, startingTimestamp and latest say where a stream of appended rows begins', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('t6')} (id INT) USING delta`);
    for (const id of [1, 2, 3]) await sql(`INSERT INTO ${at('t6')} VALUES (${id})`);
    const ids = async (options: Readonly<Record<string, string | number>>, checkpoint: string): Promise<readonly unknown[]> => {
      const { batches } = await drain(stream('t6', options), checkpoint);
      return [...batches.values()].flat().map((row) => row['id']);
    };
    expect(await ids({ startingVersion: 2 }, 'c6a')).toEqual([2, 3]);
    const [version] = await sql(`DESCRIBE HISTORY ${at('t6')} LIMIT 1`);
    expect(await ids({ startingTimestamp: textIn(version, 'timestamp') }, 'c6b')).toEqual([3]);
    expect(await ids({ startingVersion: 'latest' }, 'c6c')).toEqual([]);
    await sql(`INSERT INTO ${at('t6')} VALUES (4)`);
    expect(await ids({ startingVersion: 'latest' }, 'c6c')).toEqual([4]);
  });

  it('B18: a stream of appended rows refuses updates and deletes, and passes them over when told to', async () => {
    await tableOfChanges('t7');
    const { sql, at } = bench();
    const run = (options: Readonly<Record<string, string | number>>, checkpoint: string): Promise<Ran> =>
      drain(stream('t7', { startingVersion: 0, ...options }), checkpoint);
    await expect(run({}, 'c7a')).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
      cause: { errorClass: 'DELTA_SOURCE_TABLE_IGNORE_CHANGES', message: expect.stringContaining('UPDATE') as string },
    });
    const skipped = await run({ skipChangeCommits: 'true' }, 'c7b');
    expect([...skipped.batches.values()].flat()).toHaveLength(2);
    const rewritten = await run({ ignoreChanges: 'true' }, 'c7c');
    expect([...rewritten.batches.values()].flat().length).toBeGreaterThan(2);
    await sql(`DELETE FROM ${at('t7')}`);
    await expect(drain(stream('t7', { startingVersion: 3 }), 'c7d')).rejects.toMatchObject({
      cause: { errorClass: 'DELTA_SOURCE_IGNORE_DELETE' },
    });
    const ignoring = await drain(stream('t7', { startingVersion: 3, ignoreDeletes: 'true' }), 'c7e');
    expect([...ignoring.batches.values()].flat()).toEqual([]);
  });

  it('B18: a start beyond the history fails the query, naming the versions', async () => {
    await tableOfChanges('t8');
    await expect(drain(stream('t8', { startingVersion: 50 }), 'c8')).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
      cause: {
        errorClass: 'DELTA_VERSION_NOT_FOUND',
        message: 'Cannot time travel Delta table to version 50. Available versions: [0, 2].',
      },
    });
  });

  it('B18: a processing time trigger goes on until it is stopped', async () => {
    const { session, sql, at, path } = bench();
    await tableOfChanges('t9');
    const query = await session.readStream
      .format('delta')
      .load(path('t9'))
      .writeStream.format('memory')
      .queryName('live')
      .trigger({ processingTime: '100 milliseconds' })
      .start();
    await query.processAllAvailable();
    expect(await session.table('live').count()).toBe(2);
    await sql(`INSERT INTO ${at('t9')} VALUES (3, 'c')`);
    await query.processAllAvailable();
    expect(await session.table('live').count()).toBe(3);
    expect(query.isActive).toBe(true);
    expect(await query.awaitTermination(10)).toBe(false);
    await query.stop();
    expect(query.isActive).toBe(false);
    expect(query.exception()).toBeUndefined();
    expect(query.status.message).toBe('Stopped');
  });
});

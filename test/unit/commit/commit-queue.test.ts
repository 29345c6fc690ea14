import { describe, expect, it } from 'vitest';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { TopicIdentities } from '../../../src/app/topic-identities.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { type Failpoint, inertFailpoint } from '../../../src/base/failpoint.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { CommitQueue, type CommitQueueDependencies } from '../../../src/commit/commit-queue.ts';
import { DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import { parseAccounting } from '../../../src/protocol/commit-accounting.ts';
import type { BatchStager, RejectedRecord, SealedBatch, StageResult } from '../../../src/protocol/sealed-batch.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { CommitBench, writer } from './commit-bench.ts';

const never = new AbortController().signal;

/** The batch of `[from, until)`; the one from 0 expects a table without a mark. */
function batch(from: bigint, until: bigint): SealedBatch {
  const expectedMark = from === 0n ? undefined : from;
  return {
    table: 'orders',
    sequence: 0,
    bytes: new ArrayBuffer(0),
    recordBatches: [],
    ranges: [{ topic: 'orders', partition: 0, from, until, writerId: writer, expectedMark }],
    recordCount: Number(until - from),
    sealedBy: 'rows',
    openedAtMs: 0,
    maxTimestampMs: 0,
  };
}

const reject: RejectedRecord = {
  topic: 'orders',
  partition: 0,
  offset: 3n,
  timestampMs: 0,
  key: undefined,
  value: undefined,
  headers: [],
  reason: 'null-value',
  message: 'the record has no value',
};

/** Stages one row an offset; each batch waits until the test lets it go on, if it holds it. */
class HeldStager implements BatchStager {
  readonly #held = new Map<bigint, { readonly promise: Promise<void>; readonly release: () => void }>();
  rejects: readonly RejectedRecord[] = [];

  hold(from: bigint): () => void {
    let release = (): void => undefined;
    const promise = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#held.set(from, { promise, release });
    return release;
  }

  async stage(task: { readonly batch: SealedBatch; readonly fileNameStem: string }): Promise<StageResult> {
    const [range] = task.batch.ranges;
    if (range === undefined) throw new TypeError('a batch has a range');
    await this.#held.get(range.from)?.promise;
    const rowCount = Number(range.until - range.from) - this.rejects.length;
    const file = { path: `${task.fileNameStem}.parquet`, partitionValues: {}, sizeBytes: 10, rowCount, modifiedMs: 1, statistics: [] };
    const timings = { decodeMs: 0, transformMs: 0, encodeMs: 0, storeMs: 0 };
    const rows = { files: [file], rowCount, recordsWithRows: rowCount };
    return { ...rows, rejects: this.rejects, passedOver: {}, unreadMembers: 0, unmet: {}, recordsByTopic: {}, timings };
  }
}

async function pipelineOn(bench: CommitBench, stager: BatchStager, parts: Partial<CommitQueueDependencies> = {}): Promise<CommitQueue> {
  const { table, committer } = await bench.committer();
  return new CommitQueue({
    table,
    committer,
    stager,
    deadLetters: { write: (_table, rejects) => Promise.resolve({ deadLettered: rejects.length, filtered: 0 }) },
    decodeSpecFor: () => ({ sources: [], unknownMembers: 'ignore' }),
    pipeline: 'p',
    ids: bench.ids,
    clock: bench.clock,
    failpoint: inertFailpoint,
    observer: bench.observer,
    events: new LocalTableEvents(bench.clock),
    ...parts,
  });
}

async function rangesInTable(bench: CommitBench): Promise<readonly string[]> {
  const history = await (await bench.other()).history({});
  return [...history]
    .reverse()
    .flatMap((entry) => parseAccounting(entry.userMetadata)?.ranges ?? [])
    .map(({ from, until }) => `${from}-${until}`);
}

describe('the commit queue', () => {
  it('commits batches in the order they were submitted, whichever is staged first', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    const pipeline = await pipelineOn(bench, stager);
    const release = stager.hold(0n);
    const first = pipeline.submit(batch(0n, 5n), never);
    const second = pipeline.submit(batch(5n, 6n), never);
    release();
    expect(await Promise.all([first, second])).toEqual([
      { kind: 'committed', version: 1, rowCount: 5, rejectedCount: 0 },
      { kind: 'committed', version: 2, rowCount: 1, rejectedCount: 0 },
    ]);
    expect(await rangesInTable(bench)).toEqual(['0-5', '5-6']);
  });

  it('discards with a stale batch all that were submitted before its end was known, and takes those submitted after it', async () => {
    const bench = new CommitBench();
    const pipeline = await pipelineOn(bench, new HeldStager());
    await bench.foreignVersion({ from: undefined, until: 4n });
    const outcomes = await Promise.all([
      pipeline.submit(batch(0n, 5n), never),
      pipeline.submit(batch(5n, 6n), never),
      pipeline.submit(batch(6n, 7n), never),
    ]);
    expect(outcomes).toEqual([1, 2, 3].map(() => ({ kind: 'discarded', reason: 'progress-moved' })));
    expect([...(await pipeline.progressStartingWith('p:')).values()]).toEqual([4n]);
    expect(await pipeline.submit(batch(4n, 9n), never)).toMatchObject({ kind: 'committed' });
    expect(await rangesInTable(bench)).toEqual(['4-9']);
    expect(bench.log.filter((entry) => entry === 'discarded')).toHaveLength(3);
  });

  it('reads marks only when every batch submitted before has its outcome', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    const pipeline = await pipelineOn(bench, stager);
    const release = stager.hold(0n);
    const submitted = pipeline.submit(batch(0n, 5n), never);
    const marks = pipeline.progressStartingWith('p:');
    release();
    expect([...(await marks)]).toEqual([[writer, 5n]]);
    await submitted;
  });

  it('discards a batch that is revoked while it is staged', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    const pipeline = await pipelineOn(bench, stager);
    const release = stager.hold(0n);
    const revoked = new AbortController();
    const submitted = pipeline.submit(batch(0n, 5n), revoked.signal);
    revoked.abort();
    release();
    expect(await submitted).toEqual({ kind: 'discarded', reason: 'revoked' });
    expect(await rangesInTable(bench)).toEqual([]);
  });

  it('sees a commit through that began before its partitions were revoked', async () => {
    const bench = new CommitBench();
    const pipeline = await pipelineOn(bench, new HeldStager());
    const revoked = new AbortController();
    bench.beforePut = () => {
      revoked.abort();
      return Promise.resolve();
    };
    expect(await pipeline.submit(batch(0n, 5n), revoked.signal)).toMatchObject({ kind: 'committed', version: 1 });
  });

  it('stores dead letters before the commit that covers them, and counts them in it', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    stager.rejects = [reject];
    const order: string[] = [];
    const deadLetters: CommitQueueDependencies['deadLetters'] = {
      write: async (_table, rejects) => {
        await Promise.resolve();
        order.push(`dead letter ${rejects[0]?.offset ?? '-'}`);
        return { deadLettered: 1, filtered: 0 };
      },
    };
    const pipeline = await pipelineOn(bench, stager, { deadLetters });
    bench.beforePut = () => {
      order.push('commit');
      return Promise.resolve();
    };
    expect(await pipeline.submit(batch(0n, 5n), never)).toMatchObject({ kind: 'committed', rowCount: 4, rejectedCount: 1 });
    expect(order).toEqual(['dead letter 3', 'commit']);
    const [newest] = await (await bench.other()).history({ limit: 1 });
    expect(parseAccounting(newest?.userMetadata)).toMatchObject({ records: 5, rows: 4, deadLettered: 1, filtered: 0 });
  });

  it('commits nothing when the dead letters cannot be stored', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    stager.rejects = [reject];
    const lost = new ServiceError({ code: 'KAFKA_UNAVAILABLE', kind: 'unavailable', message: 'no broker' });
    const pipeline = await pipelineOn(bench, stager, { deadLetters: { write: () => Promise.reject(lost) } });
    await expect(pipeline.submit(batch(0n, 5n), never)).rejects.toBe(lost);
    expect(await rangesInTable(bench)).toEqual([]);
  });

  it('stands before the first record that does not fit when the policy is to suspend', async () => {
    const bench = new CommitBench();
    const stager = new HeldStager();
    stager.rejects = [reject];
    const kafka = new MemoryBroker({ clock: bench.clock, random: new SeededRandom(1) }).client('test');
    const identities = new TopicIdentities({ admin: kafka.admin, pipeline: 'p' });
    const names = { topic: 'dead', partitions: 1, pipeline: 'p', table: 'orders' };
    const options = { policy: 'suspend', oversize: 'truncate', ...names, identities, kafka, clock: bench.clock } as const;
    const pipeline = await pipelineOn(bench, stager, { deadLetters: new DeadLetterTopic(options) });
    await expect(pipeline.submit(batch(0n, 5n), never)).rejects.toMatchObject({ code: 'INGEST_SUSPENDED', context: { offset: 3n } });
    expect(await rangesInTable(bench)).toEqual([]);
  });

  it('does not commit a batch after one whose staging failed', async () => {
    const bench = new CommitBench();
    const failing: BatchStager = {
      stage: () => Promise.reject(new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: 'no storage' })),
    };
    const good = new HeldStager();
    let calls = 0;
    const stager: BatchStager = { stage: (task, signal) => ((calls += 1) === 1 ? failing : good).stage(task, signal) };
    const pipeline = await pipelineOn(bench, stager);
    const first = pipeline.submit(batch(0n, 5n), never);
    const second = pipeline.submit(batch(5n, 6n), never);
    await expect(first).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await second).toEqual({ kind: 'discarded', reason: 'progress-moved' });
  });

  it('passes its failpoints around the commit', async () => {
    const bench = new CommitBench();
    const passed: string[] = [];
    const failpoint: Failpoint = (name) => {
      passed.push(name);
      return Promise.resolve();
    };
    const pipeline = await pipelineOn(bench, new HeldStager(), { failpoint });
    bench.beforePut = () => failpoint('commit-applied');
    await pipeline.submit(batch(0n, 5n), never);
    expect(passed).toEqual(['before-commit', 'commit-applied', 'before-group-offsets']);
  });
});

import { describe, expect, it } from 'vitest';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { TopicIdentities } from '../../../src/app/topic-identities.ts';
import { InThreadBatchStager } from '../../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../../src/base/clock.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { auditHistory } from '../../../src/commit/audit.ts';
import { silentCommitObserver } from '../../../src/commit/commit-observer.ts';
import { CommitQueue } from '../../../src/commit/commit-queue.ts';
import { TableCommitter } from '../../../src/commit/table-committer.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import { TableIngest } from '../../../src/ingest/table-ingest.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { silentIngestObserver } from '../../support/silent-observers.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('the way of a record from topic to table', () => {
  it('puts every record that fits into the table once, the others into the dead-letter topic, and survives a restart', async () => {
    const clock = new SimulatedClock();
    const random = new SeededRandom(7);
    const ids = new RandomIdSource(random);
    const broker = new MemoryBroker({ clock, random });
    const kafka = broker.client('main');
    const store = new MemoryObjectStore({ name: 'orders', clock });
    const openStore = (): MemoryObjectStore => store;
    await kafka.admin.ensureTopics([
      { topic: 'orders', partitions: 2 },
      { topic: 'dlq', partitions: 1 },
    ]);
    const producer = await kafka.producer();
    const produce = async (from: number, until: number): Promise<void> => {
      for (const partition of [0, 1]) {
        const records = Array.from({ length: until - from }, (_, index) => ({
          value: text(index % 10 === 9 ? '{"id":"poison"' : `{"id":${from + index},"city":"c${index % 3}"}`),
          timestampMs: toEpochMs(0),
        }));
        await producer.send([encodeRecordBatch({ topic: 'orders', partition, records })]);
      }
    };
    await produce(0, 100);

    const tables = new DeltaTables({ openStore, clock, random, ids, version: 'test', rewriter: new ParquetFileRewriter({ openStore }) });
    const definition = {
      schema: {
        kind: 'struct',
        fields: [
          { name: 'id', type: { kind: 'long' }, nullable: false },
          { name: 'city', type: { kind: 'string' }, nullable: true },
        ],
      },
      partitionColumns: [],
      properties: { 'delta.enableChangeDataFeed': 'true' },
    } as const;
    const table = await tables.create('orders', 'memory://orders', definition);

    const run = async (): Promise<void> => {
      const own = await tables.open('orders', 'memory://orders');
      if (own === undefined) throw new TypeError('the table exists');
      const identities = new TopicIdentities({ admin: kafka.admin, pipeline: 'p' });
      const settings = { maxRebaseAttempts: 5, verifyTimeoutMs: 1000, backoff: { initialMs: 10, maxMs: 100 } };
      const sink = new CommitQueue({
        table: own,
        committer: new TableCommitter({ table: own, clock, random, observer: silentCommitObserver, settings }),
        stager: new InThreadBatchStager({ openStore, clock, failpoint: inertFailpoint, maxNestingDepth: 64 }),
        deadLetters: new DeadLetterTopic({
          policy: 'dead-letter',
          oversize: 'truncate',
          topic: 'dlq',
          partitions: 1,
          pipeline: 'p',
          table: 'orders',
          kafka,
          clock,
        }),
        decodeSpecFor: () => ({
          sources: [
            { kind: 'value', name: 'id' },
            { kind: 'value', name: 'city' },
          ],
          unknownMembers: 'ignore',
        }),
        pipeline: 'p',
        ids,
        clock,
        failpoint: inertFailpoint,
        observer: silentCommitObserver,
        events: new LocalTableEvents(clock),
      });
      const ingest = new TableIngest({
        settings: {
          pipeline: 'p',
          table: 'orders',
          topics: ['orders'],
          groupId: 'g',
          maxBatchRows: 30,
          maxBatchBytes: 1 << 20,
          maxBatchAgeMs: 100,
          maxBufferBytes: 1 << 20,
          maxFetchBytes: 1 << 20,
          maxFetchWaitMs: 50,
          sessionTimeoutMs: 30_000,
          onOffsetDiscontinuity: 'fail',
          startFrom: 'earliest',
        },
        kafka,
        sink,
        identities,
        awaitedTopics: new Set(),
        clock,
        failpoint: inertFailpoint,
        observer: silentIngestObserver,
      });
      const stop = new AbortController();
      let ended = false;
      const running = ingest.run(stop.signal).finally(() => {
        ended = true;
      });
      await clock.runUntil(() => false, clock.monotonicMs() + 2_000);
      stop.abort();
      await clock.runUntil(() => ended, clock.monotonicMs() + 60_000);
      await running;
    };
    await run();
    await produce(100, 150);
    await run();

    const snapshot = await table.refresh();
    expect(snapshot.rowCount).toBe(2 * (90 + 45));
    const history = [...(await table.history({}))].reverse();
    const report = auditHistory(history);
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({ records: 300, rows: 270, deadLettered: 30 });
    expect([...report.offsets]).toEqual([
      ['orders:0', 150n],
      ['orders:1', 150n],
    ]);
    const dead: bigint[] = [];
    const [{ latest: until } = { latest: 0n }] = await kafka.admin.offsets('dlq');
    for await (const { offset } of kafka.readPartition({ topic: 'dlq', partition: 0, from: 0n, until })) dead.push(offset);
    expect(dead).toHaveLength(30);
  });
});

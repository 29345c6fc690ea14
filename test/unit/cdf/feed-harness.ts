import { setImmediate } from 'node:timers/promises';
import { abortedError } from '../../../src/base/abort.ts';
import { type Failpoint, inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { RegisteringEncoder } from '../../../src/cdf/encoding/registering-encoder.ts';
import { Feed } from '../../../src/cdf/feed.ts';
import type { FeedObserver } from '../../../src/cdf/feed-observer.ts';
import { FeedOperator } from '../../../src/cdf/feed-operator.ts';
import type { FeedStatus } from '../../../src/cdf/feed-parts.ts';
import { type FeedReset, planReset, type ResetTarget } from '../../../src/cdf/feed-reset.ts';
import { type FeedSpec, feedIdOf } from '../../../src/cdf/feed-spec.ts';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import type { KafkaClient, KafkaRecord } from '../../../src/kafka/client.ts';
import { plainRecords } from '../../../src/protocol/change-event.ts';
import type { TableEvents } from '../../../src/protocol/table-events.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { noEngine } from '../../support/no-engine.ts';
import { silentFeedObserver } from '../../support/silent-observers.ts';
import { StepClock } from '../../support/step-clock.ts';
import { ChangeTable } from './change-table.ts';
import { MemorySubjects } from './memory-subjects.ts';

export const feedSpec: FeedSpec = {
  pipeline: 'demo',
  table: 'orders',
  name: 'cdf.orders',
  topic: 'cdf.orders',
  positionsTopic: 'cdf._positions',
  envelope: 'debezium',
  records: plainRecords,
  schemas: false,
  select: [],
  where: undefined,
  keyColumns: ['id'],
  partitions: 2,
  replicationFactor: undefined,
  topicConfig: {},
  start: { kind: 'earliest' },
  onGap: 'fail',
  onLostPosition: 'fail',
  onTopicReplaced: 'fail',
  onTableReplaced: 'fail',
  schemaChanges: undefined,
  transactions: undefined,
  truncate: 'rows',
  compression: 'none',
  maxTransactionRows: 3,
  maxTransactionBytes: 1_000_000,
  snapshotMaxRowsPerSecond: undefined,
  heartbeatIntervalMs: undefined,
  heartbeatTopic: 'cdf._heartbeats',
  pollIntervalMs: 1000,
  tombstones: true,
};

/** Sleeping takes no real time, but lets everything else go on first: a loop that waits must not starve what it waits for. */
class YieldingClock extends StepClock {
  override async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(durationMs, signal);
    await setImmediate();
  }
}

/** Wakes at commits only: a test that depends on the poll interval would hang. */
class CommitEvents implements TableEvents {
  readonly #waiters = new Set<() => void>();

  committed(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }

  waitForCommit(_table: string, _timeoutMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) reject(abortedError(signal));
      this.#waiters.add(resolve);
      signal?.addEventListener('abort', () => {
        this.#waiters.delete(resolve);
        reject(abortedError(signal));
      });
    });
  }
}

export interface RunningFeed {
  readonly feed: Feed;
  readonly ended: Promise<FeedStatus>;
  readonly log: string[];
  /** Aborts and answers the final status. */
  stop(): Promise<FeedStatus>;
}

/** One table, one broker and any number of feeds between them. */
export class FeedHarness {
  readonly table: ChangeTable = new ChangeTable();
  readonly clock: StepClock = new YieldingClock();
  readonly events: TableEvents = new CommitEvents();
  readonly broker: MemoryBroker;
  readonly subjects: MemorySubjects = new MemorySubjects();
  readonly reader: KafkaClient;
  openEngine: OpenEngine = noEngine;
  brokerFailpoint: Failpoint = inertFailpoint;
  #clients = 0;

  constructor() {
    const random = new SeededRandom(1);
    this.broker = new MemoryBroker({ clock: this.clock, random, failpoint: (name) => this.brokerFailpoint(name) });
    this.reader = this.broker.client('reader');
  }

  start(spec: Partial<FeedSpec> = {}, failpoint: Failpoint = inertFailpoint, observer?: FeedObserver): RunningFeed {
    this.#clients += 1;
    const random = new SeededRandom(this.#clients);
    const log: string[] = [];
    const feed = new Feed({
      spec: { ...feedSpec, name: spec.topic ?? feedSpec.name, ...spec },
      table: this.table,
      client: this.broker.client(`feed-${this.#clients}`),
      encoder: new RegisteringEncoder(
        new ParquetChangeEncoder({ openStore: this.table.openStore, openEngine: this.openEngine }),
        this.subjects,
      ),
      subjects: this.subjects,
      events: this.events,
      observer: observer ?? loggingObserver(log),
      clock: this.clock,
      random,
      ids: new RandomIdSource(random),
      failpoint,
    });
    const controller = new AbortController();
    const ended = feed.run(controller.signal);
    return {
      feed,
      ended,
      log,
      stop: () => {
        controller.abort();
        return ended;
      },
    };
  }

  /** The process of the newest feed dies at the next request. */
  crashNewest(): void {
    this.broker.crashClient(`feed-${this.#clients}`);
  }

  /** Runs a feed until the table's newest version is published. */
  async catchUp(spec: Partial<FeedSpec> = {}): Promise<RunningFeed> {
    const running = this.start(spec);
    await running.feed.drain(this.table.latestVersion);
    await running.stop();
    return running;
  }

  /** As an operator does. */
  async reset(target: ResetTarget, more: Partial<FeedSpec> = {}): Promise<FeedReset> {
    const spec = { ...feedSpec, ...more };
    const parts = { client: this.broker.client('operator'), clock: this.clock, ids: new RandomIdSource(new SeededRandom(9)) };
    const operator = new FeedOperator(parts);
    const from = (await operator.stored(spec.positionsTopic)).get(feedIdOf(spec))?.stored?.position;
    const plan = await planReset({ spec, table: this.table, target, from });
    await operator.reset(spec, plan.to);
    return plan;
  }

  /** What read_committed consumers see, partition by partition. */
  async published(topic: string = feedSpec.topic): Promise<readonly KafkaRecord[]> {
    const records: KafkaRecord[] = [];
    for (const { partition, earliest, latest } of await this.reader.admin.offsets(topic)) {
      const range = { topic, partition, from: earliest, until: latest };
      for await (const record of this.reader.readPartition(range)) records.push(record);
    }
    return records;
  }

  /** The same without offsets, which transaction markers shift: partition, key, value and headers as text. */
  async publishedTexts(): Promise<readonly string[]> {
    return (await this.published()).map((record) => {
      const headers = record.headers.map(([name, value]) => `${name}=${text(value)}`).join(' ');
      return `${record.partition} ${text(record.key)} ${text(record.value)} ${headers}`;
    });
  }
}

/** Four versions: an insert of five rows, maintenance, changes of all kinds, an insert. */
export async function fillTable(harness: FeedHarness): Promise<void> {
  const { table } = harness;
  await table.commit([{ kind: 'insert', rows: [1, 2, 3, 4, 5].map((id) => ({ id, name: `v0-${id}` })) }]);
  await table.commit([]);
  await table.commit([
    {
      kind: 'recorded',
      rows: [
        { id: 1, name: 'v0-1', _change_type: 'update_preimage' },
        { id: 1, name: 'v2-1', _change_type: 'update_postimage' },
        { id: 2, name: 'v0-2', _change_type: 'delete' },
      ],
    },
    { kind: 'recorded', rows: [{ id: 6, name: 'v2-6', _change_type: 'insert' }] },
  ]);
  await table.commit([{ kind: 'insert', rows: [{ id: 7, name: 'v3-7' }] }]);
}

export function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'null' : Buffer.from(bytes).toString();
}

function loggingObserver(log: string[]): FeedObserver {
  return {
    ...silentFeedObserver,
    state: (state) => log.push(state),
    transaction: (result) => log.push(`transaction ${result}`),
    resolved: (as) => log.push(`resolved ${as}`),
    lost: ({ policy }) => log.push(`lost ${policy}`),
    recovered: ({ version, ordinal }) => log.push(`recovered ${version}.${ordinal}`),
    replaced: ({ policy }) => log.push(`replaced ${policy}`),
    gap: (gap) => log.push(`gap ${gap.version} ${gap.policy}`),
  };
}

import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { Feed } from '../../../src/cdf/feed.ts';
import type { FeedStatus } from '../../../src/cdf/feed-parts.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import { otherFileRows } from '../../../src/iceberg/pipeline/other-file-rows.ts';
import type { KafkaRecord } from '../../../src/kafka/client.ts';
import { plainRecords } from '../../../src/protocol/change-event.ts';
import type { OpenObjectStore } from '../../../src/storage/object-store.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { Table } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { noEngine } from '../../support/no-engine.ts';
import { silentFeedObserver } from '../../support/silent-observers.ts';

export const feedSpec: FeedSpec = {
  pipeline: 'demo',
  table: 't',
  name: 'cdf.t',
  topic: 'cdf.t',
  positionsTopic: 'cdf._positions',
  envelope: 'flat',
  records: plainRecords,
  schemas: false,
  select: [],
  where: undefined,
  keyColumns: [],
  partitions: 1,
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
  maxTransactionRows: 100,
  maxTransactionBytes: 1_000_000,
  snapshotMaxRowsPerSecond: undefined,
  heartbeatIntervalMs: undefined,
  heartbeatTopic: 'cdf._heartbeats',
  pollIntervalMs: 20,
  tombstones: false,
};

export interface FeedBench {
  /** Runs a feed until `version` is published or it ends; `transactions`: until it has published so many. */
  readonly publish: (version: number, onGap?: FeedSpec['onGap'], more?: Partial<FeedSpec>, transactions?: number) => Promise<FeedStatus>;
  readonly deleteTopic: (topic: string) => Promise<void>;
  /** The values of the feed's topic, without times. */
  readonly published: () => Promise<readonly string[]>;
  /** What consumers of committed records see of a topic, partition 0. */
  readonly records: (topic: string) => Promise<readonly KafkaRecord[]>;
}

async function recordsIn(broker: MemoryBroker, topic: string): Promise<readonly KafkaRecord[]> {
  const reader = broker.client('reader');
  const [{ latest } = { latest: 0n }] = await reader.admin.offsets(topic);
  const records: KafkaRecord[] = [];
  for await (const record of reader.readPartition({ topic, partition: 0, from: 0n, until: latest })) records.push(record);
  return records;
}

/** Feeds of one table, one after the other, on a broker of their own; each has the table that `open` gives it. */
export function feedBench(
  open: () => Promise<Table>,
  {
    openEngine = noEngine,
    openStore = openObjectStore,
    maxHeldBytes,
  }: { readonly openEngine?: OpenEngine; readonly openStore?: OpenObjectStore; readonly maxHeldBytes?: number } = {},
): FeedBench {
  const spec = feedSpec;
  const clock = new SystemClock();
  const random = new SeededRandom(1);
  const broker = new MemoryBroker({ clock, random });
  let clients = 0;
  return {
    deleteTopic: (topic) => broker.client('operator').admin.deleteTopic(topic),
    publish: async (version, onGap = 'fail', more = {}, transactions = Number.POSITIVE_INFINITY) => {
      clients += 1;
      const stop = new AbortController();
      let left = transactions;
      const feed = new Feed({
        spec: { ...spec, onGap, ...more },
        table: await open(),
        client: broker.client(`feed-${clients}`),
        encoder: new ParquetChangeEncoder({ openStore, openEngine, readOther: otherFileRows, maxHeldBytes }),
        events: new LocalTableEvents(clock),
        observer: silentFeedObserver,
        clock,
        random,
        ids: new RandomIdSource(random),
        failpoint: (name) => {
          if (name === 'after-transaction') left -= 1;
          if (left === 0) stop.abort();
          return Promise.resolve();
        },
      });
      const ended = feed.run(stop.signal);
      await Promise.race([feed.drain(toVersion(version)).catch(() => undefined), ended]);
      stop.abort();
      return ended;
    },
    records: (topic) => recordsIn(broker, topic),
    published: async () =>
      (await recordsIn(broker, spec.topic)).map(({ value }) => {
        const text = value === undefined ? '' : Buffer.from(value).toString();
        return text.replace(/,"_commit_timestamp":"[^"]*"/, '');
      }),
  };
}

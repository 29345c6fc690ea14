import { afterEach, describe, expect, it } from 'vitest';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { Feed } from '../../../src/cdf/feed.ts';
import { silentFeedObserver } from '../../../src/cdf/feed-observer.ts';
import type { FeedStatus } from '../../../src/cdf/feed-parts.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import { MemoryBroker } from '../../../src/kafka/memory/memory-broker.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { toVersion } from '../../../src/table/version.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';

const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] } as const;
const spec: FeedSpec = {
  pipeline: 'demo',
  table: 't',
  topic: 'cdf.t',
  positionsTopic: 'cdf._positions',
  envelope: 'flat',
  keyColumns: [],
  partitions: 1,
  replicationFactor: undefined,
  topicConfig: {},
  start: { kind: 'earliest' },
  onGap: 'fail',
  onLostPosition: 'fail',
  onTopicReplaced: 'fail',
  compression: 'none',
  maxTransactionRows: 100,
  maxTransactionBytes: 1_000_000,
  pollIntervalMs: 20,
  tombstones: false,
};

describe('a feed of an Iceberg table', () => {
  const clock = new SystemClock();
  const open: PipelineTable[] = [];
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  interface Bench {
    readonly made: PipelineTable;
    /** Runs a feed until `version` is published or it ends. */
    readonly publish: (version: number, onGap?: FeedSpec['onGap'], more?: Partial<FeedSpec>) => Promise<FeedStatus>;
    readonly deleteTopic: (topic: string) => Promise<void>;
    readonly published: () => Promise<readonly string[]>;
  }

  async function bench(): Promise<Bench> {
    const made = await PipelineTable.create({ schema, properties: {} });
    open.push(made);
    const random = new SeededRandom(1);
    const broker = new MemoryBroker({ clock, random });
    let clients = 0;
    return {
      made,
      deleteTopic: (topic) => broker.client('operator').admin.deleteTopic(topic),
      publish: async (version, onGap = 'fail', more = {}) => {
        clients += 1;
        const feed = new Feed({
          spec: { ...spec, onGap, ...more },
          table: made.table,
          client: broker.client(`feed-${clients}`),
          encoder: new ParquetChangeEncoder({ openStore: openObjectStore }),
          events: new LocalTableEvents(clock),
          observer: silentFeedObserver,
          clock,
          random,
          ids: new RandomIdSource(random),
          failpoint: inertFailpoint,
        });
        const stop = new AbortController();
        const ended = feed.run(stop.signal);
        await Promise.race([feed.drain(toVersion(version)).catch(() => undefined), ended]);
        stop.abort();
        return ended;
      },
      published: async () => {
        const values: string[] = [];
        const reader = broker.client('reader');
        const [{ latest } = { latest: 0n }] = await reader.admin.offsets(spec.topic);
        for await (const { value } of reader.readPartition({ topic: spec.topic, partition: 0, from: 0n, until: latest })) {
          values.push(
            value === undefined
              ? ''
              : Buffer.from(value)
                  .toString()
                  .replace(/,"_commit_timestamp":"[^"]*"/, ''),
          );
        }
        return values;
      },
    };
  }

  const inserted = (id: number, version: number): string => `{"id":${id},"_change_type":"insert","_commit_version":${version}}`;

  it('begins with a table that nothing was ever written to', async () => {
    const { made, publish, published } = await bench();
    expect(await publish(0)).toMatchObject({ state: 'stopped', position: { version: 0, complete: true } });
    await made.append([{ id: 1n }]);
    expect(await publish(1)).toMatchObject({ state: 'stopped', position: { version: 1 } });
    expect(await published()).toEqual([inserted(1, 1)]);
  });

  it('stands still, loudly, when the table was rolled back to before what is published', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    expect(await publish(3)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK', kind: 'discontinuity' } });
    await made.append([{ id: 3n }]);
    expect(await publish(3)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2)]);
  });

  it('goes on with what comes after a rollback when it is told to skip', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    expect(await publish(3, 'skip')).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 3)]);
  });

  it('publishes the rows again after a rollback when it is told to', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    expect(await publish(3, 'resnapshot')).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(1, 3), inserted(3, 3)]);
  });

  it('goes on exactly where it stood when its position is lost and it is told to recover', async () => {
    const { made, publish, deleteTopic, published } = await bench();
    await made.append([{ id: 1n }]);
    await made.append([{ id: 2n }]);
    await publish(2);
    await deleteTopic(spec.positionsTopic);
    await made.append([{ id: 3n }]);
    expect(await publish(3)).toMatchObject({ state: 'lost', error: { code: 'FEED_POSITION_LOST' } });
    const recovered = await publish(3, 'fail', { onLostPosition: 'recover' });
    expect(recovered).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 3)]);
  });

  it('sees a rollback although its position was lost, because the records tell the snapshot they are of', async () => {
    const { made, publish, deleteTopic } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await deleteTopic(spec.positionsTopic);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    const status = await publish(3, 'fail', { onLostPosition: 'recover' });
    expect(status).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
  });

  it('stands still when its topic was deleted, and fills the new one as it is told', async () => {
    const { made, publish, deleteTopic, published } = await bench();
    await made.append([{ id: 1n }]);
    await publish(1);
    await deleteTopic(spec.topic);
    await made.append([{ id: 2n }]);
    expect(await publish(2)).toMatchObject({ state: 'replaced', error: { code: 'FEED_TOPIC_REPLACED' } });
    await publish(2, 'fail', { onTopicReplaced: 'continue' });
    expect(await published()).toEqual([inserted(2, 2)]);
    await deleteTopic(spec.topic);
    await publish(2, 'fail', { onTopicReplaced: 'resnapshot' });
    expect(await published()).toEqual([inserted(1, 2), inserted(2, 2)]);
  });

  it('passes rewrites and goes on behind them', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    await made.append([{ id: 2n }]);
    await made.table.compact(await made.table.planCompaction({ targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 1 }));
    await made.append([{ id: 3n }]);
    expect(await publish(4)).toMatchObject({ state: 'stopped', position: { version: 4, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 4)]);
  });
});

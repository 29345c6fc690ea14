import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../../src/base/failpoint.ts';
import type { FeedSpec } from '../../../../src/cdf/feed-spec.ts';
import { plainRecords } from '../../../../src/protocol/change-event.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';
import { FeedHarness, fillTable, text } from '../feed-harness.ts';
import { metadataOf, until } from './metadata-values.ts';

const topic = 'cdf.transaction';
const spec: Partial<FeedSpec> = { transactions: { topic }, partitions: 1, maxTransactionRows: 2 };

async function filled(more: Partial<FeedSpec> = {}): Promise<FeedHarness> {
  const harness = new FeedHarness();
  await fillTable(harness);
  await harness.catchUp({ ...spec, ...more });
  return harness;
}

const begin = (version: number): unknown => ({
  key: { id: `orders:${version}` },
  value: { status: 'BEGIN', id: `orders:${version}`, ts_ms: 1_700_000_000_000 + version * 1000 },
});
const end = (version: number, count: number): unknown => ({
  key: { id: `orders:${version}` },
  value: {
    status: 'END',
    id: `orders:${version}`,
    event_count: count,
    data_collections: [{ data_collection: 'default.orders', event_count: count }],
    ts_ms: 1_700_000_000_000 + version * 1000,
  },
});
/** Version 1 is maintenance. */
const marks = [begin(0), end(0, 5), begin(2), end(2, 3), begin(3), end(3, 1)];

/** Ordinal and transaction of each event in the debezium envelope. */
async function blocksOf(harness: FeedHarness): Promise<readonly unknown[]> {
  const values = (await harness.published()).map(({ value }) => text(value)).filter((value) => value !== 'null');
  return values.map((value) => {
    const { source, transaction } = JSON.parse(value) as { readonly source: { readonly seq: number }; readonly transaction: unknown };
    return [source.seq, transaction];
  });
}

describe('transactions', () => {
  let shared: TestEngine;
  beforeAll(async () => {
    shared = await openTestEngine();
  });
  afterAll(() => shared.close());

  it.each([1, 2, 1000])(
    'begin once and end once for each version with events, in Kafka transactions of %i rows',
    async (maxTransactionRows) => {
      const harness = await filled({ maxTransactionRows });
      expect(await metadataOf(harness, topic)).toEqual(marks);
    },
  );

  it('number the events of a version without gaps, beside the ordinals of rows', async () => {
    const harness = await filled();
    const block = (version: number, order: number): unknown => ({
      id: `orders:${version}`,
      total_order: order,
      data_collection_order: order,
    });
    expect(await blocksOf(harness)).toEqual([
      ...[0, 1, 2, 3, 4].map((seq) => [seq, block(0, seq + 1)]),
      [0, block(2, 1)],
      [1, block(2, 2)],
      [3, block(2, 3)],
      [0, block(3, 1)],
    ]);
  });

  const failpoints: readonly FailpointName[] = [
    'before-transaction',
    'within-transaction',
    'before-transaction-end',
    'transaction-end-applied',
    'after-transaction',
  ];
  it.each(failpoints)('begin and end once when the process dies at %s, at any run', async (armed) => {
    for (let survived = 0; survived < 6; survived++) {
      const harness = new FeedHarness();
      await fillTable(harness);
      let visits = 0;
      const die = (name: FailpointName): Promise<void> => {
        if (name !== armed || visits++ !== survived) return Promise.resolve();
        harness.crashNewest();
        return Promise.reject(new Error('crash'));
      };
      harness.brokerFailpoint = die;
      const running = harness.start(spec, die);
      await Promise.race([running.ended, until(() => visits > survived), running.feed.drain(toVersion(3)).catch(() => undefined)]);
      harness.brokerFailpoint = () => Promise.resolve();
      await harness.catchUp(spec);
      await running.stop();
      expect(await metadataOf(harness, topic), `died at visit ${survived}`).toEqual(marks);
    }
  });

  it('count the events that a condition leaves, and leave out versions of which it leaves none', async () => {
    const harness = new FeedHarness();
    harness.openEngine = () => Promise.resolve(shared.engine);
    await fillTable(harness);
    await harness.catchUp({ ...spec, where: 'id IN (1, 2, 6)' });
    expect(await metadataOf(harness, topic)).toEqual([begin(0), end(0, 2), begin(2), end(2, 3)]);
  });

  it.each(['flat', 'after', 'cloudevents'] as const)('are told of a feed in envelope %s', async (envelope) => {
    const harness = await filled({ envelope });
    // The flat envelope tells an update in two records.
    const expected = envelope === 'flat' ? [begin(0), end(0, 5), begin(2), end(2, 4), begin(3), end(3, 1)] : marks;
    expect(await metadataOf(harness, topic)).toEqual(expected);
  });

  it.each(['json-schema', 'avro', 'protobuf'] as const)('are told in %s, with schemas in the registry', async (encoding) => {
    const harness = await filled({ records: { ...plainRecords, encoding } });
    expect(await metadataOf(harness, topic, encoding)).toEqual(marks);
    expect([...harness.subjects.bySubject.keys()].filter((subject) => subject.startsWith(topic))).toEqual([
      `${topic}-key`,
      `${topic}-value`,
    ]);
  });

  it('have no rows of a snapshot', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }, { id: 3 }] }]);
    await harness.catchUp({ ...spec, start: { kind: 'snapshot' } });
    expect(await harness.published(topic)).toEqual([]);
    expect(await blocksOf(harness)).toEqual([
      [0, null],
      [1, null],
    ]);
  });

  it('of a version whose first rows were published without are the rest of it', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    let committed = 0;
    const first = harness.start({ ...spec, transactions: undefined }, (name) => {
      if (name !== 'after-transaction' || (committed += 1) < 2) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    await first.ended;
    await harness.catchUp(spec);
    expect((await metadataOf(harness, topic)).slice(0, 2)).toEqual([begin(0), end(0, 1)]);
  });
});

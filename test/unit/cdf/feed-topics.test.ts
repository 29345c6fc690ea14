import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/base/system-clock.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { type EventEncoding, plainRecords } from '../../../src/protocol/change-event.ts';
import { toVersion } from '../../../src/table/version.ts';
import { FeedHarness, feedSpec, fillTable } from './feed-harness.ts';
import { until } from './metadata/metadata-values.ts';

const { topic, positionsTopic } = feedSpec;

async function expectedTexts(
  more: (harness: FeedHarness) => Promise<void> = () => Promise.resolve(),
  spec: Partial<FeedSpec> = {},
): Promise<readonly string[]> {
  const harness = new FeedHarness();
  await fillTable(harness);
  await more(harness);
  await harness.catchUp(spec);
  return harness.publishedTexts();
}

const oneMore = async (harness: FeedHarness): Promise<void> => {
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, name: 'v4-8' }] }]);
  harness.events.committed('orders', toVersion(4));
};

/** Publishes as many transactions of one row as told, then dies. */
async function publishSome(harness: FeedHarness, transactions: number, spec: Partial<FeedSpec> = {}): Promise<void> {
  let committed = 0;
  const dying = harness.start({ maxTransactionRows: 1, ...spec }, (name) => {
    if (name === 'after-transaction') committed += 1;
    if (committed < transactions) return Promise.resolve();
    harness.crashNewest();
    return Promise.reject(new Error('crash'));
  });
  await Promise.race([dying.ended, dying.feed.drain(harness.table.latestVersion).catch(() => undefined)]);
}

it('a feed of a compacted topic that dies in its first transactions is not taken for one whose position is lost', async () => {
  const compacted = { topicConfig: { 'cleanup.policy': 'compact' } };
  for (let survived = 0; survived < 4; survived++) {
    const harness = new FeedHarness();
    await fillTable(harness);
    let visits = 0;
    harness.brokerFailpoint = (name) => {
      if (name !== 'before-transaction-end' || visits++ !== survived) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    };
    const dying = harness.start(compacted);
    await until(() => visits > survived);
    harness.brokerFailpoint = () => Promise.resolve();
    const heir = harness.start(compacted);
    await Promise.race([heir.ended, heir.feed.drain(harness.table.latestVersion).catch(() => undefined)]);
    expect(await heir.stop(), `died at visit ${survived}`).toMatchObject({ state: 'stopped', lagVersions: 0 });
    await dying.stop();
    expect(await harness.publishedTexts()).toEqual(await expectedTexts());
  }
});

describe('a feed whose positions topic was deleted', () => {
  it('publishes nothing, loudly, until it is told how to go on', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    const before = await harness.publishedTexts();
    await harness.reader.admin.deleteTopic(positionsTopic);
    const running = harness.start();
    expect(await running.ended).toMatchObject({ state: 'lost', error: { code: 'FEED_POSITION_LOST', kind: 'discontinuity' } });
    expect(running.log).toContain('lost fail');
    expect(await harness.publishedTexts()).toEqual(before);
  });

  const encoded = (encoding: EventEncoding): Pick<FeedSpec, 'records' | 'schemas'> => ({
    records: { ...plainRecords, encoding },
    schemas: false,
  });

  it.each<Pick<FeedSpec, 'envelope' | 'schemas'> & Partial<FeedSpec>>([
    ...(['avro', 'protobuf', 'json-schema'] as const).flatMap((encoding) => [
      { envelope: 'debezium' as const, ...encoded(encoding) },
      { envelope: 'flat' as const, ...encoded(encoding) },
    ]),
    { envelope: 'debezium', schemas: false },
    { envelope: 'debezium', schemas: true },
    { envelope: 'flat', schemas: false },
    { envelope: 'after', schemas: false },
    { envelope: 'cloudevents', schemas: false },
  ])('goes on exactly where it stood under policy recover, wherever that was: %o', async (spec) => {
    const expected = await expectedTexts(oneMore, spec);
    for (let transactions = 1; transactions < 10; transactions += 1) {
      const harness = new FeedHarness();
      await fillTable(harness);
      await publishSome(harness, transactions, spec);
      await harness.reader.admin.deleteTopic(positionsTopic);
      await oneMore(harness);
      const running = await harness.catchUp({ onLostPosition: 'recover', ...spec });
      expect(running.log).toContain('lost recover');
      expect(await harness.publishedTexts(), `after ${transactions} transactions`).toEqual(expected);
    }
  });

  it('goes on inside the snapshot it was publishing under policy recover', async () => {
    for (let transactions = 1; transactions < 5; transactions += 1) {
      const harness = new FeedHarness();
      await fillTable(harness);
      await harness.table.setLive([{ kind: 'insert', rows: [1, 3, 4, 5].map((id) => ({ id })) }]);
      await publishSome(harness, transactions, { start: { kind: 'snapshot' } });
      await harness.reader.admin.deleteTopic(positionsTopic);
      await oneMore(harness);
      await harness.catchUp({ start: { kind: 'snapshot' }, onLostPosition: 'recover' });
      const operations = (await harness.publishedTexts()).map((line) => /"op":"(.)"/.exec(line)?.[1]).toSorted();
      expect(operations).toEqual(['c', 'r', 'r', 'r', 'r']);
    }
  });

  it('finds its place among records of other feeds, tables and producers', async () => {
    const expected = await expectedTexts();
    const harness = new FeedHarness();
    await fillTable(harness);
    await publishSome(harness, 4);
    await harness.catchUp({ pipeline: 'another', tombstones: false });
    const stray = await harness.reader.producer();
    const record = { value: Buffer.from('foreign'), timestampMs: harness.clock.now() };
    await stray.send([0, 1].map((partition) => encodeRecordBatch({ topic, partition, records: [record] })));
    await harness.reader.admin.deleteTopic(positionsTopic);
    await harness.catchUp({ onLostPosition: 'recover' });
    const own = (await harness.publishedTexts()).filter((line) => line.includes('feed=demo/orders'));
    expect(own).toEqual(expected);
  });

  it('does not guess under policy recover when retention emptied a partition or compaction may have taken the end', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    await harness.reader.admin.deleteTopic(positionsTopic);
    const [first] = await harness.reader.admin.offsets(topic);
    harness.broker.deleteRecords({ topic, partition: 0 }, first?.latest ?? 0n);
    const emptied = await harness.start({ onLostPosition: 'recover' }).ended;
    expect(emptied).toMatchObject({ state: 'lost', error: { code: 'FEED_POSITION_LOST' } });

    const compacted = new FeedHarness();
    await fillTable(compacted);
    await compacted.catchUp({ topicConfig: { 'cleanup.policy': 'compact' } });
    const open = await compacted.broker.client('gone').openTransactional({ transactionalId: 'gone' });
    compacted.broker.inject({ operation: 'end-transaction', when: 'before', clientId: 'gone' });
    const values = [{ value: Buffer.from('never seen'), timestampMs: compacted.clock.now() }];
    await expect(open.publish([encodeRecordBatch({ topic, partition: 0, records: values })])).rejects.toThrow();
    await compacted.broker.client('heir').openTransactional({ transactionalId: 'gone' });
    await compacted.reader.admin.deleteTopic(positionsTopic);
    expect(await compacted.start({ onLostPosition: 'recover' }).ended).toMatchObject({ state: 'lost' });
    await compacted.table.setLive([{ kind: 'insert', rows: [{ id: 1 }] }]);
    const told = await compacted.catchUp({ onLostPosition: 'resnapshot' });
    expect(told.log).toContain('lost resnapshot');
    expect((await compacted.publishedTexts()).filter((line) => line.includes('"op":"r"')).length).toBe(1);
  });

  it('begins as a new feed when its own topic holds nothing of it', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp({ pipeline: 'another' });
    await harness.catchUp();
    expect((await harness.publishedTexts()).filter((line) => line.includes('feed=demo/orders')).length).toBe(10);
  });

  it('goes on by itself under policy recover when that happens while it runs', async () => {
    const expected = await expectedTexts(oneMore);
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = harness.start({ onLostPosition: 'recover' });
    await running.feed.drain(toVersion(3));
    await harness.reader.admin.deleteTopic(positionsTopic);
    await oneMore(harness);
    await running.feed.drain(toVersion(4));
    await running.stop();
    expect(running.log).toContain('lost recover');
    expect(await harness.publishedTexts()).toEqual(expected);
  });

  it('stops loudly when that happens while it runs, also when the topic was made anew at once', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = harness.start();
    await running.feed.drain(toVersion(3));
    await harness.reader.admin.deleteTopic(positionsTopic);
    await harness.reader.admin.ensureTopics([{ topic: positionsTopic, partitions: 1, config: { 'cleanup.policy': 'compact' } }]);
    await oneMore(harness);
    expect(await running.ended).toMatchObject({ state: 'lost', error: { code: 'FEED_POSITION_LOST' } });
    expect((await harness.published()).length).toBe(10);
  });
});

it('refuses a positions topic that forgets, with the command that mends it', async () => {
  for (const policy of ['delete', 'compact,delete']) {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.reader.admin.ensureTopics([{ topic: positionsTopic, partitions: 1, config: { 'cleanup.policy': policy } }]);
    const status = await harness.start().ended;
    expect(status).toMatchObject({ state: 'failed', error: { code: 'FEED_POSITIONS_NOT_COMPACTED' } });
    expect((status.error as { hint?: string }).hint).toContain(`--entity-name ${positionsTopic} --add-config cleanup.policy=compact`);
    harness.broker.alterTopic(positionsTopic, { 'cleanup.policy': 'compact' });
    await harness.catchUp();
    expect((await harness.published()).length).toBe(10);
  }
});

it('stops when the positions topic begins to forget while the feed runs', async () => {
  const harness = new FeedHarness();
  await fillTable(harness);
  const running = harness.start();
  await running.feed.drain(toVersion(3));
  harness.broker.alterTopic(positionsTopic, { 'cleanup.policy': 'delete' });
  await harness.clock.sleep(31_000);
  await oneMore(harness);
  expect(await running.ended).toMatchObject({ state: 'failed', error: { code: 'FEED_POSITIONS_NOT_COMPACTED' } });
});

describe('a feed whose own topic was deleted', () => {
  const acts: readonly (readonly [string, (harness: FeedHarness) => Promise<unknown>])[] = [
    ['deleted', (harness) => harness.reader.admin.deleteTopic(topic)],
    [
      'deleted and made anew',
      async (harness) => {
        await harness.reader.admin.deleteTopic(topic);
        await harness.reader.admin.ensureTopics([{ topic, partitions: 2 }]);
      },
    ],
  ];
  describe.each(acts)('%s', (_, act) => {
    it.each(['stopped', 'running'] as const)('publishes nothing there, loudly, while it is %s', async (when) => {
      const harness = new FeedHarness();
      await fillTable(harness);
      const first = harness.start();
      await first.feed.drain(toVersion(3));
      if (when === 'stopped') await first.stop();
      await act(harness);
      await oneMore(harness);
      const running = when === 'stopped' ? harness.start() : first;
      expect(await running.ended).toMatchObject({ state: 'replaced', error: { code: 'FEED_TOPIC_REPLACED', kind: 'discontinuity' } });
      expect(running.log).toContain('replaced fail');
      await harness.reader.admin.ensureTopics([{ topic, partitions: 2 }]);
      expect(await harness.published()).toEqual([]);
    });

    it('is given the rows of the newest version under policy resnapshot, and what follows', async () => {
      const harness = new FeedHarness();
      await fillTable(harness);
      await harness.table.setLive([{ kind: 'insert', rows: [1, 3, 4].map((id) => ({ id })) }]);
      await harness.catchUp();
      await act(harness);
      const running = harness.start({ onTopicReplaced: 'resnapshot' });
      await running.feed.drain(toVersion(3));
      await oneMore(harness);
      await running.feed.drain(toVersion(4));
      await running.stop();
      const operations = (await harness.publishedTexts()).map((line) => /"op":"(.)"/.exec(line)?.[1]).toSorted();
      expect(operations).toEqual(['c', 'r', 'r', 'r']);
      expect((await harness.catchUp()).feed.status().state).toBe('stopped');
    });

    it('is given what comes after the position under policy continue', async () => {
      const harness = new FeedHarness();
      await fillTable(harness);
      const running = harness.start({ onTopicReplaced: 'continue' });
      await running.feed.drain(toVersion(3));
      await act(harness);
      await oneMore(harness);
      await running.feed.drain(toVersion(4));
      await running.stop();
      const texts = await harness.publishedTexts();
      expect(texts.map((line) => /version=(\d)/.exec(line)?.[1])).toEqual(['4']);
    });
  });

  it('publishes no row to a topic that is made anew while a transaction is under way', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = harness.start();
    await running.feed.drain(toVersion(3));
    harness.brokerFailpoint = async (name) => {
      if (name !== 'within-transaction') return;
      harness.brokerFailpoint = () => Promise.resolve();
      await harness.reader.admin.deleteTopic(topic);
      await harness.reader.admin.ensureTopics([{ topic, partitions: 2 }]);
    };
    await oneMore(harness);
    expect(await running.ended).toMatchObject({ state: 'replaced' });
    expect(await harness.published()).toEqual([]);
  });
});

it('goes on after a transaction that took longer than its timeout, because no newer instance opened the feed', async () => {
  const expected = await expectedTexts(oneMore);
  const harness = new FeedHarness();
  await fillTable(harness);
  const running = harness.start();
  await running.feed.drain(toVersion(3));
  let slept = false;
  harness.brokerFailpoint = async (name) => {
    if (name !== 'before-transaction-end' || slept) return;
    slept = true;
    await harness.clock.sleep(61_000);
    harness.broker.sweep(harness.clock.monotonicMs());
  };
  await oneMore(harness);
  await Promise.race([running.feed.drain(toVersion(4)), running.ended.then(() => new SystemClock().sleep(10))]);
  expect((await running.stop()).state).toBe('stopped');
  expect(running.log).toContain('transaction fenced');
  expect(await harness.publishedTexts()).toEqual(expected);
});

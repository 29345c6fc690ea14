import { expect, it } from 'vitest';
import { FeedHarness, feedSpec, fillTable } from './feed-harness.ts';

const topic = feedSpec.heartbeatTopic;

it('a feed at rest says so at its interval, in a transaction with its position, and a busy one does not', async () => {
  const harness = new FeedHarness();
  await fillTable(harness);
  const running = harness.start({ partitions: 1, heartbeatIntervalMs: 5_000 });
  await running.feed.drain(harness.table.latestVersion);
  const beats = async (): Promise<readonly (readonly [string, string])[]> =>
    (await harness.published(topic)).map(
      ({ key, value }) => [Buffer.from(key ?? []).toString(), Buffer.from(value ?? []).toString()] as const,
    );
  // What was published last is younger than the interval.
  expect(await beats()).toEqual([]);
  const rows = (await harness.published()).length;
  for (let id = 10; (await beats()).length < 2; id++) {
    await harness.clock.sleep(2_000);
    // Wakes the feed, which finds nothing: versions without rows come in between, too.
    harness.events.committed('orders', harness.table.latestVersion);
  }
  await running.stop();
  expect((await harness.published()).length).toBe(rows);
  const [[key, first] = ['', '{}'], [, second] = ['', '{}']] = await beats();
  expect(key).toBe('{"serverName":"demo","table":"orders","feed":"cdf.orders"}');
  const [one, other] = [first, second].map(
    (text) => JSON.parse(text) as { readonly ts_ms: number; readonly version: number; readonly topic: string },
  );
  expect([one?.version, one?.topic]).toEqual([3, 'cdf.orders']);
  expect((other?.ts_ms ?? 0) - (one?.ts_ms ?? 0)).toBeGreaterThanOrEqual(5_000);
});

it('without an interval there is no topic of heartbeats', async () => {
  const harness = new FeedHarness();
  await fillTable(harness);
  await harness.catchUp();
  expect(await harness.reader.admin.partitionCount(topic)).toBeUndefined();
});

it.each(['before-transaction-end', 'transaction-end-applied'] as const)(
  'a heartbeat whose end is lost at %s disturbs nothing',
  async (lost) => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp({ partitions: 1 });
    const rows = (await harness.published()).length;
    let armed = true;
    const running = harness.start({ partitions: 1, heartbeatIntervalMs: 1 });
    harness.brokerFailpoint = (name) => {
      if (name !== lost || !armed) return Promise.resolve();
      armed = false;
      return Promise.reject(new Error('no answer'));
    };
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 9 }] }]);
    await running.feed.drain(harness.table.latestVersion);
    for (let round = 0; round < 5; round++) {
      harness.events.committed('orders', harness.table.latestVersion);
      await harness.clock.sleep(10);
    }
    await running.stop();
    expect((await harness.published()).length).toBe(rows + 1);
  },
);

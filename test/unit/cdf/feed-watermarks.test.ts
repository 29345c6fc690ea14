import { expect, it } from 'vitest';
import { StoredFeedWatermarks } from '../../../src/cdf/feed-watermarks.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import { toVersion } from '../../../src/table/version.ts';
import { FeedHarness, feedSpec } from './feed-harness.ts';

function watermarksOf(harness: FeedHarness, feeds: ConstructorParameters<typeof StoredFeedWatermarks>[0]['feeds']): StoredFeedWatermarks {
  const openStore = (topic: string): PositionStore => new PositionStore({ client: harness.reader, clock: harness.clock, topic });
  return new StoredFeedWatermarks({ feeds, openStore, admin: harness.reader.admin });
}

it('answers the first version the slowest feed of the table still needs, read from the broker', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
  await harness.catchUp({ topic: 'slow' });
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 2 }] }]);
  await harness.catchUp({ topic: 'fast' });
  const feeds = [
    { ...feedSpec, name: 'slow', topic: 'slow' },
    { ...feedSpec, name: 'fast', topic: 'fast' },
  ];
  expect(await watermarksOf(harness, feeds).lowWatermark('orders')).toBe(toVersion(1));
  expect(await watermarksOf(harness, feeds.slice(1)).lowWatermark('orders')).toBe(toVersion(2));
});

it('lets a feed without a position hold what its start asks for', async () => {
  const harness = new FeedHarness();
  const earliest = { ...feedSpec, name: 'a', topic: 'a', start: { kind: 'earliest' } } as const;
  const later = { ...feedSpec, name: 'b', topic: 'b', start: { kind: 'version', version: 7 } } as const;
  const snapshot = { ...feedSpec, name: 'c', topic: 'c', start: { kind: 'snapshot' } } as const;
  expect(await watermarksOf(harness, [earliest, later]).lowWatermark('orders')).toBe(toVersion(0));
  expect(await watermarksOf(harness, [later, snapshot]).lowWatermark('orders')).toBe(toVersion(7));
  expect(await watermarksOf(harness, [snapshot]).lowWatermark('orders')).toBeUndefined();
  expect(await watermarksOf(harness, [later]).lowWatermark('customers')).toBeUndefined();
});

it('holds everything back for a feed whose position is lost, until it is known again', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
  const spec = { ...feedSpec, start: { kind: 'snapshot' } } as const;
  await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }] }]);
  await harness.catchUp(spec);
  await harness.reader.admin.deleteTopic(feedSpec.positionsTopic);
  expect(await watermarksOf(harness, [spec]).lowWatermark('orders')).toBe(toVersion(0));
  await harness.catchUp({ ...spec, onLostPosition: 'recover' });
  expect(await watermarksOf(harness, [spec]).lowWatermark('orders')).toBe(toVersion(1));
});

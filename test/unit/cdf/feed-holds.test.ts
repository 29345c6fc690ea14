import { expect, it } from 'vitest';
import { StoredFeedHolds } from '../../../src/cdf/feed-holds.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import { FeedHarness, feedSpec } from './feed-harness.ts';

/** The first version that each holder needs. */
async function holds(
  harness: FeedHarness,
  feeds: ConstructorParameters<typeof StoredFeedHolds>[0]['feeds'],
  table = 'orders',
): Promise<Readonly<Record<string, number>>> {
  const openStore = (topic: string): PositionStore => new PositionStore({ client: harness.reader, clock: harness.clock, topic });
  const stored = new StoredFeedHolds({ feeds, positionsTopic: feedSpec.positionsTopic, openStore, admin: harness.reader.admin });
  return Object.fromEntries((await stored.holds(table, 'table-1')).map(({ by, fromVersion }) => [by, fromVersion]));
}

it('answers the first version each feed of the table still needs, read from the broker, those of feeds that are in no settings too', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
  await harness.catchUp({ topic: 'slow' });
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 2 }] }]);
  await harness.catchUp({ topic: 'fast' });
  const feeds = [
    { ...feedSpec, name: 'slow', topic: 'slow' },
    { ...feedSpec, name: 'fast', topic: 'fast' },
  ];
  expect(await holds(harness, feeds)).toEqual({ 'demo/orders/slow': 1, 'demo/orders/fast': 2 });
  expect(await holds(harness, feeds.slice(1))).toEqual({ 'demo/orders/slow': 1, 'demo/orders/fast': 2 });
});

it('lets a feed without a position hold what its start asks for', async () => {
  const harness = new FeedHarness();
  const earliest = { ...feedSpec, name: 'a', topic: 'a', start: { kind: 'earliest' } } as const;
  const later = { ...feedSpec, name: 'b', topic: 'b', start: { kind: 'version', version: 7 } } as const;
  const snapshot = { ...feedSpec, name: 'c', topic: 'c', start: { kind: 'snapshot' } } as const;
  expect(await holds(harness, [earliest, later])).toEqual({ 'demo/orders/a': 0, 'demo/orders/b': 7 });
  expect(await holds(harness, [later, snapshot])).toEqual({ 'demo/orders/b': 7 });
  expect(await holds(harness, [later], 'customers')).toEqual({});
});

it('holds everything back for a feed whose position is lost, until it is known again', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
  const spec = { ...feedSpec, start: { kind: 'snapshot' } } as const;
  await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }] }]);
  await harness.catchUp(spec);
  await harness.reader.admin.deleteTopic(feedSpec.positionsTopic);
  expect(await holds(harness, [spec])).toEqual({ 'demo/orders/cdf.orders': 0 });
  await harness.catchUp({ ...spec, onLostPosition: 'recover' });
  expect(await holds(harness, [spec])).toEqual({ 'demo/orders/cdf.orders': 1 });
});

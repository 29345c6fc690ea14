import { expect, it } from 'vitest';
import { FeedOwnership } from '../../../src/app/feed-ownership.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';

const feedIds = ['demo/a/cdf.a', 'demo/b/cdf.b'];

function ownershipOf(broker: MemoryBroker, member: string): { readonly ownership: FeedOwnership; readonly stop: () => Promise<void> } {
  const ownership = new FeedOwnership(broker.client(member), { groupId: 'feeds', member, feedIds, sessionTimeoutMs: 6_000 });
  const stopping = new AbortController();
  const running = ownership.run(stopping.signal);
  return {
    ownership,
    stop: async () => {
      stopping.abort();
      await running;
      await ownership.close();
    },
  };
}

const heldBy = (ownership: FeedOwnership): readonly string[] => feedIds.filter((feedId) => ownership.held(feedId) !== undefined);

it('tells a feed that goes to another replica, leaves the others alone, and takes over what a dead replica held', async () => {
  const broker = new MemoryBroker({ clock: new SystemClock(), random: new SeededRandom(1) });
  const first = ownershipOf(broker, 'first');
  await first.ownership.changed(new AbortController().signal);
  expect(heldBy(first.ownership)).toEqual(feedIds);
  const before = feedIds.map((feedId) => first.ownership.held(feedId));
  const second = ownershipOf(broker, 'second');
  await first.ownership.changed(new AbortController().signal);
  expect(before.map((signal) => signal?.aborted).toSorted()).toEqual([false, true]);
  const [kept = ''] = heldBy(first.ownership);
  expect([second.ownership.ownerOf(kept), heldBy(second.ownership).length]).toEqual(['first', 1]);
  broker.crashClient('first');
  expect(heldBy(second.ownership)).toEqual(feedIds);
  await second.stop();
});

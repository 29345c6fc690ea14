import { describe, expect, it } from 'vitest';
import type { KafkaClient, WorkGroup } from '../../src/kafka/client.ts';
import { until } from '../support/recording-handler.ts';
import type { Suite } from './kafka-client-suite.ts';

interface Member {
  readonly group: WorkGroup;
  items: readonly string[];
  owners: ReadonlyMap<string, string>;
}

async function join(client: KafkaClient, groupId: string, member: string, items: readonly string[]): Promise<Member> {
  const made: { items: readonly string[]; owners: ReadonlyMap<string, string> } = { items: [], owners: new Map() };
  const group = client.workGroup({
    groupId,
    member,
    items,
    sessionTimeoutMs: 6_000,
    handler: {
      onOwned: (owned, owners) => {
        made.items = [...owned].sort();
        made.owners = owners;
      },
      onFailed: (error) => {
        throw error;
      },
    },
  });
  await group.start();
  return Object.assign(made, { group });
}

export function describeWorkGroups(suite: Suite): void {
  describe('a work group', () => {
    it('gives everything to its only member, and tells who owns what', async () => {
      const member = await join(suite.client(), suite.unique('work'), 'one', ['a', 'b']);
      expect(member.items).toEqual(['a', 'b']);
      expect([...member.owners].toSorted()).toEqual([
        ['a', 'one'],
        ['b', 'one'],
      ]);
      await member.group.stop();
    });

    it('divides evenly, takes no item from hand to hand without need, and goes on with those that are left', async () => {
      const groupId = suite.unique('work');
      const items = ['a', 'b', 'c', 'd'];
      const first = await join(suite.client(), groupId, 'first', items);
      const second = await join(suite.client(), groupId, 'second', items);
      await until(() => first.items.length === 2 && second.items.length === 2, 'each has two');
      const before = [first.items, second.items];
      expect([...first.items, ...second.items].toSorted()).toEqual(items);
      expect(first.owners).toEqual(second.owners);
      const third = await join(suite.client(), groupId, 'third', items);
      await until(() => first.items.length + second.items.length === 3 && third.items.length === 1, 'the third has one');
      const moved = before.flat().filter((item) => ![...first.items, ...second.items].includes(item));
      expect(moved).toEqual(third.items);
      await third.group.stop();
      await second.group.stop();
      await until(() => first.items.length === 4, 'the first has all');
      await first.group.stop();
    });

    it('has one owner of a single item, and another when that leaves', async () => {
      const groupId = suite.unique('work');
      const first = await join(suite.client(), groupId, 'first', ['only']);
      const second = await join(suite.client(), groupId, 'second', ['only']);
      await until(() => second.owners.get('only') === 'first', 'the second stands by');
      expect([first.items, second.items]).toEqual([['only'], []]);
      await first.group.stop();
      await until(() => second.items.length === 1, 'the second took over');
      await second.group.stop();
    });
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type SeededRandom } from '../../../src/base/seeded-random.ts';
import { eventually } from '../process.ts';
import type { WalkWorld } from './walk-world.ts';

/** Something that people, schedulers or machines do to a running pipeline. */
export interface Act {
  readonly name: string;
  /** How often it is chosen, against the others. */
  readonly weight: number;
  readonly perform: (world: WalkWorld) => Promise<void>;
}

/** Every act comes with records that arrive meanwhile, unless the act is about the topic they go to. */
export /** Deletes whatever is older than a second and nobody refers to. */
const vacuum: readonly string[] = ['maintain', 'vacuum', 'events', '--yes', '--retain', '1s', '--allow-short-retention'];

const acts: readonly Act[] = [
  { name: 'records come', weight: 4, perform: (world) => world.trickle(6) },
  {
    name: 'kill -9, start again',
    weight: 4,
    perform: async (world) => {
      const victim = pick(world.random, world.replicas);
      await Promise.all([world.trickle(2), world.kill(victim)]);
      world.start();
      await world.trickle(2);
    },
  },
  {
    name: 'stop, start again',
    weight: 2,
    perform: async (world) => {
      await Promise.all([world.trickle(3), world.terminateAll()]);
      world.start();
    },
  },
  {
    name: 'stand still for longer than a session',
    weight: 1,
    perform: async (world) => {
      const sleeper = pick(world.random, world.replicas);
      await sleeper.url();
      sleeper.signal('SIGSTOP');
      await Promise.all([world.trickle(4), sleep(4_500)]);
      sleeper.signal('SIGCONT');
      await world.trickle(2);
    },
  },
  {
    name: 'stand still for a moment',
    weight: 2,
    perform: async (world) => {
      const sleeper = pick(world.random, world.replicas);
      await sleeper.url();
      sleeper.signal('SIGSTOP');
      await world.trickle(3);
      sleeper.signal('SIGCONT');
    },
  },
  {
    name: 'one replica more or fewer',
    weight: 3,
    perform: async (world) => {
      if (world.replicas.length < 3) world.start();
      else await world.terminate(pick(world.random, world.replicas));
      await world.trickle(4);
    },
  },
  {
    name: 'the source topic is deleted and created again',
    weight: 4,
    perform: async (world) => {
      const drained = world.random.next() < 0.5;
      if (drained) await world.settle();
      await world.deleteTopic(world.pipeline.topic);
      world.ledger.begin(drained);
      await world.createSource(pick(world.random, [2, 4, 6]));
      // Beyond where the one before ended, or not.
      await world.trickle(pick(world.random, [1, 8]));
    },
  },
  {
    name: 'the source topic is deleted and created again while nothing runs',
    weight: 2,
    perform: async (world) => {
      await world.terminateAll();
      await world.deleteTopic(world.pipeline.topic);
      world.ledger.begin(false);
      await world.createSource(pick(world.random, [2, 4, 6]));
      await world.trickle(4);
      world.start();
    },
  },
  {
    name: 'partitions are added to the source topic',
    weight: 3,
    perform: async (world) => {
      if (world.partitions < 8) await world.addPartitions(world.partitions + 1);
      await world.trickle(4);
    },
  },
  {
    name: 'the group is forgotten while nothing runs',
    weight: 1,
    perform: async (world) => {
      await world.terminateAll();
      const group = `tidewater-${world.pipeline.name}-events`;
      await eventually('the group is empty', async () => {
        const { groups } = await world.workload.admin.describeGroups([group]);
        return groups[0]?.members.length === 0;
      });
      await world.workload.admin.deleteGroups([group]).catch(() => undefined);
      await world.trickle(2);
      world.start();
    },
  },
  {
    name: 'the positions topic is deleted',
    weight: 2,
    perform: async (world) => {
      await Promise.all([world.trickle(2), world.deleteTopic(world.pipeline.positionsTopic)]);
    },
  },
  {
    name: 'the positions topic is deleted while nothing runs',
    weight: 2,
    perform: async (world) => {
      await world.terminateAll();
      await Promise.all([world.trickle(2), world.deleteTopic(world.pipeline.positionsTopic)]);
      world.start();
    },
  },
  {
    name: 'the feed topic is deleted',
    weight: 2,
    perform: async (world) => {
      await Promise.all([world.trickle(2), world.deleteTopic(world.pipeline.feedTopic)]);
    },
  },
  {
    name: 'the feed topic is deleted while nothing runs',
    weight: 1,
    perform: async (world) => {
      await world.terminateAll();
      await world.deleteTopic(world.pipeline.feedTopic);
      world.start();
      await world.trickle(2);
    },
  },
  {
    name: 'the dead-letter topic is deleted',
    weight: 1,
    perform: async (world) => {
      world.taken.deadLetters = true;
      await Promise.all([world.trickle(2), world.deleteTopic(world.pipeline.deadLetterTopic)]);
      await world.trickle(4);
    },
  },
  {
    name: 'a compaction by hand',
    weight: 2,
    perform: async (world) => {
      await Promise.all([world.trickle(4), world.command('maintain', 'compact', 'events')]);
    },
  },
  {
    name: 'a vacuum that keeps nothing',
    weight: 2,
    perform: async (world) => {
      await world.settle();
      await Promise.all([world.trickle(4), world.command(...vacuum)]);
    },
  },
  {
    name: 'a vacuum that keeps nothing, beside a worker that stands still',
    weight: 2,
    perform: async (world) => {
      await world.settle();
      const sleeper = pick(world.random, world.replicas);
      await world.produce(60);
      await sleep(Math.floor(world.random.next() * 250));
      sleeper.signal('SIGSTOP');
      await sleep(1_500);
      let isLocked = false;
      try {
        await world.command(...vacuum);
      } catch (error) {
        // A worker that is stopped within a swap holds the lock of its catalog's file, which nobody else may break: the command says so.
        if (!(error instanceof Error) || !error.message.includes('SQL_CATALOG_UNAVAILABLE')) throw error;
        isLocked = true;
      } finally {
        sleeper.signal('SIGCONT');
      }
      if (isLocked) await world.command(...vacuum);
      await world.trickle(2);
    },
  },
];

/** One act, by weight. */
export function chooseAct(random: SeededRandom): Act {
  let left = random.next() * acts.reduce((sum, { weight }) => sum + weight, 0);
  for (const act of acts) {
    left -= act.weight;
    if (left < 0) return act;
  }
  return pick(random, acts);
}

export function pick<Choice>(random: SeededRandom, choices: readonly Choice[]): Choice {
  const chosen = choices[Math.floor(random.next() * choices.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type IcebergKind, pipelineCase, type Workload } from '../process-workload.ts';
import { chooseAct, pick } from './walk-acts.ts';
import { judgeWalk } from './walk-judge.ts';
import { WalkWorld } from './walk-world.ts';

const kinds: readonly (readonly [string, IcebergKind | undefined])[] = [
  ['delta', undefined],
  ['iceberg-sql', { kind: 'sql' }],
  ['iceberg-files', { kind: 'files' }],
];

/** What an operator decided beforehand; what is not decided stops loudly. */
const decisions = 'onLostPosition: recover, onTopicReplaced: resnapshot';

/** More of a kind say nothing more. */
const namedFindings = 12;

export interface WalkReport {
  readonly story: readonly string[];
  readonly findings: readonly string[];
}

/** Does `steps` acts that the seed chooses to a pipeline under load, drains it and judges what is left. */
export async function runWalk(options: {
  readonly workload: Workload;
  readonly dir: string;
  readonly seed: number;
  readonly steps: number;
}): Promise<WalkReport> {
  const { workload, dir, seed, steps } = options;
  const random = new SeededRandom(seed);
  const [label, iceberg] = pick(random, kinds);
  const pipeline = pipelineCase(dir, `walk-${seed}-${label}`, { iceberg, feed: decisions, partitions: pick(random, [2, 4]) });
  const world = new WalkWorld(workload, pipeline, random);
  world.story.push(label);
  try {
    await workload.createTopic(pipeline);
    world.start();
    await world.trickle(3);
    await world.settle();
    for (let step = 0; step < steps; step += 1) {
      const act = chooseAct(random);
      world.story.push(act.name);
      await act.perform(world);
    }
    world.story.push('drain');
    await world.settle();
    await world.terminateAll();
    world.story.push('judge');
    const findings = await judgeWalk(workload, pipeline, world.ledger, world.taken);
    return { story: world.story, findings: findings.slice(0, namedFindings) };
  } catch (error) {
    throw new Error(`seed ${seed}: ${world.story.join('; ')}\n${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await world.killAll();
  }
}

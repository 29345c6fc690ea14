import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigResourceTypes } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { judge } from '../support/checks.ts';
import { eventually, type ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type IcebergKind, type PipelineCase, Produced, pipelineCase } from '../support/process-workload.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';

/* What operators and machines do to the feeds of a pipeline: replicas die, topics of ours go away or are made anew. */

/** Beyond the 60 s that a transaction may take and the 10 s at which the broker looks for those that took longer. */
const beyondTransactionMs = 75_000;
const standbyOrActive = ['standby', 'following'];

describe('the feeds survive', () => {
  const { dir, workload, serve } = productBench('feeds');
  const stateOf = async (one: ProductProcess): Promise<string | undefined> => (await one.status()).feeds[0]?.state;
  const untilStates = (what: string, replicas: readonly ProductProcess[], sorted: readonly string[]): Promise<unknown> =>
    eventually(what, async () => {
      const states = await Promise.all(replicas.map(stateOf));
      return JSON.stringify(states.toSorted()) === JSON.stringify([...sorted].toSorted());
    });
  const activeOf = async (replicas: readonly ProductProcess[]): Promise<ProductProcess> => {
    const states = await Promise.all(replicas.map(stateOf));
    const active = replicas[states.findIndex((state) => state !== 'standby')];
    if (active === undefined) throw new Error(`nobody is active: ${states.join()}`);
    return active;
  };
  const positionsOf = ({ name }: PipelineCase): string => `${name}.positions`;

  /** A pipeline through which some records went. */
  async function published(label: string, iceberg: IcebergKind | undefined): Promise<[PipelineCase, Produced]> {
    const pipeline = pipelineCase(dir, label, { iceberg });
    const produced = new Produced();
    await workload.createTopic(pipeline);
    await workload.produce(pipeline, produced, 200);
    return [pipeline, produced];
  }

  it.each(bothFormats)(
    'of %s the death of the replica that publishes, with others standing by, all ready',
    async (_, { label, iceberg }) => {
      const [pipeline, produced] = await published(`failover-${label}`, iceberg);
      const replicas = [serve(pipeline), serve(pipeline), serve(pipeline)];
      await untilStates('one publishes and two stand by', replicas, ['following', 'standby', 'standby']);
      for (const one of replicas) await eventually('all are ready', async () => (await one.probe('/readyz')).status === 200);
      for (let left = [...replicas]; left.length > 1; ) {
        const active = await activeOf(left);
        await workload.produce(pipeline, produced, 100);
        await active.kill();
        left = left.filter((one) => one !== active);
        await workload.produce(pipeline, produced, 100);
        await eventually('another one publishes', async () => (await Promise.all(left.map(stateOf))).includes('following'));
      }
      const [last] = replicas.filter((one) => one.exit === undefined);
      if (last === undefined) throw new Error('nobody is left');
      await untilThrough(last, pipeline, produced);
      expect((await last.terminate()).code, last.log).toBe(0);
      expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
    },
  );

  it('a replica that stands still in a transaction for longer than that may take', async () => {
    const [pipeline, produced] = await published('timeout', undefined);
    const only = serve(pipeline, { env: { FAILPOINT: 'before-transaction-end:pause:2' } });
    await eventually('it stands still', async () => {
      await workload.produce(pipeline, produced, 20);
      return only.said('failpoint before-transaction-end: pause');
    });
    await sleep(beyondTransactionMs);
    only.signal('SIGCONT');
    await untilThrough(only, pipeline, produced);
    expect((await only.terminate()).code, only.log).toBe(0);
    expect((await judge(workload, pipeline, produced)).findings, only.log).toEqual([]);
  });

  it.each(bothFormats)(
    'of %s the loss of the positions topic: loud when stopped, found again when told to',
    async (_, { label, iceberg }) => {
      const [pipeline, produced] = await published(`lost-${label}`, iceberg);
      const first = serve(pipeline);
      await untilThrough(first, pipeline, produced);
      expect((await first.terminate()).code, first.log).toBe(0);
      await workload.admin.deleteTopics({ topics: [positionsOf(pipeline)] });
      const second = serve(pipeline);
      await eventually('the loss is told', async () => (await stateOf(second)) === 'lost');
      expect((await second.probe('/readyz')).status).toBe(503);
      expect((await second.status()).feeds[0]?.detail).toContain('onLostPosition: recover');
      await second.terminate();
      await workload.produce(pipeline, produced, 200);
      const third = serve(pipeline, { args: ['--set', 'feedDefaults.onLostPosition=recover'] });
      await untilThrough(third, pipeline, produced);
      // Once more while it runs.
      await workload.admin.deleteTopics({ topics: [positionsOf(pipeline)] });
      await workload.produce(pipeline, produced, 200);
      await untilThrough(third, pipeline, produced);
      expect((await third.terminate()).code, third.log).toBe(0);
      expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
    },
  );

  it('a positions topic that forgets is refused with the command that mends it', async () => {
    const [pipeline, produced] = await published('forgets', undefined);
    const first = serve(pipeline);
    await untilThrough(first, pipeline, produced);
    await first.terminate();
    const alter = (value: string): Promise<unknown> =>
      workload.admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: positionsOf(pipeline), configEntries: [{ name: 'cleanup.policy', value }] }],
      });
    await alter('delete');
    const second = serve(pipeline);
    await eventually('it is refused', async () => (await second.status()).feeds[0]?.detail?.includes('kafka-configs.sh') === true);
    expect(await stateOf(second)).toBe('failed');
    await second.terminate();
    await alter('compact');
    const third = serve(pipeline);
    await workload.produce(pipeline, produced, 100);
    await untilThrough(third, pipeline, produced);
    await third.terminate();
    expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
  });

  it.each(['stopped', 'running'] as const)('a feed topic that is deleted and made anew while the process is %s: loud', async (when) => {
    const [pipeline, produced] = await published(`replaced-${when}`, undefined);
    const first = serve(pipeline);
    await untilThrough(first, pipeline, produced);
    if (when === 'stopped') await first.terminate();
    const topic = pipeline.feedTopic;
    await workload.admin.deleteTopics({ topics: [topic] });
    await eventually('it is made anew', () =>
      workload.admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 3 }] }).catch(() => false),
    );
    await workload.produce(pipeline, produced, 100);
    const second = when === 'stopped' ? serve(pipeline) : first;
    await eventually('it is told', async () => (await stateOf(second)) === 'replaced');
    const offsets = await workload.admin.fetchTopicOffsets(topic);
    expect((await second.status()).feeds[0]?.detail).toContain('onTopicReplaced: resnapshot');
    await second.terminate();
    // A running feed may have begun a transaction there, and aborted it: markers, but no row.
    expect(offsets.every(({ high }) => when === 'running' || high === '0')).toBe(true);
    const third = serve(pipeline, { args: ['--set', 'feedDefaults.onTopicReplaced=resnapshot'] });
    await untilThrough(third, pipeline, produced);
    expect(standbyOrActive).toContain(await stateOf(third));
    expect((await third.terminate()).code, third.log).toBe(0);
  });
});

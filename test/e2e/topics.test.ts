import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, type PipelineOptions, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { bothFormats, deltaTable, icebergInDatabase, productBench, type TableKind } from '../support/product-bench.ts';

/*
 * What operators do to topics while a pipeline reads them, or while it is stopped: nothing is lost or doubled, and nothing is decided in silence.
 * Where a topic is made anew, what is decided is decided before a format is asked, so each case is for one of them; that waiting for an operator ends in
 * no commit is shown for both in faults.test.ts.
 */

const [delta, iceberg] = [
  ['a Delta table', deltaTable],
  ['an Iceberg table', icebergInDatabase],
] as const;
const decided = [
  ['accept', ...delta],
  ['reset-to-earliest', ...iceberg],
  ['reset-to-latest', ...delta],
] as const;
const madeAnew = [
  [2, ...delta],
  [6, ...iceberg],
] as const;
const neverPoison = Number.MAX_SAFE_INTEGER;

describe('the pipeline survives that', () => {
  const { dir, workload, serve } = productBench('topics');
  const caseOf = (label: string, kind: TableKind, ingest: readonly string[] = []): PipelineCase => {
    const options: PipelineOptions = { iceberg: kind.iceberg, ingest };
    return pipelineCase(dir, `${label}-${kind.label}`, options);
  };
  /** Deletes the topic and makes it anew as fast as the broker can. */
  const recreate = async (pipeline: PipelineCase): Promise<void> => {
    await workload.admin.deleteTopics({ topics: [pipeline.topic] });
    await eventually('the topic is made anew', () =>
      workload.createTopic(pipeline).then(
        () => true,
        () => false,
      ),
    );
  };
  const produce = async (pipeline: PipelineCase, count: number, produced: Produced = new Produced(neverPoison)): Promise<Produced> => {
    const wanted = produced.count + count;
    await eventually('the topic takes records', async () => {
      if (produced.count < wanted) await workload.produce(pipeline, produced, wanted - produced.count);
      return true;
    });
    return produced;
  };
  const rowsOf = async (one: ProductProcess): Promise<number | null | undefined> => (await one.status()).tables[0]?.rowCount;
  const expectSound = async (pipeline: PipelineCase, rows: number): Promise<void> => {
    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    expect(JSON.parse(audit.stdout), audit.stdout).toMatchObject({ rows, sound: true });
  };

  it.each(decided)(
    'X05: a topic is deleted and created again while it is read, decided beforehand with %s, for %s',
    async (policy, _, kind) => {
      const pipeline = caseOf(policy, kind, [`onOffsetDiscontinuity: ${policy}`]);
      await workload.createTopic(pipeline);
      const worker = serve(pipeline);
      const old = await produce(pipeline, 400);
      await untilThrough(worker, pipeline, old);
      await recreate(pipeline);
      const fresh = await produce(pipeline, 1_000);
      await untilThrough(worker, pipeline, fresh);
      const rows = (await rowsOf(worker)) ?? 0;
      if (policy === 'reset-to-latest') expect(rows).toBeGreaterThanOrEqual(old.rowCount);
      else expect(rows).toBe(old.rowCount + fresh.rowCount);
      await produce(pipeline, 60, fresh);
      await untilThrough(worker, pipeline, fresh);
      expect(await rowsOf(worker)).toBe(rows + 60);
      expect((await worker.terminate()).code, worker.log).toBe(0);
      await expectSound(pipeline, rows + 60);
    },
  );

  it.each(madeAnew)('X05: a topic is made anew with %s partitions while nobody reads it, for %s', async (partitions, _, kind) => {
    const pipeline = caseOf(`stopped-${partitions}`, kind);
    await workload.createTopic(pipeline);
    const first = serve(pipeline);
    const old = await produce(pipeline, 400);
    await untilThrough(first, pipeline, old);
    expect((await first.terminate()).code, first.log).toBe(0);
    const anew = { ...pipeline, partitions };
    await recreate(anew);
    const fresh = await produce(anew, 1_000);
    const watchful = serve(pipeline);
    await eventually('the discontinuity is reported', async () => {
      const table = (await watchful.status()).tables[0];
      return table?.ingest === 'discontinuity' && table.partitions.filter(({ problem }) => problem !== null).length === partitions;
    });
    expect(await rowsOf(watchful)).toBe(old.rowCount);
    expect((await watchful.terminate()).code, watchful.log).toBe(0);
    const accepting = serve(pipeline, { args: ['--set', 'ingest.onOffsetDiscontinuity=accept'] });
    await untilThrough(accepting, pipeline, fresh);
    expect(await rowsOf(accepting)).toBe(old.rowCount + fresh.rowCount);
    expect((await accepting.terminate()).code, accepting.log).toBe(0);
    await expectSound(pipeline, old.rowCount + fresh.rowCount);
  });

  it.each(bothFormats)(
    'P03: reading begins at the end of a topic and the process dies before its first commit, for %s',
    async (_, kind) => {
      const pipeline = caseOf('latest', kind, ['startFrom: latest']);
      await workload.createTopic(pipeline);
      const skipped = await produce(pipeline, 100);
      const first = serve(pipeline);
      // From the moment at which the process is ready nothing is passed over.
      while ((await first.probe('/readyz').catch(() => undefined))?.status !== 200) await sleep(5);
      await first.kill();
      await produce(pipeline, 200, skipped);
      const second = serve(pipeline);
      await untilThrough(second, pipeline, skipped);
      expect(await rowsOf(second)).toBe(200);
      expect((await second.terminate()).code, second.log).toBe(0);
      await expectSound(pipeline, 200);
    },
  );

  it.each(bothFormats)('P03: partitions are added to a topic that is read, for %s', async (_, kind) => {
    const pipeline = caseOf('added', kind, ['startFrom: latest']);
    await workload.createTopic(pipeline);
    const worker = serve(pipeline);
    await eventually('it reads', async () => (await worker.status()).tables[0]?.ingest === 'running');
    const produced = await produce(pipeline, 100);
    await workload.admin.createPartitions({ topicPartitions: [{ topic: pipeline.topic, count: 6 }] });
    // A producer knows the partitions that the broker told it of first, and drops what is for others: each try is one of its own.
    await eventually('the added partitions take records', async () => {
      const informed = new Workload();
      await informed.connect();
      try {
        await informed.produce({ ...pipeline, partitions: 6 }, produced, 220 - produced.count);
      } finally {
        await informed.close();
      }
      return produced.ends.size === 6 && produced.count >= 220;
    });
    await untilThrough(worker, pipeline, produced);
    expect(await rowsOf(worker)).toBe(produced.rowCount);
    expect(worker.said('KAFKA_TOPIC_NOT_FOUND')).toBe(false);
    expect((await worker.terminate()).code, worker.log).toBe(0);
    await expectSound(pipeline, produced.rowCount);
  });

  it.each(bothFormats)(
    'the topic of %s does not exist yet, and none of it is skipped even when topics are read from their end',
    async (_, kind) => {
      const pipeline = caseOf('missing', kind, ['startFrom: latest']);
      const worker = serve(pipeline);
      await eventually('it waits', async () => (await worker.status()).tables[0]?.ingest === 'waiting-for-topic');
      expect((await worker.status()).tables[0]?.detail).toContain(`waiting for topic "${pipeline.topic}"`);
      expect((await worker.probe('/readyz')).status).toBe(503);
      await sleep(3_000);
      expect(worker.log.split('\n').filter((line) => line.includes('"waiting for topic"'))).toHaveLength(1);
      expect(worker.log).not.toContain('KAFKA_TOPIC_NOT_FOUND');
      await workload.createTopic(pipeline);
      const produced = await produce(pipeline, 40);
      await untilThrough(worker, pipeline, produced);
      expect(await rowsOf(worker)).toBe(40 - produced.poison.size);
      expect((await worker.probe('/readyz')).status).toBe(200);
      expect((await worker.terminate()).code, worker.log).toBe(0);
    },
  );
});

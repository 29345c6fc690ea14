import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { judge } from '../support/checks.ts';
import { eventually, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase } from '../support/process-workload.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';

/* What operators do to the files of a table under a process that runs. */

describe('a process that ingests', () => {
  const { dir, workload, serve } = productBench('acts');

  it.each(bothFormats)('into %s reads a batch again whose files a vacuum deleted while it stood still', async (_, { label, iceberg }) => {
    // It keeps its partitions: nothing but its own look tells it that the files are gone.
    const pipeline = pipelineCase(dir, `vacuumed-${label}`, { iceberg, sessionTimeout: '60s' });
    const produced = new Produced(Number.MAX_SAFE_INTEGER);
    await workload.createTopic(pipeline);
    const worker = serve(pipeline, { env: { FAILPOINT: 'before-commit:pause:4' } });
    await eventually('the worker stands still', async () => {
      await workload.produce(pipeline, produced, 50);
      return worker.said('failpoint before-commit: pause');
    });
    // Longer than the retention that follows.
    await sleep(2_500);
    const args = ['maintain', 'vacuum', 'events', '--retain', '1s', '--allow-short-retention', '--yes'];
    const vacuumed = await runProduct({ config: pipeline.config, args });
    expect(vacuumed.code, vacuumed.log).toBe(0);
    worker.signal('SIGCONT');
    await untilThrough(worker, pipeline, produced);
    expect(worker.said('"reason":"staged-missing"'), worker.log).toBe(true);
    expect((await worker.terminate()).code, worker.log).toBe(0);
    expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
  });

  it.each(bothFormats)('into %s stands still, and says why, when the folder of the table is deleted', async (_, { label, iceberg }) => {
    const pipeline = pipelineCase(dir, `deleted-${label}`, { iceberg });
    const produced = new Produced(Number.MAX_SAFE_INTEGER);
    await workload.createTopic(pipeline);
    const worker = serve(pipeline);
    await workload.produce(pipeline, produced, 50);
    await untilThrough(worker, pipeline, produced);
    rmSync(pipeline.tableDir, { recursive: true });
    await workload.produce(pipeline, produced, 50);
    const table = await eventually('its ingest stands still', async () => {
      const [found] = (await worker.status()).tables;
      return found?.ingest === 'failed' ? found : undefined;
    });
    expect(table.detail).toContain('TABLE_GONE');
    expect((await worker.probe('/readyz')).status).toBe(503);
    // What was fetched and is in no table counts, and what comes later too.
    await workload.produce(pipeline, produced, 25);
    await eventually('the lag is told', async () => (await worker.metrics()).sum('tidewater_consumer_lag_records') === 75);
    expect((await worker.terminate()).code, worker.log).toBe(0);
  });
});

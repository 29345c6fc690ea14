import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../support/checks.ts';
import { header } from '../support/checks-feed.ts';
import { LogWatch, newestVersion } from '../support/checks-log.ts';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

const maintenance = '{ sweepInterval: 500ms, compaction: { minInputFiles: 4 } }';

describe('the product on real servers', () => {
  const dir = temporaryDirectory('smoke');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  const serve = (config: string): ProductProcess => {
    const started = new ProductProcess({ config, args: ['serve'] });
    running.push(started);
    return started;
  };
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await Promise.all(running.map((started) => started.kill()));
    await workload.close();
    removeDirectory(dir);
  });

  it('takes records from topic to table to feed exactly once, drains, and continues where it stopped', async () => {
    const pipeline = pipelineCase(dir, 'smoke', { maintenance });
    const produced = new Produced();
    await workload.createTopic(pipeline);
    const watch = new LogWatch(pipeline.tableDir);
    await workload.produce(pipeline, produced, 2_000);

    const first = serve(pipeline.config);
    for (let part = 0; part < 6; part += 1) await workload.produce(pipeline, produced, 500);
    await untilThrough(first, pipeline, produced);
    const ready = await eventually('the process is ready', async () => {
      const probe = await first.probe('/readyz');
      return probe.status === 200 ? probe : undefined;
    });
    expect(ready.body).toMatchObject({ status: 'ready' });
    const metrics = await first.metrics();
    const count = (name: string): number => metrics.sum(`tidewater_ingest_records_${name}`);
    expect(count('consumed_total')).toBe(
      count('committed_total') + count('dead_lettered_total') + count('filtered_total') + count('in_flight'),
    );
    expect(count('committed_total')).toBe(produced.rowCount);
    expect(count('dead_lettered_total')).toBe(produced.poison.size);
    expect(metrics.sum('tidewater_cdf_records_total')).toBe(produced.rowCount);
    expect(await first.terminate(), first.log).toEqual({ code: 0, signal: null });

    const stoppedAt = newestVersion(pipeline.tableDir);
    const second = serve(pipeline.config);
    await workload.produce(pipeline, produced, 500);
    await untilThrough(second, pipeline, produced);
    const secondMetrics = await second.metrics();
    expect(secondMetrics.sum('tidewater_ingest_records_consumed_total')).toBe(500);
    expect(await second.terminate(), second.log).toEqual({ code: 0, signal: null });
    expect(newestVersion(pipeline.tableDir)).toBeGreaterThan(stoppedAt);

    const verdict = await judge(workload, pipeline, produced);
    expect(verdict.findings).toEqual([]);
    expect(watch.finish()).toEqual([]);
    expect(verdict.orphans).toEqual([]);
    expect(verdict.deadLetters).toHaveLength(produced.poison.size);
    expect(new Set(verdict.deadLetters.map((message) => header(message, 'tidewater.dlq.table')))).toEqual(new Set(['events']));
    expect(verdict.deadLetters.every((message) => (header(message, 'tidewater.dlq.reason') ?? '') !== '')).toBe(true);

    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    expect(audit.code, audit.log).toBe(0);
    expect(JSON.parse(audit.stdout)).toMatchObject({ table: 'events', records: 5_500, rows: produced.rowCount, sound: true, findings: [] });
  }, 120_000);
});

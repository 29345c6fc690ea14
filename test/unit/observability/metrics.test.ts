import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { expectFresh } from '../../support/generated-page.ts';
import { metricsReferenceMarkdown } from '../../support/metrics-reference.ts';

const make = () => createMetrics({ pipeline: 'demo', version: '1.2.3', role: 'all', processMetrics: false });

describe('metrics', () => {
  it('a count, a level and a distribution are read back with the pipeline as label', async () => {
    const metrics = make();
    metrics.ingest.recordsCommitted.add(5, { table: 'flights' });
    metrics.ingest.recordsCommitted.add(2, { table: 'flights' });
    metrics.commit.tableVersion.set(7, { table: 'flights' });
    metrics.commit.durationSeconds.observe(0.3, { table: 'flights', phase: 'put' });
    expect(await metrics.samples('tidewater_ingest_records_committed_total')).toEqual([
      { labels: { table: 'flights', pipeline: 'demo' }, value: 7 },
    ]);
    expect(await metrics.samples('tidewater_table_version')).toEqual([{ labels: { table: 'flights', pipeline: 'demo' }, value: 7 }]);
    expect(await metrics.samples('tidewater_commit_duration_seconds_count')).toEqual([
      { labels: { table: 'flights', phase: 'put', pipeline: 'demo' }, value: 1 },
    ]);
    expect(await metrics.samples('tidewater_no_such_metric')).toEqual([]);
  });

  it('a removed series is not shown any more', async () => {
    const metrics = make();
    metrics.feed.state.set(1, { table: 't', topic: 'x', state: 'following' });
    metrics.feed.state.remove({ table: 't', topic: 'x', state: 'following' });
    expect(await metrics.samples('tidewater_cdf_state')).toEqual([]);
  });

  it('the terms of the balance have the names operators are told', async () => {
    const metrics = make();
    const { ingest } = metrics;
    ingest.recordsConsumed.add(10, { table: 't', topic: 'x' });
    ingest.recordsCommitted.add(5, { table: 't' });
    ingest.recordsDeadLettered.add(2, { table: 't', reason: 'wrong-type' });
    ingest.recordsFiltered.add(1, { table: 't', reason: 'skipped-by-policy' });
    ingest.recordsInFlight.set(2, { table: 't' });
    const text = await metrics.exposition();
    for (const line of [
      'tidewater_ingest_records_consumed_total{table="t",topic="x",pipeline="demo"} 10',
      'tidewater_ingest_records_committed_total{table="t",pipeline="demo"} 5',
      'tidewater_ingest_records_dead_lettered_total{table="t",reason="wrong-type",pipeline="demo"} 2',
      'tidewater_ingest_records_filtered_total{table="t",reason="skipped-by-policy",pipeline="demo"} 1',
      'tidewater_ingest_records_in_flight{table="t",pipeline="demo"} 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('two registries in one process do not meet', async () => {
    const [one, other] = [make(), make()];
    one.maintenance.queueUp.set(1, {});
    expect(await other.samples('tidewater_queue_up')).toEqual([{ labels: { pipeline: 'demo' }, value: 0 }]);
  });

  it('the build is told', async () => {
    expect(await make().samples('tidewater_build_info')).toEqual([
      { labels: { version: '1.2.3', role: 'all', pipeline: 'demo' }, value: 1 },
    ]);
  });

  it('process metrics are collected when wanted', async () => {
    const text = await createMetrics({ pipeline: 'demo', version: '1', role: 'all' }).exposition();
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).toContain('nodejs_active_resources');
    expect(text, 'node may end the process that lists its handles').not.toContain('nodejs_active_handles');
  });

  it('a blocked event loop shows in its delay', async () => {
    const metrics = make();
    metrics.start();
    const tick = () =>
      new Promise((done) => {
        setImmediate(done);
      });
    const pause = (durationMs: number) =>
      new Promise((done) => {
        setTimeout(done, durationMs);
      });
    await pause(50);
    const until = performance.now() + 200;
    while (performance.now() < until);
    await tick();
    await pause(50);
    metrics.stop();
    expect(metrics.process.eventLoopDelay().max).toBeGreaterThan(0.1);
    expect(metrics.process.eventLoopDelay().p50).toBeLessThan(0.1);
    metrics.process.resetEventLoopDelay();
    expect(metrics.process.eventLoopDelay()).toEqual({ p50: 0, p90: 0, p99: 0, max: 0 });
  });
});

describe('names', () => {
  it('counters end in _total, durations in _seconds, sizes in _bytes, and no label is an id', () => {
    for (const { name, type, labels, help } of make().catalogue) {
      expect(name).toMatch(/^tidewater_[a-z][a-z_]*$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|millis|kb|mb)\b/);
      expect(help).toMatch(/\.$/);
      expect(
        labels.filter((label) => /(^|_)(id|offset|version|commit)$/.test(label)).filter(() => name !== 'tidewater_build_info'),
      ).toEqual([]);
    }
  });

  it('docs/reference/metrics.md is fresh', () => {
    expectFresh('docs/reference/metrics.md', metricsReferenceMarkdown(make().catalogue));
  });
});

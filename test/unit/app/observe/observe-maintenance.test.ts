import { expect, it } from 'vitest';
import { observeMaintenance } from '../../../../src/app/observe/observe-maintenance.ts';
import { JobRunner } from '../../../../src/maintenance/job-runner.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { MaintenanceBench } from '../../maintenance/maintenance-bench.ts';

it('a job for a table that is not of this pipeline makes no label and holds nothing', async () => {
  const bench = new MaintenanceBench();
  const metrics = createMetrics({ pipeline: 'demo', version: '1', role: 'all', processMetrics: false });
  const runner = new JobRunner({ ...bench.parts, observer: observeMaintenance(metrics, silentLogger) });
  for (let index = 0; index < 100; index++) {
    const job = runner.run({ table: `hostile-${index}`, kind: 'compact', reason: 'r' }, new AbortController().signal);
    await expect(job).rejects.toMatchObject({ code: 'JOB_TABLE_UNKNOWN', retryable: false });
  }
  const text = await metrics.exposition();
  expect(text).not.toContain('hostile');
  expect(text).toContain('tidewater_maintenance_jobs_refused_total{pipeline="demo"} 100');
});

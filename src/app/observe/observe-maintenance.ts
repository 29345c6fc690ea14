import type { MaintenanceObserver } from '../../maintenance/maintenance-observer.ts';
import type { CommitMetrics, MaintenanceMetrics } from '../../observability/area-metrics.ts';
import type { Logger } from '../../observability/logger.ts';

/** What the maintenance service does, as metrics and log lines. */
export function observeMaintenance(
  metrics: { readonly maintenance: MaintenanceMetrics; readonly commit: CommitMetrics },
  logger: Logger,
): MaintenanceObserver {
  const { maintenance, commit } = metrics;
  return {
    queued: ({ table, kind, reason }) => {
      logger.info('job queued', { table, job: kind, reason });
    },
    started: ({ table, kind }) => {
      logger.debug('job started', { table, job: kind });
    },
    finished: ({ table, kind }, { result, durationMs, details }) => {
      maintenance.jobs.add(1, { table, job: kind, result });
      maintenance.jobSeconds.observe(durationMs / 1000, { job: kind });
      const { filesAdded = 0, filesRemoved = 0, bytesAdded = 0, bytesRemoved = 0 } = details;
      maintenance.files.add(filesAdded, { table, job: kind, direction: 'added' });
      maintenance.files.add(filesRemoved, { table, job: kind, direction: 'removed' });
      maintenance.bytes.add(bytesAdded, { table, job: kind, direction: 'added' });
      maintenance.bytes.add(bytesRemoved, { table, job: kind, direction: 'removed' });
      logger.info('job finished', { table, job: kind, result, ...details });
    },
    refused: ({ kind }, error) => {
      maintenance.jobsRefused.add(1, {});
      logger.warn('job refused', { job: kind, err: error });
    },
    failed: ({ table, kind }, error, durationMs) => {
      maintenance.jobs.add(1, { table, job: kind, result: 'failed' });
      maintenance.jobSeconds.observe(durationMs / 1000, { job: kind });
      logger.warn('job failed', { table, job: kind, err: error });
    },
    stopped: ({ table, kind }, durationMs) => {
      maintenance.jobs.add(1, { table, job: kind, result: 'stopped' });
      maintenance.jobSeconds.observe(durationMs / 1000, { job: kind });
      logger.info('job given up, the process ends', { table, job: kind });
    },
    health: (table, { version, files, smallFiles, sizeBytes }) => {
      commit.tableVersion.set(version, { table });
      commit.tableFiles.set(files, { table });
      commit.tableSmallFiles.set(smallFiles, { table });
      commit.tableSizeBytes.set(sizeBytes, { table });
    },
    sweepFailed: (table, error) => {
      logger.warn('table not looked at, the next sweep tries again', { table, err: error });
    },
  };
}

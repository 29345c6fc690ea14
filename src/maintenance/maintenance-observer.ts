import type { JobSpec } from './job-spec.ts';

export type JobResult = 'done' | 'nothing-to-do' | 'conflicted' | 'failed';

/** What the maintenance service tells about its work; every method has a counterpart among the metrics. */
export interface MaintenanceObserver {
  queued(spec: JobSpec): void;
  started(spec: JobSpec): void;
  finished(
    spec: JobSpec,
    outcome: { readonly result: JobResult; readonly durationMs: number; readonly details: Readonly<Record<string, number>> },
  ): void;
  /** What is no job, or one for a table that is none of this pipeline: its name may be anything and must not become a label. */
  refused(job: Pick<JobSpec, 'kind'>, error: unknown): void;
  failed(spec: JobSpec, error: unknown, durationMs: number): void;
  /** Given up since the process ends: whoever is there next finds what is to be done. */
  stopped(spec: JobSpec, durationMs: number): void;
  health(
    table: string,
    health: { readonly version: number; readonly files: number; readonly smallFiles: number; readonly sizeBytes: number },
  ): void;
  /** A look at a table, or asking for a job, failed; the next sweep tries again. */
  sweepFailed(table: string, error: unknown): void;
}

import type { EpochMs } from '../base/clock.ts';
import type { MaintenanceKind } from '../table/table.ts';
import type { JobIdentity, JobSpec } from './job-spec.ts';

export type EnqueueResult = 'queued' | 'already-queued';

/** How many jobs of a kind are in which state. */
export type QueueCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'completed' | 'failed', number>>;

/** Runs one attempt; a rejection is retried with a wait, until the queue's attempts are used up. */
export type JobHandler = (spec: JobSpec, signal: AbortSignal) => Promise<void>;

/**
 * Jobs that outlive a process, one queue a kind. What it guarantees:
 * - at most one job of an identity (table and kind) waits or runs; `enqueue` of another is `already-queued`;
 * - a job whose worker died is run again by another one, so a job may run twice, even at the same time for a moment: what it does must
 *   be safe to repeat (here the table's conditional commit sees to it);
 * - while the server is away `enqueue` rejects with kind `unavailable` at once and workers wait; nothing else of the process is hurt.
 *   Jobs that were lost with the server are planned again from the table.
 */
export interface JobQueue {
  enqueue(spec: JobSpec): Promise<EnqueueResult>;
  /** Runs jobs of all kinds, at most `concurrency` at once, until `close`. To be called once. */
  work(handler: JobHandler, concurrency: number): void;
  counts(kind: MaintenanceKind): Promise<QueueCounts>;
  /** Keeps, for all processes and beyond their lives, when work of this identity last ended well. */
  noteDone(identity: JobIdentity, atMs: EpochMs): Promise<void>;
  /** The newest time noted; `undefined`: none, or the server lost it. */
  lastDoneMs(identity: JobIdentity): Promise<EpochMs | undefined>;
  /** Whether the server answers at present. */
  readonly connected: boolean;
  /** Waits for jobs under way and leaves. */
  close(): Promise<void>;
}

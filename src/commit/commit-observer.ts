import type { DiscardReason } from '../protocol/batch-sink.ts';
import type { StageResult } from '../protocol/sealed-batch.ts';
import type { AppliedKeys } from '../table/keyed.ts';
import type { Version } from '../table/version.ts';
import type { Tidied } from './keyed/marked-files.ts';
import type { EvolutionObserver } from './table-evolution.ts';

/** One batch in the table. */
export interface CommittedBatch {
  readonly version: Version;
  readonly staged: StageResult;
  readonly deadLettered: number;
  readonly filtered: number;
  readonly commitMs: number;
  /** Of a keyed table. */
  readonly applied?: AppliedKeys | undefined;
}

/** What the commit service tells about its work; every method has a counterpart among the metrics. */
export interface CommitObserver extends EvolutionObserver {
  /** Records left the topic for good or were given back: exactly one of `committed` and `discarded` follows for each `staged`. */
  staged(result: StageResult): void;
  committed(commit: CommittedBatch): void;
  discarded(result: StageResult, reason: DiscardReason): void;
  /** One attempt ended so. `unavailable`: the store refused, with this error, and nothing changed. */
  attempt(result: 'committed' | 'already-committed' | 'conflicted' | 'unknown' | 'unavailable', error?: unknown): void;
  /** A batch could not be staged or committed; its records are read again. */
  failed(error: unknown): void;
  /** Files with many marked rows were written anew, or were not: others were in the way. */
  tidied(result: Tidied): void;
  /** They could not be; their rows are as they were. */
  notTidied(error: unknown): void;
  /** How an unknown outcome was resolved. */
  resolved(as: 'own' | 'absent'): void;
}

/** For commits that nobody watches. */
export const silentCommitObserver: CommitObserver = {
  staged: () => undefined,
  committed: () => undefined,
  discarded: () => undefined,
  attempt: () => undefined,
  failed: () => undefined,
  resolved: () => undefined,
  tidied: () => undefined,
  notTidied: () => undefined,
  evolved: () => undefined,
  notEvolved: () => undefined,
};

import type { StageResult } from '../protocol/sealed-batch.ts';
import type { Version } from '../table/version.ts';

/** One batch in the table. */
export interface CommittedBatch {
  readonly version: Version;
  readonly staged: StageResult;
  readonly deadLettered: number;
  readonly filtered: number;
  readonly commitMs: number;
}

/** What the commit service tells about its work; every method has a counterpart among the metrics. */
export interface CommitObserver {
  /** Records left the topic for good or were given back: exactly one of `committed` and `discarded` follows for each `staged`. */
  staged(result: StageResult): void;
  committed(commit: CommittedBatch): void;
  discarded(result: StageResult): void;
  /** One attempt ended so. `unavailable`: the store refused and nothing changed. */
  attempt(result: 'committed' | 'already-committed' | 'conflicted' | 'unknown' | 'unavailable'): void;
  /** How an unknown outcome was resolved. */
  resolved(as: 'own' | 'absent'): void;
}

export const silentCommitObserver: CommitObserver = {
  staged: () => undefined,
  committed: () => undefined,
  discarded: () => undefined,
  attempt: () => undefined,
  resolved: () => undefined,
};

import type { Version } from '../table/version.ts';

/** What the commit service tells about its work; every method has a counterpart among the metrics. */
export interface CommitObserver {
  staged(rows: { readonly rowCount: number; readonly rejectedCount: number }): void;
  committed(commit: {
    readonly version: Version;
    readonly rowCount: number;
    readonly fileCount: number;
    readonly sizeBytes: number;
    readonly decodeMs: number;
    readonly encodeMs: number;
    readonly storeMs: number;
    readonly commitMs: number;
    readonly deadLettered: number;
    readonly filtered: number;
  }): void;
  discarded(rows: { readonly rowCount: number; readonly rejectedCount: number }): void;
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

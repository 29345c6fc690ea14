import type { KeyedStatus } from '../../admin/status.ts';
import type { Clock } from '../../base/clock.ts';
import type { CommitObserver } from '../../commit/commit-observer.ts';
import type { KeyIndexSize } from '../../rows/key-index/key-index-observer.ts';
import type { AppliedKeys } from '../../table/keyed.ts';

/** What the commits of one keyed table did since the process started, over the restarts of its ingest. */
export class KeyedTotals {
  readonly #clock: Pick<Clock, 'now'>;
  #status: KeyedStatus = { insertedRows: 0, updatedRows: 0, deletedRows: 0, lateKeys: 0, lastLookup: undefined };

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get status(): KeyedStatus {
    return this.#status;
  }

  /** Tells `observer` all, and counts. */
  counting(observer: CommitObserver): CommitObserver {
    return {
      ...observer,
      committed: (commit) => {
        observer.committed(commit);
        if (commit.applied !== undefined) this.#add(commit.applied);
      },
    };
  }

  /** Deletes are remembered there, so many of them. */
  remembers(table: string, rows: number | undefined): void {
    this.#status = { ...this.#status, tombstones: { table, rows } };
  }

  indexed({ files, entries, bytes }: KeyIndexSize): void {
    this.#status = { ...this.#status, index: { files, rows: entries, bytes } };
  }

  #add({ insertedRows, updatedRows, deletedRows, lateKeys, filesLookedAt, lookupMs }: AppliedKeys): void {
    const known = this.#status;
    this.#status = {
      ...known,
      insertedRows: known.insertedRows + insertedRows,
      updatedRows: known.updatedRows + updatedRows,
      deletedRows: known.deletedRows + deletedRows,
      lateKeys: known.lateKeys + lateKeys,
      lastLookup: { at: new Date(this.#clock.now()).toISOString(), durationMs: Math.round(lookupMs), filesLookedAt },
    };
  }
}

/** Tells `observer` all; where there are totals, they count. */
export function countingKeys(observer: CommitObserver, totals: KeyedTotals | undefined): CommitObserver {
  return totals?.counting(observer) ?? observer;
}

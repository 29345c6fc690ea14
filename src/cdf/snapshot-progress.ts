import type { Clock } from '../base/clock.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { VersionChanges } from '../table/changes.ts';
import { isInSnapshot } from './feed-position.ts';

/** How far the snapshot of a feed is. */
export interface SnapshotProgress {
  readonly version: number;
  /** Rows of the table that are passed, those that are none of the feed's too. */
  readonly rows: number;
  /** `undefined`: a file does not say how many it has. */
  readonly totalRows: number | undefined;
  /** 0 to 100. */
  readonly percent: number | undefined;
  /** Since this process publishes it; `undefined`: nothing yet. */
  readonly rowsPerSecond: number | undefined;
  readonly remainingSeconds: number | undefined;
}

/** Rows of a snapshot, where all its files say how many they have. */
export function rowsIn({ files }: Pick<VersionChanges, 'files'>): number | undefined {
  let rows = 0;
  for (const { rowCount } of files) {
    if (rowCount === undefined) return undefined;
    rows += rowCount;
  }
  return rows;
}

/** What is known from the position alone. */
export function snapshotProgress(position: FeedPosition, totalRows: number | undefined): SnapshotProgress {
  const percent =
    totalRows === undefined ? undefined : totalRows === 0 ? 100 : Math.min(100, Math.floor((position.ordinal * 100) / totalRows));
  return { version: position.version, rows: position.ordinal, totalRows, percent, rowsPerSecond: undefined, remainingSeconds: undefined };
}

/** Measures the snapshot that a feed publishes, and holds it back to a rate. */
export class SnapshotPace {
  readonly #clock: Clock;
  readonly #maxRowsPerSecond: number | undefined;
  #begun: { readonly version: number; readonly rows: number; readonly atMs: number } | undefined;

  constructor(clock: Clock, maxRowsPerSecond: number | undefined) {
    this.#clock = clock;
    this.#maxRowsPerSecond = maxRowsPerSecond;
  }

  /** Notes where the reading begins; only the first call for a snapshot counts. */
  begin(position: FeedPosition): void {
    const { version, ordinal } = position;
    if (!isInSnapshot(position)) this.#begun = undefined;
    else if (this.#begun?.version !== version) this.#begun = { version, rows: ordinal, atMs: this.#clock.monotonicMs() };
  }

  progress(position: FeedPosition, totalRows: number | undefined): SnapshotProgress {
    const plain = snapshotProgress(position, totalRows);
    const passed = position.ordinal - (this.#begun?.rows ?? position.ordinal);
    const seconds = (this.#clock.monotonicMs() - (this.#begun?.atMs ?? 0)) / 1000;
    if (passed <= 0 || seconds <= 0) return plain;
    const rowsPerSecond = passed / seconds;
    const left = totalRows === undefined ? undefined : Math.max(0, totalRows - position.ordinal);
    return { ...plain, rowsPerSecond, remainingSeconds: left === undefined ? undefined : Math.ceil(left / rowsPerSecond) };
  }

  /** Waits until so many rows may have been read. */
  async hold(position: FeedPosition, signal: AbortSignal): Promise<void> {
    if (this.#maxRowsPerSecond === undefined || this.#begun === undefined) return;
    const dueMs = this.#begun.atMs + ((position.ordinal - this.#begun.rows) * 1000) / this.#maxRowsPerSecond;
    const waitMs = dueMs - this.#clock.monotonicMs();
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
  }
}

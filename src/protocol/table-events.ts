import type { Version } from '../table/version.ts';

/** Services tell each other that a table moved. Only shortens a wait: losing an event costs one poll interval. */
export interface TableEvents {
  committed(table: string, version: Version): void;
  /** Resolves at the next commit of the table after the call, or after `timeoutMs`. */
  waitForCommit(table: string, timeoutMs: number, signal?: AbortSignal): Promise<void>;
}

/** Versions of a table that a reader of its changes still needs. */
export interface RetentionHold {
  /** Who: the id of a feed or reader, or `twin <table>`. */
  readonly by: string;
  /** Changes from this version on; it may be one that is yet to come. */
  readonly fromVersion: Version;
  /** False: letting go of it would break another table. */
  readonly releasable: boolean;
}

/** What vacuum, expiry and log cleanup must not pass. */
export interface FeedWatermarks {
  /** The oldest version whose changes are kept, whatever their age; `undefined`: nobody asks for any. */
  lowWatermark(table: string): Promise<Version | undefined>;
}

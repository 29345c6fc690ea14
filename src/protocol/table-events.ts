import type { Version } from '../table/version.ts';

/** Services tell each other that a table moved. Only shortens a wait: losing an event costs one poll interval. */
export interface TableEvents {
  committed(table: string, version: Version): void;
  /** Resolves at the next commit of the table after the call, or after `timeoutMs`. */
  waitForCommit(table: string, timeoutMs: number, signal?: AbortSignal): Promise<void>;
}

/** The slowest position any registered feed still needs, per table; what vacuum and log cleanup must not pass. */
export interface FeedWatermarks {
  /** `undefined`: no feed is registered for the table. */
  lowWatermark(table: string): Promise<Version | undefined>;
}

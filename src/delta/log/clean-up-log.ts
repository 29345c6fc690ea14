import { throwIfAborted } from '../../base/abort.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Version } from '../../table/version.ts';
import type { LogListing } from './log-listing.ts';

const dayMs = 86_400_000;
/** Objects deleted in one go; the next run goes on. */
const maxDeletions = 10_000;

export interface LogRetention {
  readonly nowMs: number;
  readonly logRetentionMs: number;
  /** The slowest feed's next version: what replaying its predecessor takes is kept. */
  readonly keepVersionsFrom?: Version | undefined;
}

/**
 * The checkpoint that everything older can go behind: the newest one that is past retention, whose own commit is there (other engines
 * want both), and that no feed needs to look behind. `undefined`: delete nothing.
 */
export function cleanUpHorizon(listing: LogListing, retention: LogRetention): Version | undefined {
  // Whole days (UTC), so that repeated runs of a day agree.
  const cutOffMs = Math.floor((retention.nowMs - retention.logRetentionMs) / dayMs) * dayMs;
  const needed = retention.keepVersionsFrom === undefined ? Number.POSITIVE_INFINITY : retention.keepVersionsFrom - 1;
  const checkpoints = new Set(listing.checkpoints.map((checkpoint) => checkpoint.version));
  let horizon: Version | undefined;
  let timeMs = 0;
  for (const commit of listing.commits) {
    const movedForward = commit.modifiedMs <= timeMs && timeMs > 0;
    timeMs = movedForward ? timeMs + 1 : commit.modifiedMs;
    if (timeMs >= cutOffMs || commit.version > needed) break;
    // A commit whose time was moved forward needs those before it to get the same time again.
    if (checkpoints.has(commit.version) && !movedForward) horizon = commit.version;
  }
  return horizon;
}

/** Deletes all of the log behind the horizon, oldest first, so that what is left has no gap whenever this stops. */
export async function cleanUpLog(store: ObjectStore, listing: LogListing, horizon: Version, signal?: AbortSignal): Promise<number> {
  const expired = listing.objects.filter((object) => object.version < horizon).slice(0, maxDeletions);
  for (const object of expired) {
    throwIfAborted(signal);
    await store.delete(object.path, signal);
  }
  return expired.length;
}

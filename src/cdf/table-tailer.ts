import type { FeedPosition } from '../protocol/change-event.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import { type ChangesRequest, type HeldChanges, plainChanges, type VersionChanges } from '../table/changes.ts';
import { changesGone, isGap } from '../table/changes-gone.ts';
import type { ReadableTable, Snapshot } from '../table/table.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';
import { FeedFilter } from './feed-filter.ts';
import { isInSnapshot } from './feed-position.ts';

/** Follows one table: which version is newest, what comes after a position, and when to look again. */
export class TableTailer {
  readonly #table: ReadableTable;
  readonly #events: TableEvents;
  readonly #pollIntervalMs: number;
  readonly #request: ChangesRequest;
  #cached:
    | { readonly version: Version; readonly snapshot: boolean; readonly changes: VersionChanges; readonly release: HeldChanges['release'] }
    | undefined;

  /** @param options.where the feed's condition. */
  constructor(options: {
    readonly table: ReadableTable;
    readonly events: TableEvents;
    readonly pollIntervalMs: number;
    readonly where?: string | undefined;
  }) {
    const { where } = options;
    this.#request = where === undefined ? {} : { filter: (schema) => FeedFilter.of(where, schema).condition };
    this.#table = options.table;
    this.#events = options.events;
    this.#pollIntervalMs = options.pollIntervalMs;
  }

  latest(signal?: AbortSignal): Promise<Snapshot> {
    return this.#table.refresh(signal);
  }

  /** Resolves when the table is past `version`, at the latest after one poll interval. */
  async waitPast(version: Version, signal: AbortSignal): Promise<void> {
    const enough = new AbortController();
    // Listening starts before looking: a commit in between would otherwise cost a poll interval.
    const commit = this.#events.waitForCommit(this.#table.name, this.#pollIntervalMs, AbortSignal.any([signal, enough.signal]));
    const ended = commit.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    try {
      const latest = await this.#table.refresh(signal);
      if (latest.version > version) enough.abort();
    } catch (error) {
      enough.abort();
      throw error;
    }
    const rejected = await ended;
    if (rejected !== undefined && !enough.signal.aborted) throw rejected.error;
  }

  /** The rows the feed needs next: the rest of the position's version, or the changes of the version after it. */
  async rowsAfter(position: FeedPosition, signal?: AbortSignal): Promise<VersionChanges> {
    const version = position.complete ? nextVersion(position.version) : position.version;
    const snapshot = isInSnapshot(position);
    const cached = this.#cached;
    if (cached?.version === version && cached.snapshot === snapshot) return cached.changes;
    await this.release();
    const held = await (snapshot
      ? this.#table.rowsAt(version, this.#request, signal)
      : this.#table.changesOf(version, this.#request, signal));
    const changes = plainChanges(held);
    this.#cached = { version, snapshot, changes, release: held.release };
    return changes;
  }

  /** Lets go of what was read last: to be called when nothing reads its files. */
  async release(): Promise<void> {
    const last = this.#cached;
    this.#cached = undefined;
    await last?.release?.();
  }
}

/**
 * The oldest version whose changes can be read.
 *
 * @throws ServiceError `CDF_GAP` (kind not-found) when there is none.
 */
export async function earliestReadable(table: ReadableTable, signal?: AbortSignal): Promise<Version> {
  const history = await table.history({}, signal);
  const oldest = history.at(-1)?.version ?? 0;
  const newest = history[0]?.version;
  // Nothing was ever written: everything is still to come.
  if (newest === undefined) return (await table.refresh(signal)).version;
  for (let version = oldest; version <= newest; version++) {
    try {
      await (await table.changesOf(toVersion(version), {}, signal)).release?.();
      return toVersion(version);
    } catch (error) {
      if (!isGap(error)) throw error;
    }
  }
  throw changesGone(table.name, newest, `no version from ${oldest} to ${newest} has readable changes`, {
    hint: 'enable the change feed of the table, or start the feed with a snapshot',
  });
}

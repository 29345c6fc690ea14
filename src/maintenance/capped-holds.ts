import type { Clock } from '../base/clock.ts';
import type { FeedWatermarks, RetentionHold } from '../protocol/table-events.ts';
import type { MaintainedTable, ReadableTable } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { FeedHoldSettings } from './settings.ts';

/** How a reader holds a table back, as of a look. */
export interface HoldState extends RetentionHold {
  /** Since the oldest version that it needs was committed; 0 when that is yet to come. */
  readonly ageMs: number;
  /** What only this hold, or one that is further behind, keeps on storage; `undefined`: not measured, without `maintenance.feedHold.maxBytes`. */
  readonly bytes: number | undefined;
  /** Over `maintenance.feedHold.maxAge` or `maxBytes`. */
  readonly isOver: boolean;
  /** Over, and by the settings not held any more: what it needs may be deleted. */
  readonly isReleased: boolean;
  /** Committed versions that it has yet to read: what it loses where it is released. */
  readonly versions: number;
}

interface CappedHoldsParts {
  readonly holdsOf: (table: string) => Promise<readonly RetentionHold[]>;
  readonly load: (table: string) => Promise<Pick<ReadableTable & MaintainedTable, 'history' | 'refresh' | 'heldBytes'>>;
  readonly settings: FeedHoldSettings;
  readonly clock: Clock;
  /** Told of every look, and waited for. */
  readonly onLook: (table: string, holds: readonly HoldState[]) => Promise<void> | void;
}

/** Holds retention for the slowest reader of a table, for as long as the settings allow. */
export class CappedHolds implements FeedWatermarks {
  readonly #parts: CappedHoldsParts;

  constructor(parts: CappedHoldsParts) {
    this.#parts = parts;
  }

  /** @throws what the broker and the table throw: nothing may be deleted then. */
  async lowWatermark(table: string): Promise<Version | undefined> {
    const held = (await this.look(table)).filter(({ isReleased }) => !isReleased).map(({ fromVersion }) => fromVersion);
    return held.length === 0 ? undefined : toVersion(Math.min(...held));
  }

  /** Everybody who holds the table back now. `measured`: with the bytes, even without a bound for them. */
  async look(table: string, { measured = false }: { readonly measured?: boolean } = {}): Promise<readonly HoldState[]> {
    const { holdsOf, settings, onLook } = this.#parts;
    const { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes } = settings;
    const holds = await holdsOf(table);
    const times = await this.#times(table, holds);
    const bytes = measured || maxBytes !== undefined ? await this.#bytes(table, holds) : undefined;
    const states = holds.map((hold): HoldState => {
      const ageMs = times.ageOf(hold.fromVersion);
      const keeps = bytes?.get(hold.fromVersion);
      const isOver = ageMs > maxAgeMs || (keeps ?? 0) > (maxBytes ?? Number.POSITIVE_INFINITY);
      const isReleased = isOver && hold.releasable && settings.past === 'release';
      return { ...hold, ageMs, bytes: keeps, isOver, isReleased, versions: Math.max(0, times.latest + 1 - hold.fromVersion) };
    });
    await onLook(table, states);
    return states;
  }

  async #bytes(table: string, holds: readonly RetentionHold[]): Promise<ReadonlyMap<Version, number>> {
    const found = new Map<Version, number>();
    if (holds.length === 0) return found;
    const opened = await this.#parts.load(table);
    for (const { fromVersion } of holds) if (!found.has(fromVersion)) found.set(fromVersion, await opened.heldBytes(fromVersion));
    return found;
  }

  async #times(
    table: string,
    holds: readonly RetentionHold[],
  ): Promise<{ readonly latest: number; readonly ageOf: (version: Version) => number }> {
    const { load, clock } = this.#parts;
    if (holds.length === 0) return { latest: -1, ageOf: () => 0 };
    const opened = await load(table);
    const latest = (await opened.refresh()).version;
    const nowMs = clock.now();
    const ages = new Map<Version, number>();
    for (const { fromVersion } of holds) {
      if (ages.has(fromVersion)) continue;
      const committedAt = fromVersion > latest ? nowMs : await committedAtOrAfter(opened, fromVersion);
      ages.set(fromVersion, Math.max(0, nowMs - (committedAt ?? nowMs)));
    }
    return { latest, ageOf: (version) => ages.get(version) ?? 0 };
  }
}

/** What is older than the log is at least as old as its first version. */
async function committedAtOrAfter(table: Pick<ReadableTable, 'history'>, version: Version): Promise<number | undefined> {
  const [own] = await table.history({ fromVersion: version, untilVersion: version });
  return (own ?? (await table.history({ fromVersion: version })).at(-1))?.committedAt;
}

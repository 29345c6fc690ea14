import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import type { ColumnIds } from '../schema/column-ids.ts';
import type { OpenTable } from '../table/table.ts';
import type { LeaderPoint, LeaderState, LeaderStep, LeaderTable, TwinOutcome, TwinPosition, TwinTable } from '../table/twin.ts';
import { nextVersion, type Version } from '../table/version.ts';
import { changedByOthers, contended, idsDiffer, leaderReplaced, misfits, notATwin } from './twin-errors.ts';
import type { TwinObserver, TwinState, TwinStatus } from './twin-observer.ts';

export interface TwinFollowerParts {
  readonly leader: SharedTable<LeaderTable>;
  readonly twin: SharedTable<TwinTable>;
  /** Adds and widens columns of the twin until the rows of the point fit, as far as its format goes. */
  readonly adapt: (point: LeaderPoint, signal: AbortSignal | undefined) => Promise<void>;
  readonly events: TableEvents;
  readonly clock: Clock;
  readonly observer: TwinObserver;
  readonly pollIntervalMs: number;
}

/** A table, and what it can do as one of two. */
export interface SharedTable<Part> {
  readonly table: OpenTable;
  readonly part: Part;
}

/** Attempts at one version. Each that was lost means that another process has shown it, or that somebody else has written. */
const maxAttempts = 20;

interface Cursor {
  readonly tableId: string;
  readonly version: Version;
  readonly id: string;
}

/**
 * Keeps one twin where its leader is, version by version. Where it stands the twin itself says: after a crash it goes on from there, and of several
 * processes that do the same one shows a version and the others find it shown.
 */
export class TwinFollower {
  readonly #parts: TwinFollowerParts;
  /** Versions behind the position that there was nothing to show of. */
  #passed: { readonly from: Cursor; readonly to: Cursor } | undefined;
  #turn: Promise<void> = Promise.resolve();
  #state: TwinState = 'starting';
  #error: unknown;
  #shown: number | undefined;
  #lag: number | undefined;

  constructor(parts: TwinFollowerParts) {
    this.#parts = parts;
  }

  get status(): TwinStatus {
    const { leader, twin } = this.#parts;
    const [table, ofLeader] = [twin.table.name, leader.table.name];
    return { table, leader: ofLeader, state: this.#state, error: this.#error, shownVersion: this.#shown, lagVersions: this.#lag };
  }

  /** Follows until the signal fires; a commit that has begun is finished first. */
  async run(signal: AbortSignal): Promise<void> {
    const { leader, events, clock, pollIntervalMs } = this.#parts;
    while (!signal.aborted) {
      // Listening starts before looking: a commit in between would otherwise cost a poll interval.
      const waking = new AbortController();
      const woken = events.waitForCommit(leader.table.name, pollIntervalMs, AbortSignal.any([signal, waking.signal]));
      let goesWell = false;
      try {
        goesWell = await this.#try(signal);
      } finally {
        if (!goesWell) waking.abort();
      }
      await woken;
      // What stands still is not looked at with every commit of the leader.
      if (!goesWell) await clock.sleep(pollIntervalMs, signal).catch(() => undefined);
    }
  }

  /** Shows what the leader has as of the call, if nothing stands against it. */
  async drain(signal: AbortSignal): Promise<void> {
    await this.#try(signal);
  }

  /**
   * Shows what the leader has as of the call.
   *
   * @throws ServiceError saying what stands against it.
   */
  async catchUp(signal?: AbortSignal): Promise<void> {
    const turn = this.#turn.then(() => this.#catchUp(signal));
    this.#turn = turn.catch(() => undefined);
    await turn;
  }

  async #try(signal: AbortSignal): Promise<boolean> {
    try {
      await this.catchUp(signal);
      this.#tell('following', undefined);
      return true;
    } catch (error) {
      if (isServiceError(error, 'aborted') || signal.aborted) return true;
      if (!isServiceError(error)) throw error;
      this.#tell(passing.has(error.kind) ? 'retrying' : 'standing', error);
      return false;
    }
  }

  #tell(state: TwinState, error: unknown): void {
    const isNew = state !== this.#state || (isServiceError(error) && isServiceError(this.#error) && error.message !== this.#error.message);
    this.#state = state;
    this.#error = error;
    if (isNew) this.#parts.observer.state(state, error);
  }

  async #catchUp(signal: AbortSignal | undefined): Promise<void> {
    const newest = await this.#parts.leader.table.refresh(signal);
    let lost = 0;
    for (;;) {
      const cursor = this.#cursorOf(await this.#parts.twin.part.position(signal));
      this.#count(cursor?.version, newest.version);
      if (cursor !== undefined && cursor.tableId !== newest.tableId)
        throw leaderReplaced(this.#names, { known: cursor.tableId, found: newest.tableId });
      if (cursor?.version === newest.version) return;
      const outcome =
        cursor === undefined || cursor.version > newest.version
          ? await this.#match(newest.version, signal)
          : await this.#step(cursor, newest.version, signal);
      if (outcome !== 'conflicted' && outcome !== 'unknown') lost = 0;
      else if ((lost += 1) >= maxAttempts) throw contended(this.#names, lost);
    }
  }

  async #step(cursor: Cursor, newest: Version, signal: AbortSignal | undefined): Promise<TwinOutcome> {
    const { part: twin } = this.#parts.twin;
    const step = await this.#readStep(cursor, signal);
    // The log was cleaned up or put back, or the version cannot be shown by itself: a later one may.
    if (step === undefined) return this.#match(newest, signal);
    await this.#fit(step, signal);
    const outcome = await twin.tryStep(step, signal);
    const { tableId, version, id } = step;
    if (outcome === 'nothing') this.#passed = { from: this.#passed?.from ?? cursor, to: { tableId, version, id } };
    if (outcome === 'committed') this.#showed(version, false);
    return outcome;
  }

  async #readStep(cursor: Cursor, signal: AbortSignal | undefined): Promise<LeaderStep | undefined> {
    try {
      const step = await this.#parts.leader.part.stepAt(nextVersion(cursor.version), signal);
      return step?.previous === cursor.id ? step : undefined;
    } catch (error) {
      if (isServiceError(error) && error.code === 'TWIN_UNSUPPORTED') return undefined;
      throw error;
    }
  }

  async #match(version: Version, signal: AbortSignal | undefined): Promise<TwinOutcome> {
    const state: LeaderState = await this.#parts.leader.part.stateAt(version, signal);
    await this.#fit(state, signal);
    const outcome = await this.#parts.twin.part.tryMatch(state, signal);
    if (outcome === 'committed') this.#showed(version, true);
    return outcome;
  }

  /** The twin has the columns before it has the files. */
  async #fit(point: LeaderPoint, signal: AbortSignal | undefined): Promise<void> {
    const { leader, twin, adapt } = this.#parts;
    if (twin.part.misfit(point) !== undefined) {
      await adapt(point, signal);
      this.#cursorOf(await twin.part.position(signal));
      const why = twin.part.misfit(point);
      if (why !== undefined) throw misfits(this.#names, point.version, why);
    }
    const note = await leader.part.twin();
    const { columnIds } = twin.part;
    if (note !== undefined && !agree(note.columnIds, columnIds)) throw idsDiffer(this.#names);
    if (note?.columnIds.length === columnIds.length) return;
    await leader.part.noteTwin({ table: `the Iceberg table "${twin.table.name}" (${twin.table.location})`, columnIds }, signal);
  }

  #cursorOf(position: TwinPosition): Cursor | undefined {
    switch (position.kind) {
      case 'new':
        return undefined;
      case 'not-a-twin':
        throw notATwin(this.#names);
      case 'changed':
        throw changedByOthers(this.#names, position);
      case 'at': {
        const passed = this.#passed;
        if (passed?.from.id === position.id && passed.from.version === position.version) return passed.to;
        this.#passed = undefined;
        return position;
      }
      default:
        return assertNever(position);
    }
  }

  get #names(): { readonly twin: string; readonly leader: string } {
    return { twin: this.#parts.twin.table.name, leader: this.#parts.leader.table.name };
  }

  #showed(version: Version, whole: boolean): void {
    this.#passed = undefined;
    this.#parts.events.committed(this.#parts.twin.table.name, version);
    this.#parts.observer.shown(version, whole);
  }

  #count(shown: Version | undefined, newest: Version): void {
    this.#shown = shown;
    this.#lag = Math.max(0, newest - (shown ?? -1));
    this.#parts.observer.lag(this.#lag);
  }
}

/** Faults that time may cure. */
const passing: ReadonlySet<string> = new Set(['unavailable', 'unknown-outcome', 'conflict']);

/** Whether columns of the same path have the same id in both. */
function agree(noted: ColumnIds, has: ColumnIds): boolean {
  const known = new Map(noted.map(([path, id]) => [path.join('\0'), id]));
  return has.every(([path, id]) => {
    const before = known.get(path.join('\0'));
    return before === undefined || before === id;
  });
}

import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { isSameObject } from '../storage/same-object.ts';
import type { CommitId } from '../table/commit.ts';
import { tableGone, tableReplaced } from '../table/lost-tables.ts';
import { nextVersion, type Version } from '../table/version.ts';
import { commitInfoOf, DeltaSnapshot } from './delta-snapshot.ts';
import type { ParquetRowCodec } from './log/codec.ts';
import { loadSnapshot } from './log/load-snapshot.ts';
import { listLog } from './log/log-listing.ts';
import { readCommit } from './log/read-commit.ts';
import { type DeltaCommit, replayed } from './replay-state.ts';
import { checkReadable } from './table-features.ts';

/** Snapshots kept for `snapshotAt`. They share almost all of their memory. */
const maxKeptSnapshots = 64;
/** A version this close behind a kept snapshot is reached by reading the commits between. */
const maxCommitsForward = 100;
/** Commit ids remembered for `findCommit`. */
const maxKeptCommitIds = 1024;
/** For so long it is taken for granted that nobody cleaned up or replaced the log behind the last version seen. */
const trustedForMs = 60_000;

export interface DeltaLogParts {
  readonly name: string;
  readonly store: ObjectStore;
  readonly codec: ParquetRowCodec;
  readonly clock: Clock;
  /** Refuses a table that takes the place of the one first seen, and that there is none any more. Default: follows what is there. */
  readonly staysWithTable?: boolean | undefined;
}

/**
 * The log of one table as this process knows it: the newest snapshot seen, moved forward by reading only what was committed since.
 * Safe to be used by several callers at once.
 */
export class DeltaLog {
  readonly name: string;
  readonly store: ObjectStore;
  readonly codec: ParquetRowCodec;
  readonly #clock: Clock;
  readonly #kept = new Map<Version, DeltaSnapshot>();
  readonly #commitIds = new Map<Version, string>();
  readonly #staysWithTable: boolean;
  #current: DeltaSnapshot | undefined;
  /** The newest version seen, kept when it turns out not to be there any more. */
  #last: Pick<DeltaSnapshot, 'tableId' | 'version' | 'commitFile'> | undefined;
  #confirmedAtMs = 0;

  constructor(parts: DeltaLogParts) {
    this.name = parts.name;
    this.store = parts.store;
    this.codec = parts.codec;
    this.#clock = parts.clock;
    this.#staysWithTable = parts.staysWithTable ?? false;
  }

  /** The newest version seen, without looking. */
  get current(): DeltaSnapshot | undefined {
    return this.#current;
  }

  /**
   * The newest version, or `undefined` when there is no table.
   *
   * @throws ServiceError `TABLE_GONE`, `TABLE_REPLACED` (kind discontinuity) of a log that stays with its table.
   */
  async find(signal?: AbortSignal): Promise<DeltaSnapshot | undefined> {
    const known = this.#current;
    if (known !== undefined) {
      const forward = await this.#followed(known, signal);
      if (forward !== undefined && (await this.#trusts(forward, signal))) return this.#adopt(forward);
    }
    this.#forget();
    const loaded = await loadSnapshot(this, undefined, signal);
    this.#refuseAnother(loaded);
    return loaded === undefined ? undefined : this.#adopt(loaded);
  }

  /**
   * The newest version.
   *
   * @throws ServiceError `TABLE_NOT_FOUND` (not-found), what `loadSnapshot` and `checkReadable` throw.
   */
  async refresh(signal?: AbortSignal): Promise<DeltaSnapshot> {
    const found = await this.find(signal);
    if (found !== undefined) return found;
    throw serviceError.notFound('TABLE_NOT_FOUND', `table "${this.name}": there is no Delta table at ${this.store.root}`, {
      hint: 'check the path, or create the table first',
    });
  }

  /** @throws AnalysisException `DELTA_VERSION_NOT_FOUND` (not-found) naming the available range. */
  async snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot> {
    const newest = this.#current?.version === version ? this.#current : await this.refresh(signal);
    if (newest.version === version) return newest;
    const near = version < newest.version ? this.#nearestKept(version) : undefined;
    const reached = near === undefined ? undefined : await this.#moveForward(near, version, signal);
    const snapshot = reached?.version === version ? reached : await loadSnapshot(this, version, signal);
    if (snapshot === undefined) return this.refresh(signal);
    checkReadable(snapshot.protocol, snapshot.metadata, this.name);
    return this.#keep(snapshot);
  }

  /** One commit of the log, or `undefined` when it is not there (not yet, or not any more). */
  async readCommit(
    version: Version,
    signal?: AbortSignal,
    options: { readonly forReplay?: boolean } = {},
  ): Promise<DeltaCommit | undefined> {
    const commit = await readCommit(this.store, version, options, signal);
    if (commit !== undefined) this.#remember(commit);
    return commit;
  }

  /** The version after `afterVersion` that carries the commit id. */
  async findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined> {
    const newest = await this.refresh(signal);
    for (let version = nextVersion(afterVersion); version <= newest.version; version = nextVersion(version)) {
      if (!this.#commitIds.has(version)) await this.readCommit(version, signal, { forReplay: true });
      if (this.#commitIds.get(version) === commitId) return version;
    }
    return undefined;
  }

  /**
   * Whether `base` is, as far as can be known without trying, the newest version of the table that is there now. Costs one request: the look
   * whether its commit is still there.
   *
   * Why: log cleanup by others frees old version numbers, and a deleted table frees them all. A writer that slept through that would
   * otherwise create a version in the past of the table, or in that of another table.
   */
  async isNewest(base: DeltaSnapshot, signal?: AbortSignal): Promise<boolean> {
    return base === this.#current && (await this.stands(base, signal)) && (await this.#trusts(base, signal));
  }

  /**
   * Whether the log still holds the very commit that made the snapshot. False too for a version that was cleaned up since, of which nobody can
   * tell. A snapshot whose commit was cleaned up before it was loaded is taken to stand.
   */
  async stands(snapshot: DeltaSnapshot, signal?: AbortSignal): Promise<boolean> {
    const { commitFile } = snapshot;
    if (commitFile === undefined) return true;
    const found = await this.store.head(commitFile.path, signal);
    return found !== undefined && isSameObject(commitFile, found);
  }

  /**
   * For what was read version by version, after it was read: that it was read of the table this log knows.
   *
   * @throws ServiceError `TABLE_REPLACED`, `TABLE_GONE` (kind discontinuity).
   */
  async prove(signal?: AbortSignal): Promise<void> {
    const known = this.#current;
    if (known === undefined || (await this.stands(known, signal))) return;
    const found = await this.find(signal);
    if (found?.tableId === known.tableId) return;
    throw found === undefined ? this.gone(known.version) : tableReplaced(this.name, this.store.root, idsOf(known.tableId, found));
  }

  /** The error for a log that `version` was read of, and that is not there any more. */
  gone(version: Version): ServiceError {
    return tableGone(this.name, this.store.root, `version ${version}, the newest that was read, is not in its log`);
  }

  /** Takes over a commit this process made on top of `base`. Never throws: the next refresh would read it anyway. */
  async accept(base: DeltaSnapshot, actions: DeltaCommit['actions'], path: string): Promise<void> {
    try {
      const commitFile = await this.store.head(path);
      if (commitFile === undefined || this.#current !== base) return;
      const commit: DeltaCommit = { version: nextVersion(base.version), actions, modifiedMs: commitFile.modifiedMs, commitFile };
      this.#remember(commit);
      this.#adopt(base.apply(commit, this.name));
    } catch {
      // The commit is in the log whatever happened here; what is known in memory stays as it was.
    }
  }

  /** The newest version behind `known`; `undefined` when that is not in the log any more. */
  async #followed(known: DeltaSnapshot, signal: AbortSignal | undefined): Promise<DeltaSnapshot | undefined> {
    const [before, forward] = await Promise.all([this.stands(known, signal), this.#moveForward(known, undefined, signal)]);
    // What was read belongs to the history of `known` only if that is there afterwards.
    return before && (forward === known || (await this.stands(known, signal))) ? forward : undefined;
  }

  async #moveForward(from: DeltaSnapshot, until: Version | undefined, signal: AbortSignal | undefined): Promise<DeltaSnapshot> {
    let state = from.state;
    while (until === undefined || state.version < until) {
      const commit = await this.readCommit(nextVersion(state.version), signal, { forReplay: true });
      if (commit === undefined) break;
      state = replayed(state, commit, commit.actions);
      if (until === undefined) this.#confirmedAtMs = this.#clock.monotonicMs();
    }
    return state === from.state ? from : DeltaSnapshot.of(state, this.name, from);
  }

  /** Looks, at most once in a while, that the log still has the version and nothing beyond a gap after it. */
  async #trusts(snapshot: DeltaSnapshot, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#clock.monotonicMs() - this.#confirmedAtMs < trustedForMs) return true;
    const listing = await listLog(this.store, snapshot.version, signal);
    const newest = listing.objects.findLast((object) => object.kind !== 'checksum' && object.kind !== 'compacted');
    if (newest?.version !== snapshot.version) return false;
    this.#confirmedAtMs = this.#clock.monotonicMs();
    return true;
  }

  #adopt(snapshot: DeltaSnapshot): DeltaSnapshot {
    const known = this.#current;
    if (known !== undefined && known.version >= snapshot.version) return known;
    if (known?.protocol !== snapshot.protocol || known.metadata !== snapshot.metadata) {
      checkReadable(snapshot.protocol, snapshot.metadata, this.name);
    }
    this.#current = this.#keep(snapshot);
    this.#last = { tableId: snapshot.tableId, version: snapshot.version, commitFile: snapshot.commitFile };
    this.#confirmedAtMs = this.#clock.monotonicMs();
    return this.#current;
  }

  #keep(snapshot: DeltaSnapshot): DeltaSnapshot {
    this.#kept.delete(snapshot.version);
    this.#kept.set(snapshot.version, snapshot);
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > maxKeptSnapshots && oldest !== undefined) this.#kept.delete(oldest);
    return snapshot;
  }

  #nearestKept(version: Version): DeltaSnapshot | undefined {
    let nearest: DeltaSnapshot | undefined;
    for (const snapshot of this.#kept.values()) {
      if (snapshot.version > version || version - snapshot.version > maxCommitsForward) continue;
      if (nearest === undefined || snapshot.version > nearest.version) nearest = snapshot;
    }
    return nearest;
  }

  #remember(commit: DeltaCommit): void {
    const id = commitInfoOf(commit.actions)?.body['txnId'];
    this.#commitIds.set(commit.version, typeof id === 'string' ? id : '');
    const oldest = this.#commitIds.keys().next().value;
    if (this.#commitIds.size > maxKeptCommitIds && oldest !== undefined) this.#commitIds.delete(oldest);
  }

  #refuseAnother(found: DeltaSnapshot | undefined): void {
    const known = this.#staysWithTable ? this.#last : undefined;
    if (known === undefined) return;
    // A clean-up leaves the newest commit where it is: a log of which only a checkpoint is left is being deleted.
    if (found?.commitFile === undefined && known.commitFile !== undefined && (found?.version ?? 0) <= known.version)
      throw this.gone(known.version);
    if (found?.tableId === known.tableId) return;
    throw found === undefined ? this.gone(known.version) : tableReplaced(this.name, this.store.root, idsOf(known.tableId, found));
  }

  #forget(): void {
    this.#current = undefined;
    this.#kept.clear();
    this.#commitIds.clear();
  }
}

function idsOf(known: string, found: DeltaSnapshot): { readonly known: string; readonly found: string } {
  return { known, found: found.tableId };
}

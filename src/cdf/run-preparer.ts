import { isServiceError, ServiceError, serviceError } from '../base/errors.ts';
import type { EncodedRecordBatch } from '../kafka/client.ts';
import type { ChangeEncoder, EncodedChanges, EncodeSpec, FeedPosition } from '../protocol/change-event.ts';
import type { VersionChanges } from '../table/changes.ts';
import { isGap } from '../table/changes-gone.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';
import { isInSnapshot, samePosition, versionsBehind } from './feed-position.ts';
import { rowOrderOf } from './feed-spec.ts';
import type { ToldBeside, VersionRecords, VersionStep } from './metadata/version-records.ts';
import { refuseOtherKeys } from './record-form.ts';
import { rowsIn } from './snapshot-progress.ts';
import type { TableTailer } from './table-tailer.ts';

/** Versions one transaction may span, so that a long stretch of versions without rows is stored bit by bit. */
const maxVersionsPerRun = 1000;

/** Rows to publish in one transaction, with the position they reach. `batches` is empty when only versions without rows were passed. */
export interface FeedRun {
  readonly kind: 'run';
  readonly batches: readonly EncodedRecordBatch[];
  readonly until: FeedPosition;
  readonly rowsByOperation: Readonly<Record<string, number>>;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** Of the snapshot that the run is of, if it is known. */
  readonly snapshotRows: number | undefined;
}

export type Prepared =
  | FeedRun
  /** The table has nothing after the position. */
  | { readonly kind: 'idle' }
  /** What comes after `at` cannot be read any more. */
  | { readonly kind: 'gap'; readonly at: FeedPosition; readonly error: ServiceError }
  /** Another table has the name. */
  | { readonly kind: 'table-replaced'; readonly error: ServiceError };

export interface RunLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Of a run of a snapshot, where it is less. */
  readonly maxSnapshotRows?: number | undefined;
}

interface RunPreparerParts {
  readonly tailer: TableTailer;
  readonly encoder: ChangeEncoder;
  readonly feedId: string;
  readonly spec: EncodeSpec;
  readonly limits: RunLimits;
  /** What is told of a version beside its rows. */
  readonly beside: readonly VersionRecords[];
  readonly onLag: (versions: number, latest: Version) => void;
}

/** Reads and encodes what follows a position: the next run, bounded, over as many small versions as fit. */
export class RunPreparer {
  readonly #options: RunPreparerParts;
  readonly #order: string;
  #latest: Version | undefined;

  constructor(options: RunPreparerParts) {
    this.#options = options;
    this.#order = rowOrderOf(options.spec);
  }

  /**
   * Deterministic for a given table: the records between two positions do not depend on how often the way was walked.
   *
   * @throws ServiceError `FEED_KEYS_CHANGED` (kind invalid).
   */
  async prepare(from: FeedPosition, signal?: AbortSignal): Promise<Prepared> {
    const run = new OpenRun(from);
    const limits = this.#limitsAt(from);
    for (let versions = 0; versions < maxVersionsPerRun && run.roomIn(limits); versions++) {
      try {
        if (run.at.complete && !(await this.#hasVersionAfter(run.at, signal))) break;
        const changes = await this.#options.tailer.rowsAfter(run.at, signal);
        refusePutBack(run.at, changes, this.#options.spec.table);
        const encoded = await this.#encode(run, { changes, limits }, signal);
        const { feedId, spec } = this.#options;
        refuseOtherKeys({ feedId, topic: spec.topic }, { version: changes.version, was: run.at.keys, is: encoded.keys });
        const step = stepOf(run.at, { changes, encoded, order: this.#order });
        run.add(step, encoded, await this.#toldBeside(step, signal));
      } catch (error) {
        // What was read before is published first; the next call meets the error at once. Else a version that needs other settings than the ones
        // before it would hold those back, and no settings would do for both.
        if (run.moved && signal?.aborted !== true) break;
        if (isServiceError(error) && error.code === 'FEED_TABLE_REPLACED') return { kind: 'table-replaced', error };
        if (!isGap(error)) throw atVersion(error, run.at, this.#options.spec.table);
        return { kind: 'gap', at: from, error };
      }
    }
    return run.moved ? run.finish() : { kind: 'idle' };
  }

  #limitsAt(position: FeedPosition): RunLimits {
    const { maxRows, maxBytes, maxSnapshotRows = maxRows } = this.#options.limits;
    return { maxRows: isInSnapshot(position) ? Math.min(maxRows, maxSnapshotRows) : maxRows, maxBytes };
  }

  async #toldBeside(step: VersionStep, signal: AbortSignal | undefined): Promise<readonly ToldBeside[]> {
    const told: ToldBeside[] = [];
    for (const records of this.#options.beside) {
      const made = await records.of(step, signal);
      if (made !== undefined) told.push(made);
    }
    return told;
  }

  #encode(
    run: OpenRun,
    { changes, limits }: { readonly changes: VersionChanges; readonly limits: RunLimits },
    signal: AbortSignal | undefined,
  ): Promise<EncodedChanges> {
    const { at } = run;
    const task = {
      spec: this.#options.spec,
      changes,
      snapshot: isInSnapshot(at),
      fromOrdinal: at.complete ? 0 : at.ordinal,
      fromEvent: at.complete ? 0 : at.events,
      maxRows: limits.maxRows - run.rows,
      maxBytes: limits.maxBytes - run.sizeBytes,
    };
    return this.#options.encoder.encode(task, signal);
  }

  async #hasVersionAfter(at: FeedPosition, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#latest !== undefined && this.#latest > at.version) return true;
    const latest = await this.#options.tailer.latest(signal);
    if (at.tableId !== latest.tableId) throw feedTableReplaced(at, latest.tableId, this.#options.spec.table);
    if (at.link !== undefined && latest.version < at.version)
      throw putBack(at, this.#options.spec.table, `it ends at version ${latest.version}`);
    this.#latest = latest.version;
    this.#options.onLag(versionsBehind(at, latest.version), latest.version);
    return latest.version > at.version;
  }
}

const columnCodes: readonly string[] = ['CDF_FILTER_INVALID', 'CDF_KEY_COLUMN_UNKNOWN'];

/** What does not fit the columns of a version says which one: those of the newest it may fit. */
function atVersion(error: unknown, at: FeedPosition, table: string): unknown {
  if (!isServiceError(error) || !columnCodes.includes(error.code)) return error;
  const version = at.complete ? nextVersion(at.version) : at.version;
  const { code, kind, hint, context } = error;
  return new ServiceError({ code, kind, hint, context, message: `version ${version} of table "${table}": ${error.message}`, cause: error });
}

/** `FEED_TABLE_REPLACED` (kind discontinuity): the table is not the one that the position belongs to. */
export function feedTableReplaced(position: FeedPosition, tableId: string, table: string): ServiceError {
  return serviceError.discontinuity(
    'FEED_TABLE_REPLACED',
    `table "${table}" is ${tableId}, the feed's position belongs to ${position.tableId}`,
    {
      hint: 'choose how the feed goes on: "onTableReplaced: resnapshot" publishes the rows of the table that took its place, "onTableReplaced: continue" what the replacement changed, where the log goes on; or publish the table to another topic',
    },
  );
}

/**
 * What follows must follow what was published last; the rest of a version must be that version's.
 *
 * @throws ServiceError `FEED_TABLE_PUT_BACK` (kind discontinuity).
 */
function refusePutBack(at: FeedPosition, { version, link }: VersionChanges, table: string): void {
  if (at.link === undefined) return;
  if (!at.complete && link?.id !== at.link) throw putBack(at, table, `version ${version} is not part of it any more`);
  if (!at.complete || link === undefined || link.previousExpired === true || link.previous === at.link) return;
  throw putBack(at, table, `version ${version} follows ${link.previous ?? 'nothing'}`);
}

function putBack(at: FeedPosition, table: string, what: string): ServiceError {
  return serviceError.discontinuity(
    'FEED_TABLE_PUT_BACK',
    `table "${table}" was put back to before what is published, version ${at.version} (${at.link ?? ''}): ${what}`,
    {
      hint: 'choose how the feed goes on: "onGap: resnapshot" publishes the current rows again, "onGap: skip" goes on with what comes, "onGap: fail" waits until the table is put forward again',
    },
  );
}

/** From a position to where the rows end that follow it. */
function stepOf(
  from: FeedPosition,
  found: { readonly changes: VersionChanges; readonly encoded: EncodedChanges; readonly order: string },
): VersionStep {
  const { changes, encoded, order } = found;
  const { untilOrdinal, complete, rowsByOperation } = encoded;
  const snapshot = isInSnapshot(from);
  const known = { link: changes.link?.id ?? from.link, keys: encoded.keys ?? from.keys };
  const until = { ...from, ...known, events: undefined, version: changes.version, ordinal: untilOrdinal, complete, snapshot, order };
  const events = Object.values(rowsByOperation).reduce((sum, count) => sum + count, 0);
  return { from, until, changes, snapshot, events };
}

/** A run while it is put together. */
class OpenRun {
  readonly #from: FeedPosition;
  readonly #batches: EncodedRecordBatch[] = [];
  readonly #operations = new Map<string, number>();
  #at: FeedPosition;
  #rows = 0;
  #sizeBytes = 0;
  #snapshotRows: number | undefined;

  constructor(from: FeedPosition) {
    this.#from = from;
    this.#at = from;
  }

  get at(): FeedPosition {
    return this.#at;
  }

  get rows(): number {
    return this.#rows;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get moved(): boolean {
    return !samePosition(this.#from, this.#at);
  }

  /** False as well when the last version was cut short: the cut is a limit that was reached. */
  roomIn(limits: RunLimits): boolean {
    const cut = this.moved && !this.#at.complete;
    return !cut && this.#rows < limits.maxRows && this.#sizeBytes < limits.maxBytes;
  }

  add({ from, until, changes, snapshot }: VersionStep, encoded: EncodedChanges, beside: readonly ToldBeside[]): void {
    if (snapshot) this.#snapshotRows = rowsIn(changes);
    this.#at = beside.reduce((at, { position }) => ({ ...at, ...position }), until);
    this.#batches.push(...encoded.batches, ...beside.flatMap(({ batches }) => batches));
    this.#rows += until.ordinal - (from.complete ? 0 : from.ordinal);
    this.#sizeBytes += encoded.sizeBytes;
    for (const [operation, count] of Object.entries(encoded.rowsByOperation)) {
      this.#operations.set(operation, (this.#operations.get(operation) ?? 0) + count);
    }
  }

  finish(): FeedRun {
    return {
      kind: 'run',
      batches: this.#batches,
      until: this.#at,
      rowsByOperation: Object.fromEntries(this.#operations),
      recordCount: this.#batches.reduce((sum, batch) => sum + batch.recordCount, 0),
      sizeBytes: this.#sizeBytes,
      snapshotRows: this.#snapshotRows,
    };
  }
}

/** A run that reaches where the feed stands: nothing but the position is stored. */
export function standingRun(until: FeedPosition): FeedRun {
  return { kind: 'run', batches: [], until, rowsByOperation: {}, recordCount: 0, sizeBytes: 0, snapshotRows: undefined };
}

/** What a position keeps wherever the feed goes on: of which table it is, and what is known of what was told of it. */
export type FeedIdentity = Pick<FeedPosition, 'tableId' | 'order' | 'schema'>;

/** The position at which a fresh snapshot of `version` begins. */
export function snapshotStart({ tableId, order, schema }: FeedIdentity, version: Version): FeedPosition {
  return { tableId, order, schema, version, ordinal: 0, complete: false, snapshot: true };
}

/** The position after which the changes of `version` follow. */
export function changesStart({ tableId, order, schema }: FeedIdentity, version: Version): FeedPosition {
  return { tableId, order, schema, version, ordinal: 0, complete: true, snapshot: false };
}

/** The position with what cannot be read left out: the version after it, or, of a table that was put back, only the claim of what comes next. */
export function passedGap(position: FeedPosition, error: ServiceError, latest: Version): FeedPosition {
  const { tableId, order, schema, ordinal, keys } = position;
  const unread = position.complete ? nextVersion(position.version) : position.version;
  const version = error.code === 'FEED_TABLE_PUT_BACK' ? toVersion(Math.min(position.version, latest)) : unread;
  return { tableId, order, schema, ordinal, version, complete: true, snapshot: false, ...(keys === undefined ? {} : { keys }) };
}

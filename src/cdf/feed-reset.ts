import { assertNever } from '../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { isGap } from '../table/changes-gone.ts';
import type { ReadableTable, Snapshot } from '../table/table.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';
import { firstNeededVersion, isInSnapshot } from './feed-position.ts';
import { type FeedSpec, feedIdOf, rowOrderOf } from './feed-spec.ts';
import { changesStart, snapshotStart } from './run-preparer.ts';
import { earliestReadable } from './table-tailer.ts';

/**
 * Where a feed is to go on: `version` publishes the changes of that version next, `timestamp` those of the first version committed at that time or
 * later, `earliest` those of every version there is, `latest` only what comes, `snapshot` the rows of the newest version and then changes, `current` what
 * follows where it stands: in the form that the settings have now, over all partitions of its topic.
 */
export type ResetTarget =
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'timestamp'; readonly timestampMs: number }
  | { readonly kind: 'earliest' | 'latest' | 'snapshot' }
  | { readonly kind: 'current' };

/** What a reset does; versions `[from, until)`. */
export interface FeedReset {
  readonly from: FeedPosition | undefined;
  readonly to: FeedPosition;
  readonly latestVersion: Version;
  /** Versions whose changes are published a second time. */
  readonly again: VersionRange | undefined;
  /** Versions whose changes are not published, but for what a snapshot shows of them. */
  readonly left: VersionRange | undefined;
  /** Rows of the snapshot, before the feed's condition; `undefined`: none is published, or nobody knows. */
  readonly snapshotRows: number | undefined;
  /** The rest of a snapshot that the feed is in the middle of and that is given up. */
  readonly leftOfSnapshot: { readonly version: Version; readonly rows: number | undefined } | undefined;
}

export interface VersionRange {
  readonly from: Version;
  readonly until: Version;
}

/**
 * What a reset of the feed would do, from where it stands.
 *
 * @throws ServiceError `FEED_RESET_INVALID` (kind invalid) when there is no such version, or its changes cannot be read.
 */
export async function planReset(
  {
    spec,
    table,
    target,
    from,
  }: {
    readonly spec: FeedSpec;
    readonly table: ReadableTable;
    readonly target: ResetTarget;
    readonly from: FeedPosition | undefined;
  },
  signal?: AbortSignal,
): Promise<FeedReset> {
  const latest = await table.refresh(signal);
  const identity = { tableId: latest.tableId, order: rowOrderOf(spec), schema: from?.schema };
  const latestVersion = latest.version;
  const stands = from?.tableId === latest.tableId ? firstNeededVersion(from) : undefined;
  if (target.kind === 'current') {
    const to = currentPlace(spec, from, latest.tableId);
    return { from, to, latestVersion, again: undefined, left: undefined, snapshotRows: undefined, leftOfSnapshot: undefined };
  }
  if (target.kind === 'snapshot') {
    const left = stands !== undefined && stands <= latestVersion ? { from: stands, until: nextVersion(latestVersion) } : undefined;
    const to = snapshotStart(identity, latestVersion);
    return { from, to, latestVersion, again: undefined, left, snapshotRows: latest.rowCount, leftOfSnapshot: undefined };
  }
  const first = await firstVersion({ spec, table, target, latest }, signal);
  const to = changesStart(identity, toVersion(first - 1));
  const again = stands !== undefined && first < stands ? { from: first, until: stands } : undefined;
  const left = stands !== undefined && stands < first ? { from: stands, until: first } : undefined;
  return { from, to, latestVersion, again, left, snapshotRows: undefined, leftOfSnapshot: await leftOf(from, table, signal) };
}

async function leftOf(
  from: FeedPosition | undefined,
  table: ReadableTable,
  signal: AbortSignal | undefined,
): Promise<FeedReset['leftOfSnapshot']> {
  if (from === undefined || !isInSnapshot(from)) return undefined;
  const { version, ordinal } = from;
  try {
    const { rowCount } = await table.snapshotAt(version, signal);
    return { version, rows: rowCount === undefined ? undefined : Math.max(0, rowCount - ordinal) };
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
    return { version, rows: undefined };
  }
}

/** The position without what it tells of the form of rows before it. */
function currentPlace(spec: FeedSpec, from: FeedPosition | undefined, tableId: string): FeedPosition {
  if (from === undefined) throw invalid(spec, 'it has no position');
  if (from.tableId !== tableId) throw invalid(spec, `table "${spec.table}" is another one than the position speaks of`);
  const order = rowOrderOf(spec);
  if (!from.complete && !from.snapshot && from.order !== order)
    throw invalid(spec, `it stands inside version ${from.version}, in the row order of key columns ${from.order}`);
  return { ...from, order, keys: undefined };
}

async function firstVersion(
  {
    spec,
    table,
    target,
    latest,
  }: {
    readonly spec: FeedSpec;
    readonly table: ReadableTable;
    readonly target: Exclude<ResetTarget, { readonly kind: 'current' }>;
    readonly latest: Snapshot;
  },
  signal: AbortSignal | undefined,
): Promise<Version> {
  const end = nextVersion(latest.version);
  switch (target.kind) {
    case 'earliest':
      return earliestReadable(table, signal);
    case 'latest':
    case 'snapshot':
      return end;
    case 'version': {
      if (target.version > end) throw invalid(spec, `table "${spec.table}" ends at version ${latest.version}`);
      const version = toVersion(target.version);
      if (version < end) await requireReadable(table, version, spec, signal);
      return version;
    }
    case 'timestamp': {
      const entries = await table.history({}, signal);
      const later = entries.filter(({ committedAt }) => committedAt >= target.timestampMs);
      const version = later.length === 0 ? end : toVersion(Math.min(...later.map((entry) => entry.version)));
      const oldest = entries.at(-1);
      if (oldest !== undefined && version === oldest.version && oldest.version > 0 && oldest.committedAt > target.timestampMs) {
        throw invalid(
          spec,
          `the log of table "${spec.table}" begins at version ${oldest.version}, ${new Date(oldest.committedAt).toISOString()}`,
        );
      }
      if (version < end) await requireReadable(table, version, spec, signal);
      return version;
    }
    default:
      return assertNever(target);
  }
}

async function requireReadable(table: ReadableTable, version: Version, spec: FeedSpec, signal: AbortSignal | undefined): Promise<void> {
  try {
    await (await table.changesOf(version, {}, signal)).release?.();
  } catch (error) {
    if (!isGap(error)) throw error;
    throw invalid(spec, `the changes of version ${version} cannot be read: ${error.message}`);
  }
}

function invalid(spec: FeedSpec, problem: string): ServiceError {
  return serviceError.invalid('FEED_RESET_INVALID', `feed "${feedIdOf(spec)}" cannot go on there: ${problem}`, {
    hint: 'reset it to earliest, the oldest version whose changes can be read, to snapshot, or to a version',
  });
}

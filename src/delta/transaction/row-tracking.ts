import { isJsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { serviceError } from '../../base/errors.ts';
import { nextVersion } from '../../table/version.ts';
import { type Action, type AddFile, physicalRows } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { effectiveMetadata, effectiveProtocol } from './effective-definition.ts';

export const rowTrackingDomain = 'delta.rowTracking';

/**
 * The actions with what a table that supports row tracking asks of each added file: ids for its rows above all ids given before, and the
 * version its rows count from. Files that bring theirs along keep them. Depends on `base`: done anew on every attempt.
 *
 * @throws ServiceError `DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS` (internal) for an added file without a row count.
 */
export function withRowIds(base: DeltaSnapshot, actions: readonly Action[]): readonly Action[] {
  if (effectiveProtocol(base, actions).writerFeatures?.includes('rowTracking') !== true || isSuspended(base, actions)) return actions;
  const version = BigInt(nextVersion(base.version));
  const start = highWaterMark(base);
  // Files that come back with ids of a time before the table forgot its mark.
  let mark = actions.reduce((highest, action) => (action.kind === 'add' ? largest(highest, lastRowId(action)) : highest), start);
  const tracked = actions.map((action): Action => {
    if (action.kind !== 'add') return action;
    const baseRowId = action.baseRowId ?? mark + 1n;
    if (action.baseRowId === undefined) mark += BigInt(rowsOf(action));
    return { ...action, baseRowId, defaultRowCommitVersion: action.defaultRowCommitVersion ?? version };
  });
  if (mark === start) return tracked;
  const configuration = printJson({ rowIdHighWaterMark: mark, domainName: rowTrackingDomain });
  const others = tracked.filter((action) => action.kind !== 'domainMetadata' || action.domain !== rowTrackingDomain);
  return [...others, { kind: 'domainMetadata', domain: rowTrackingDomain, configuration, removed: false }];
}

/** While a table is on its way out of row tracking, files get no ids. */
function isSuspended(base: DeltaSnapshot, actions: readonly Action[]): boolean {
  return effectiveMetadata(base, actions).configuration['delta.rowTrackingSuspended']?.toLowerCase() === 'true';
}

/** The last of the ids a file brings along; -1 when it brings none. */
function lastRowId(file: AddFile): bigint {
  if (file.baseRowId === undefined) return -1n;
  return file.baseRowId + BigInt(physicalRows(file.stats) ?? 0) - 1n;
}

function largest(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

/** The highest row id given so far; -1 when there is none. */
export function highWaterMark(snapshot: DeltaSnapshot): bigint {
  for (const { domain, configuration } of snapshot.domains()) {
    if (domain !== rowTrackingDomain) continue;
    const parsed = parseJson(configuration, `domain ${rowTrackingDomain}`);
    const mark = isJsonObject(parsed) ? parsed['rowIdHighWaterMark'] : undefined;
    if (typeof mark === 'bigint') return mark;
    if (typeof mark === 'number') return BigInt(mark);
  }
  return -1n;
}

function rowsOf(file: AddFile): number {
  const rows = physicalRows(file.stats);
  if (rows !== undefined) return rows;
  throw serviceError.internal(
    'DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS',
    `file "${file.storedPath}" gets row ids but its number of rows is not known`,
  );
}

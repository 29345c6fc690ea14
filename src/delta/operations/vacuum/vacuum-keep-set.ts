import type { EpochMs } from '../../../base/clock.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import { toVersion, type Version } from '../../../table/version.ts';
import type { AddFile, RemoveFile } from '../../actions.ts';
import { deletionVectorPath } from '../../deletion-vectors/deletion-vector-path.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import type { OperationContext } from '../operation-context.ts';

const readConcurrency = 8;

/** Stored paths of files the snapshot or a reader of a version younger than `deleteBefore` needs. */
export function filesNeededNow(snapshot: DeltaSnapshot, deleteBefore: EpochMs): Set<string> {
  const needed = new Set<string>();
  for (const file of snapshot.files()) keep(needed, file);
  for (const file of snapshot.tombstones()) if ((file.deletedMs ?? 0) > deleteBefore) keep(needed, file);
  return needed;
}

/**
 * Stored paths of files that versions from `fromVersion` to `untilVersion` (both included) need for their changes and that the newest
 * snapshot may have forgotten: what they removed and the changes they recorded. (What they added is live, or removed by one of them.)
 * A version whose commit is gone from the log cannot be read as changes and needs nothing.
 */
export async function filesNeededForChanges(
  context: OperationContext,
  range: { readonly fromVersion: number; readonly untilVersion: number },
  signal?: AbortSignal,
): Promise<Set<string>> {
  const needed = new Set<string>();
  const from = Math.max(0, range.fromVersion);
  const versions = Array.from({ length: Math.max(0, range.untilVersion - from + 1) }, (_, index) => toVersion(from + index));
  const readVersion = async (version: Version): Promise<void> => {
    for (const action of (await context.readCommit(version, signal))?.actions ?? []) {
      if (action.kind === 'cdc') needed.add(action.storedPath);
      else if (action.kind === 'remove') keep(needed, action);
    }
  };
  await mapBounded(versions, readConcurrency, readVersion, signal);
  return needed;
}

/**
 * Stored paths of files removed after `deleteBefore`, read from the log backwards. Needed when the retention asked for is longer than the
 * table's: a log checkpoint forgets tombstones the table's own retention no longer asks for.
 */
export async function filesRemovedSince(
  context: OperationContext,
  latest: Version,
  deleteBefore: EpochMs,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const needed = new Set<string>();
  for (let version: number = latest; version >= 0; version--) {
    const commit = await context.readCommit(toVersion(version), signal);
    if (commit === undefined || commit.modifiedMs <= deleteBefore) break;
    for (const action of commit.actions) if (action.kind === 'remove') keep(needed, action);
  }
  return needed;
}

function keep(needed: Set<string>, file: AddFile | RemoveFile): void {
  needed.add(file.storedPath);
  const vector = file.deletionVector === undefined ? undefined : deletionVectorPath(file.deletionVector);
  if (vector !== undefined) needed.add(vector);
}

import type { EpochMs } from '../../../base/clock.ts';
import { stagingPrefix } from '../../../engine/write/write-parquet.ts';
import type { ObjectInfo, ObjectStore } from '../../../storage/object-store.ts';

const logPrefix = '_delta_log/';
// Greater than every path inside the log folder and smaller than the next sibling: the listing continues behind the log.
const afterLog = `${logPrefix}\u{10ffff}`;
const visibleFolders: ReadonlySet<string> = new Set(['_change_data', '_delta_index']);

/**
 * Objects that vacuum may consider: everything under the table's root that is not hidden and was last written (by the storage's own
 * clock) before `modifiedBefore`. Ordered by path. The log itself is stepped over, not listed.
 */
export async function* vacuumCandidates(
  store: ObjectStore,
  options: { readonly partitionColumns: readonly string[]; readonly modifiedBefore: EpochMs },
  signal?: AbortSignal,
): AsyncIterable<ObjectInfo> {
  let startAfter: string | undefined;
  let metLog: boolean;
  do {
    metLog = false;
    for await (const object of store.list({ prefix: '', startAfter }, signal)) {
      metLog = object.path.startsWith(logPrefix);
      if (metLog) break;
      if (object.modifiedMs < options.modifiedBefore && isConsidered(object.path, options.partitionColumns)) yield object;
    }
    startAfter = afterLog;
  } while (metLog);
}

/** Whether vacuum looks at the path: what is visible, and what a process of ours that died left of files it was writing. */
export function isConsidered(path: string, partitionColumns: readonly string[]): boolean {
  return path.startsWith(stagingPrefix) || !isHidden(path, partitionColumns);
}

/**
 * Names that start with `_` or `.` belong to somebody else, in any folder: other than recorded changes, index files and partition
 * folders of a column whose name starts that way.
 */
export function isHidden(path: string, partitionColumns: readonly string[]): boolean {
  return path.split('/').some((name, depth) => {
    if (!name.startsWith('_') && !name.startsWith('.')) return false;
    if (depth === 0 && visibleFolders.has(name)) return false;
    return !partitionColumns.some((column) => name.startsWith(`${column}=`));
  });
}

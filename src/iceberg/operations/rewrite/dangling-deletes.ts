import type { CommitOptions } from '../../../table/row-operations.ts';
import type { ManifestEntry } from '../../metadata/content-file.ts';
import { type LiveFiles, liveFiles } from '../../scan/live-files.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';

/** Removes the delete files that concern no live data file. @returns how many there were. */
export async function removeDanglingDeletes(
  context: TableContext,
  state: SnapshotState,
  options: CommitOptions & { readonly branch: string },
): Promise<number> {
  const dangling = danglingDeletes(await liveFiles(context, state, undefined, options.signal));
  if (dangling.length === 0) return 0;
  const removed = dangling.map(({ file }) => file);
  const validation = { since: state.snapshot?.snapshotId };
  await commitSnapshot(context, state, { kind: 'replace', added: [], removed, validation, summary: {} }, options);
  return removed.length;
}

/** Delete files of a whole state (read without a filter) that concern none of its data files. */
export function danglingDeletes({ data, deletes }: LiveFiles): readonly ManifestEntry[] {
  const used = new Set<ManifestEntry>();
  // Files that have their deletes in common have the same arrays.
  const seen = new Set<readonly ManifestEntry[]>();
  for (const { attached } of data) {
    if (attached.vector !== undefined) used.add(attached.vector);
    for (const entries of [attached.own, attached.shared, attached.equality, attached.globalEquality]) {
      if (seen.has(entries)) continue;
      seen.add(entries);
      for (const entry of entries) used.add(entry);
    }
  }
  return deletes.filter((entry) => !used.has(entry));
}

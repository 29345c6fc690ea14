import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { noDeletes } from './delete-index.ts';
import { fileFilter } from './file-filter.ts';
import type { LiveFile, LiveFiles } from './live-files.ts';
import { entriesOf, type MetadataSource, manifestsOf } from './manifests.ts';

/**
 * The data files that appends have added after a snapshot, up to and with the state's. What other operations did in between is not looked at,
 * nor are deletes.
 *
 * @throws AnalysisException `SNAPSHOT_NOT_ANCESTOR` when the state does not follow from the snapshot; ServiceError as `manifestsOf`.
 */
export async function appendedFiles(
  source: MetadataSource,
  state: SnapshotState,
  range: { readonly after: bigint; readonly filter?: Expression | undefined },
  signal?: AbortSignal,
): Promise<LiveFiles> {
  const { metadata, icebergSchema } = state;
  const pruner = range.filter === undefined ? undefined : fileFilter(metadata, icebergSchema, range.filter);
  const added: ManifestEntry[] = [];
  for (const snapshot of appendsAfter(state, range.after)) {
    for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) {
      if (manifest.content !== 'data' || manifest.addedSnapshotId !== snapshot.snapshotId) continue;
      for (const entry of await entriesOf(source, metadata, manifest, signal)) {
        if (entry.status === 'added' && entry.snapshotId === snapshot.snapshotId) added.push(entry);
      }
    }
  }
  const selected = added.filter(({ file }) => pruner?.mayHoldFile(file) !== false);
  const data = selected.map((entry): LiveFile => ({ entry, deletes: [], attached: noDeletes }));
  return {
    data,
    deletes: [],
    statistics: {
      filesConsidered: added.length,
      bytesConsidered: bytesOf(added),
      filesSelected: selected.length,
      bytesSelected: bytesOf(selected),
    },
  };
}

/** Oldest first. */
function appendsAfter({ metadata, snapshot }: SnapshotState, after: bigint): readonly IcebergSnapshot[] {
  const appends: IcebergSnapshot[] = [];
  for (const ancestor of ancestorsOf(metadata, snapshot)) {
    if (ancestor.snapshotId === after) return appends.reverse();
    if (ancestor.summary['operation'] === 'append') appends.push(ancestor);
    // The oldest snapshot there is may follow from one that was expired.
    if (ancestor.parentSnapshotId === after) return appends.reverse();
  }
  throw new AnalysisException({
    errorClass: 'SNAPSHOT_NOT_ANCESTOR',
    kind: 'not-found',
    message: `Starting snapshot (exclusive) ${after} is not a parent ancestor of end snapshot ${snapshot?.snapshotId ?? 'null'}`,
  });
}

function bytesOf(entries: readonly ManifestEntry[]): number {
  return entries.reduce((sum, { file }) => sum + file.fileSizeBytes, 0);
}

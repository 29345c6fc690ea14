import { mapBounded } from '../../base/map-bounded.ts';
import type { Expression } from '../../expr/expression.ts';
import type { ScanStatistics } from '../../table/scan.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { type AttachedDeletes, DeleteIndex, noDeletes } from './delete-index.ts';
import { fileFilter } from './file-filter.ts';
import { entriesOf, type MetadataSource, manifestsAtOnce, manifestsOf } from './manifests.ts';

/** A live data file with what was deleted from it. */
export interface LiveFile {
  readonly entry: ManifestEntry;
  /** Delete files and deletion vectors that concern it. */
  readonly deletes: readonly ManifestEntry[];
  readonly attached: AttachedDeletes;
}

/** A file that was written and is in no snapshot yet. */
export function notYetLive(file: ContentFile): LiveFile {
  const entry = { status: 'added', snapshotId: 0n, sequenceNumber: 0n, fileSequenceNumber: 0n, file } as const;
  return { entry, deletes: [], attached: noDeletes };
}

/** The files of a snapshot. */
export interface LiveFiles {
  /** Data files that may hold rows of the filter, in the order of the manifests. */
  readonly data: readonly LiveFile[];
  /** Of the partitions that may hold rows of the filter, whether they concern a live data file or not. */
  readonly deletes: readonly ManifestEntry[];
  readonly statistics: ScanStatistics;
}

/** How many rows of the file are known to be deleted: how many of them the deletes of several files concern is not. */
export function deletedRowsOf({ entry, attached: { own, vector } }: LiveFile): number {
  const known = [...own, ...(vector === undefined ? [] : [vector])].reduce((sum, { file: { recordCount } }) => sum + recordCount, 0);
  return Math.min(known, entry.file.recordCount);
}

/**
 * The data files of a state that may hold rows of the filter (bound to the state's schema; default: all), with their deletes.
 *
 * @throws ServiceError as `manifestsOf`, and `ICEBERG_METADATA_CORRUPT` (corrupt) for deletion vectors that contradict each other.
 */
export async function liveFiles(
  source: MetadataSource,
  state: SnapshotState,
  filter?: Expression,
  signal?: AbortSignal,
): Promise<LiveFiles> {
  const { metadata, icebergSchema, snapshot } = state;
  const manifests = await manifestsOf(source, metadata, snapshot, signal);
  const pruner = filter === undefined ? undefined : fileFilter(metadata, icebergSchema, filter);
  const needed = manifests.filter((manifest) => hasLiveFiles(manifest) && pruner?.mayHoldManifest(manifest) !== false);
  const lists = await mapBounded(needed, manifestsAtOnce, (manifest) => entriesOf(source, metadata, manifest, signal));
  const selected: ManifestEntry[] = [];
  const deletes: ManifestEntry[] = [];
  let considered = { files: 0, bytes: 0 };
  for (const list of lists) {
    let [files, bytes] = [0, 0];
    for (const entry of list) {
      if (entry.status === 'deleted') continue;
      const { file } = entry;
      if (file.content !== 'data') {
        if (pruner?.mayHoldPartition(file) !== false) deletes.push(entry);
        continue;
      }
      files += 1;
      bytes += file.fileSizeBytes;
      if (pruner?.mayHoldFile(file) !== false) selected.push(entry);
    }
    considered = { files: considered.files + files, bytes: considered.bytes + bytes };
  }
  const index = new DeleteIndex(metadata, deletes);
  const data = selected.map((entry) => new AttachedFile(entry, index));
  return { data, deletes, statistics: statisticsOf({ manifests, needed, state, considered, data }) };
}

/** Files of manifests that record only what was deleted are not read. Counts may be unknown. */
function hasLiveFiles({ addedFiles, existingFiles }: ManifestFile): boolean {
  return addedFiles === undefined || existingFiles === undefined || addedFiles + existingFiles > 0;
}

class AttachedFile implements LiveFile {
  readonly entry: ManifestEntry;
  readonly #index: DeleteIndex;
  #attached: AttachedDeletes | undefined;

  constructor(entry: ManifestEntry, index: DeleteIndex) {
    this.entry = entry;
    this.#index = index;
  }

  get attached(): AttachedDeletes {
    this.#attached ??= this.#index.of(this.entry);
    return this.#attached;
  }

  get deletes(): readonly ManifestEntry[] {
    const { vector, own, shared, equality, globalEquality } = this.attached;
    return [...(vector === undefined ? [] : [vector]), ...own, ...shared, ...equality, ...globalEquality];
  }
}

/** Of files in manifests that were not read only the manifest list and the snapshot's totals tell. */
function statisticsOf(parts: {
  readonly manifests: readonly ManifestFile[];
  readonly needed: readonly ManifestFile[];
  readonly state: SnapshotState;
  readonly considered: { readonly files: number; readonly bytes: number };
  readonly data: readonly LiveFile[];
}): ScanStatistics {
  const { considered, data } = parts;
  const read = new Set(parts.needed);
  const unread = parts.manifests.filter((manifest) => manifest.content === 'data' && !read.has(manifest));
  const unreadFiles = unread.reduce((sum, { addedFiles, existingFiles }) => sum + (addedFiles ?? 0) + (existingFiles ?? 0), 0);
  return {
    filesConsidered: considered.files + unreadFiles,
    bytesConsidered: unreadFiles === 0 ? considered.bytes : Math.max(considered.bytes, parts.state.sizeBytes),
    filesSelected: data.length,
    bytesSelected: data.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0),
  };
}

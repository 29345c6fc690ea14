import { mapBounded } from '../../base/map-bounded.ts';
import type { ScanFile } from '../../table/scan.ts';
import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import { type AttachedDeletes, DeleteIndex } from '../scan/delete-index.ts';
import { deletedRowsIn, type ScanSource } from '../scan/file-scan.ts';
import type { LiveFile } from '../scan/live-files.ts';
import { entriesOf, manifestsAtOnce, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';

export type RowChange = 'DELETE' | 'INSERT';

/** A data file with rows that a snapshot changed. */
export interface ChangedFile {
  readonly entry: ManifestEntry;
  readonly change: RowChange;
  /** Of a file that came or went as a whole: rows that do not count. */
  readonly deletedRows?: ScanFile['deletedRows'];
  /** Of a file that stayed: ascending positions of the rows that changed, one at least. */
  readonly onlyRows?: BigInt64Array | undefined;
}

/**
 * What one snapshot changed, as it stands in its own manifests: rows of files it added, rows of files it removed, and rows of files that stayed
 * which its delete files and deletion vectors hide (or, where it removed deletes, which are seen again). Rows that were hidden before are no
 * change. Rows that a rewritten file carries over come as both kinds. The parent need not be there any more.
 *
 * Deletes first, then by path: the same order each time.
 *
 * @param state whose schema rows are read by.
 * @throws ServiceError as `manifestsOf`, and what reading delete files throws.
 */
export async function snapshotChanges(
  source: ScanSource,
  state: SnapshotState,
  snapshot: IcebergSnapshot,
  signal?: AbortSignal,
): Promise<readonly ChangedFile[]> {
  const files = await filesOf(source, state, snapshot, signal);
  const states = statesOf(source, state, files);
  const concerned = concernedFiles(state, files);
  const before = states.before([...files.removed, ...concerned.map(({ entry }) => entry)]);
  const after = states.after([...files.added, ...concerned.map(({ entry }) => entry)]);
  const added = states.added(concerned);
  const changed: ChangedFile[] = [
    ...files.removed.map((entry): ChangedFile => ({ entry, change: 'DELETE', deletedRows: before.get(entry) })),
    ...files.added.map((entry): ChangedFile => ({ entry, change: 'INSERT', deletedRows: after.get(entry) })),
  ];
  for (const { entry, mayReturn } of concerned) {
    const hiddenBefore = (await before.get(entry)?.(signal)) ?? noPositions;
    const hidden = positionsWithout((await added.get(entry)?.(signal)) ?? noPositions, hiddenBefore);
    if (hidden.length > 0) changed.push({ entry, change: 'DELETE', onlyRows: hidden });
    if (!mayReturn) continue;
    const seenAgain = positionsWithout(hiddenBefore, (await after.get(entry)?.(signal)) ?? noPositions);
    if (seenAgain.length > 0) changed.push({ entry, change: 'INSERT', onlyRows: seenAgain });
  }
  return changed.toSorted(inOrder);
}

const noPositions = new BigInt64Array(0);

/** The files of a snapshot, as it changed them. */
interface SnapshotFiles {
  /** Data files that came, and that went. */
  readonly added: readonly ManifestEntry[];
  readonly removed: readonly ManifestEntry[];
  /** Data files that stayed; only where deletes changed. */
  readonly kept: readonly ManifestEntry[];
  readonly deletes: {
    readonly added: readonly ManifestEntry[];
    readonly removed: readonly ManifestEntry[];
    readonly kept: readonly ManifestEntry[];
  };
}

async function filesOf(
  source: ScanSource,
  { metadata }: SnapshotState,
  snapshot: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<SnapshotFiles> {
  const manifests = await manifestsOf(source, metadata, snapshot, signal);
  const isOwn = ({ addedSnapshotId }: ManifestFile): boolean => addedSnapshotId === snapshot.snapshotId;
  const read = async (wanted: readonly ManifestFile[]): Promise<readonly (readonly [ManifestFile, ManifestEntry])[]> => {
    const lists = await mapBounded(wanted, manifestsAtOnce, async (manifest) => {
      const entries = await entriesOf(source, metadata, manifest, signal);
      return entries.map((entry) => [manifest, entry] as const);
    });
    return lists.flat();
  };
  const kindOf = (manifest: ManifestFile, { status, snapshotId }: ManifestEntry): keyof SnapshotFiles['deletes'] | undefined => {
    const changed = isOwn(manifest) && snapshotId === snapshot.snapshotId;
    if (status === 'deleted') return changed ? 'removed' : undefined;
    return changed && status === 'added' ? 'added' : 'kept';
  };
  const pick = (
    entries: readonly (readonly [ManifestFile, ManifestEntry])[],
    kind: keyof SnapshotFiles['deletes'],
  ): readonly ManifestEntry[] => entries.flatMap(([manifest, entry]) => (kindOf(manifest, entry) === kind ? [entry] : []));

  const manifestsIn = (content: ManifestFile['content'], own: boolean): readonly ManifestFile[] =>
    manifests.filter((manifest) => manifest.content === content && isOwn(manifest) === own);
  const ownData = await read(manifestsIn('data', true));
  const ownDeletes = await read(manifestsIn('deletes', true));
  const [removed, deletesAdded, deletesRemoved] = [pick(ownData, 'removed'), pick(ownDeletes, 'added'), pick(ownDeletes, 'removed')];
  // What a snapshot adds is younger than all earlier deletes.
  const concernsKept = deletesAdded.length + deletesRemoved.length > 0;
  const otherData = concernsKept ? await read(manifestsIn('data', false)) : [];
  const otherDeletes = concernsKept || removed.length > 0 ? await read(manifestsIn('deletes', false)) : [];
  return {
    added: pick(ownData, 'added'),
    removed,
    kept: concernsKept ? pick([...ownData, ...otherData], 'kept') : [],
    deletes: { added: deletesAdded, removed: deletesRemoved, kept: pick([...ownDeletes, ...otherDeletes], 'kept') },
  };
}

/** A data file that stayed, whose deletes changed. */
interface ConcernedFile {
  readonly entry: ManifestEntry;
  /** The deletes that the snapshot added. */
  readonly added: AttachedDeletes;
  /** Rows that were hidden may be seen again. */
  readonly mayReturn: boolean;
}

function concernedFiles({ metadata }: SnapshotState, { kept, deletes }: SnapshotFiles): readonly ConcernedFile[] {
  if (kept.length === 0) return [];
  const added = new DeleteIndex(metadata, deletes.added);
  const removed = new DeleteIndex(metadata, deletes.removed);
  const after = new DeleteIndex(metadata, [...deletes.kept, ...deletes.added]);
  return kept.flatMap((entry) => {
    const came = added.of(entry);
    const went = removed.of(entry);
    if (isEmpty(came) && isEmpty(went)) return [];
    const { vector } = after.of(entry);
    // A vector takes the place of all position delete files, earlier and later ones.
    const hiding = vector !== undefined && came.vector === undefined ? { ...came, own: [], shared: [] } : came;
    return [{ entry, added: hiding, mayReturn: !isEmpty(went) || vector !== undefined }];
  });
}

function isEmpty({ vector, own, shared, equality, globalEquality }: AttachedDeletes): boolean {
  return vector === undefined && own.length + shared.length + equality.length + globalEquality.length === 0;
}

type DeletedRows = ReadonlyMap<ManifestEntry, ScanFile['deletedRows']>;

/** What reads the hidden rows of data files in the states before and after the snapshot, and those hidden by what it added. */
function statesOf(
  source: ScanSource,
  of: SnapshotState,
  { deletes }: SnapshotFiles,
): {
  readonly before: (entries: readonly ManifestEntry[]) => DeletedRows;
  readonly after: (entries: readonly ManifestEntry[]) => DeletedRows;
  readonly added: (files: readonly ConcernedFile[]) => DeletedRows;
} {
  const rowsOf = (files: readonly LiveFile[]): DeletedRows => {
    const deletedRows = deletedRowsIn(source, of, files);
    return new Map(files.map((file) => [file.entry, deletedRows(file)]));
  };
  const state =
    (live: readonly ManifestEntry[]) =>
    (entries: readonly ManifestEntry[]): DeletedRows => {
      const index = new DeleteIndex(of.metadata, live);
      return rowsOf(entries.map((entry) => withDeletes(entry, index.of(entry))));
    };
  return {
    before: state([...deletes.kept, ...deletes.removed]),
    after: state([...deletes.kept, ...deletes.added]),
    added: (files) => rowsOf(files.map(({ entry, added }) => withDeletes(entry, added))),
  };
}

function withDeletes(entry: ManifestEntry, attached: AttachedDeletes): LiveFile {
  return { entry, deletes: [], attached };
}

/** Deletes before inserts, then by path: the order of a version's rows. */
export function inOrder(left: ChangedFile, right: ChangedFile): number {
  if (left.change !== right.change) return left.change === 'DELETE' ? -1 : 1;
  return Buffer.compare(Buffer.from(left.entry.file.path), Buffer.from(right.entry.file.path));
}

/** The positions of an ascending list that are not in another one. */
function positionsWithout(positions: BigInt64Array, others: BigInt64Array): BigInt64Array {
  if (others.length === 0 || positions.length === 0) return positions;
  const kept = new BigInt64Array(positions.length);
  let count = 0;
  let at = 0;
  for (const position of positions) {
    while (at < others.length && (others[at] ?? 0n) < position) at += 1;
    if (at < others.length && others[at] === position) continue;
    kept[count] = position;
    count += 1;
  }
  return kept.subarray(0, count);
}

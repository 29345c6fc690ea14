import { unassignedSequenceNumber } from '../../metadata/avro-settings.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../../metadata/content-file.ts';
import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import { writeManifest } from '../../metadata/write-manifest.ts';
import { writeManifestList } from '../../metadata/write-manifest-list.ts';
import type { PathPrefix } from './path-prefix.ts';
import { type RewrittenDeletes, relocateDeletes } from './relocate-deletes.ts';

const codecProperty = 'write.manifest.compression-codec';

/** A manifest whose files are in the target. What is inherited from the list that names it stays so. */
export async function relocateManifest(
  metadata: TableMetadata,
  manifest: ManifestFile,
  parts: {
    readonly entries: readonly ManifestEntry[];
    readonly prefix: PathPrefix;
    readonly deletes: ReadonlyMap<string, RewrittenDeletes>;
  },
): Promise<{ readonly bytes: Uint8Array; readonly description: RewrittenManifest }> {
  const { entries, prefix, deletes } = parts;
  const inherited = inheritance(manifest);
  const { bytes, description } = await writeManifest({
    metadata,
    specId: manifest.specId,
    content: manifest.content,
    snapshotId: manifest.addedSnapshotId,
    entries: entries.map((entry) => inherited({ ...entry, file: relocateFile(entry.file, deletes, prefix) })),
    codec: metadata.properties[codecProperty],
  });
  const { length, addedRows, existingRows, deletedRows } = description;
  return { bytes, description: { length, addedRows, existingRows, deletedRows } };
}

/** What lists say of a manifest that is another one once it was rewritten. */
export type RewrittenManifest = Pick<ManifestFile, 'length' | 'addedRows' | 'existingRows' | 'deletedRows'>;

/** The list of a snapshot whose manifests are in the target. */
export function relocateManifestList(
  metadata: TableMetadata,
  snapshot: IcebergSnapshot,
  parts: {
    readonly manifests: readonly ManifestFile[];
    readonly rewritten: ReadonlyMap<string, RewrittenManifest>;
    readonly prefix: PathPrefix;
  },
): Promise<Uint8Array> {
  const { manifests, rewritten, prefix } = parts;
  return writeManifestList({
    formatVersion: listVersion(metadata, snapshot, manifests),
    snapshotId: snapshot.snapshotId,
    parentSnapshotId: snapshot.parentSnapshotId,
    sequenceNumber: snapshot.sequenceNumber,
    firstRowId: snapshot.firstRowId,
    manifests: manifests.map((manifest) => ({ ...manifest, ...rewritten.get(manifest.path), path: prefix.targetOf(manifest.path) })),
    codec: metadata.properties[codecProperty],
  });
}

function relocateFile(file: ContentFile, deletes: ReadonlyMap<string, RewrittenDeletes>, prefix: PathPrefix): ContentFile {
  return file.content === 'position-deletes'
    ? relocateDeletes(file, deletes.get(file.path), prefix)
    : { ...file, path: prefix.targetOf(file.path) };
}

/** Leaves out of entries what reading fills in: a list from before an upgrade and one from after it give the same manifest other numbers. */
function inheritance(manifest: ManifestFile): (entry: ManifestEntry) => ManifestEntry {
  let nextRowId = manifest.firstRowId;
  return (entry) => {
    const { status, file } = entry;
    const numbersOf = (number: bigint): bigint =>
      status === 'added' && number === manifest.sequenceNumber ? unassignedSequenceNumber : number;
    const inheritsRowId = status !== 'deleted' && nextRowId !== undefined && file.firstRowId === nextRowId;
    if (inheritsRowId && nextRowId !== undefined) nextRowId += BigInt(file.recordCount);
    return {
      ...entry,
      sequenceNumber: numbersOf(entry.sequenceNumber),
      fileSequenceNumber: numbersOf(entry.fileSequenceNumber),
      file: inheritsRowId ? { ...file, firstRowId: undefined } : file,
    };
  };
}

/** Snapshots from before an upgrade lack what lists of later format versions must have. */
function listVersion(
  { formatVersion }: TableMetadata,
  { firstRowId, sequenceNumber }: IcebergSnapshot,
  manifests: readonly ManifestFile[],
): 1 | 2 | 3 {
  if (formatVersion === 3 && firstRowId !== undefined) return 3;
  const hasDeletes = manifests.some(({ content }) => content === 'deletes');
  return formatVersion === 1 || (sequenceNumber === 0n && !hasDeletes) ? 1 : 2;
}

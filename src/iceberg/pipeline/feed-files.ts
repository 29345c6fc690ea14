import { mapBounded } from '../../base/map-bounded.ts';
import type { ChangeFile } from '../../table/changes.ts';
import type { FileLayout, ScanFile } from '../../table/scan.ts';
import type { ChangedFile } from '../changes/snapshot-changes.ts';
import { dataLocations } from '../files/data-locations.ts';
import { isBelow, parentLocation, plainLocation } from '../location.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { nameMappingProperty } from '../metadata/name-mapping.ts';
import { fileFilter } from '../scan/file-filter.ts';
import { type IdentityField, identityFieldsOf } from '../scan/file-layouts.ts';
import { tableNames } from '../scan/file-scan.ts';
import { fileSchemaOf } from '../scan/parquet-footers.ts';
import { identityValues, readableFiles } from '../scan/readable-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { ChangeSource } from './change-source.ts';
import { isPlain } from './plain-files.ts';

const filesAtOnce = 8;

/**
 * Data files as files of changes, in the order given, each with what reading it takes: the names of its columns, a layout, or the reader of
 * other files (`otherFileRows`).
 *
 * @throws ServiceError as `readableFiles`, and what reading delete files throws.
 */
export async function feedFilesOf(
  source: ChangeSource,
  state: SnapshotState,
  files: readonly ChangedFile[],
  signal?: AbortSignal,
): Promise<readonly ChangeFile[]> {
  const { context, storage } = source;
  const { metadata, schema, icebergSchema } = state;
  const condition = source.filter?.(schema);
  const test = condition === undefined ? undefined : fileFilter(metadata, icebergSchema, condition);
  const wanted = files.filter(({ entry }) => test?.mayHoldFile(entry.file) !== false);
  const request = { metadata, schema, files: wanted, nameToId: tableNames(metadata), withLineage: false };
  const scan = await readableFiles(context, request, signal);
  const scanned = new Map(wanted.map((file, index) => [file, scan.files[index]]));
  const identities = new Map(metadata.partitionSpecs.map((spec) => [spec.specId, identityFieldsOf(spec)]));
  return mapBounded(files, filesAtOnce, async (changed) => {
    const { entry, change, onlyRows } = changed;
    const { file } = entry;
    const deleted = onlyRows === undefined ? await changed.deletedRows?.(signal) : undefined;
    const scannedFile = scanned.get(changed);
    const asRead = { file, identities: identities.get(file.specId) ?? [], layout: scan };
    return {
      kind: change === 'INSERT' ? 'insert' : 'delete',
      ...locationOf(source, state, file.path),
      ...(storage === undefined ? {} : { storage }),
      sizeBytes: file.fileSizeBytes,
      rowCount: onlyRows?.length ?? file.recordCount - (deleted?.length ?? 0),
      ...(deleted === undefined || deleted.length === 0 ? {} : { deletedRows: deleted }),
      ...(onlyRows === undefined ? {} : { onlyRows }),
      ...(scannedFile === undefined
        ? { partitionValues: {}, ruledOut: true }
        : await readingOf(source, state, { ...asRead, scanned: scannedFile }, signal)),
    };
  });
}

interface FileAsRead {
  readonly file: ContentFile;
  readonly identities: readonly IdentityField[];
  readonly scanned: ScanFile;
  /** Of files that have none of their own. */
  readonly layout: FileLayout;
}

async function readingOf(
  { context }: ChangeSource,
  { metadata, schema }: SnapshotState,
  { file, identities, scanned, layout }: FileAsRead,
  signal: AbortSignal | undefined,
): Promise<Pick<ChangeFile, 'partitionValues' | 'layout' | 'other'>> {
  const { format } = file;
  if (scanned.rows !== undefined && format !== 'puffin') {
    const nameMapping = metadata.properties[nameMappingProperty];
    return { partitionValues: {}, other: { format, nameMapping, constants: identityValues(identities, file.partition) } };
  }
  const constants = new Set(identities.map(({ sourceId }) => sourceId));
  if (isPlain(schema.fields, await fileSchemaOf(context, file, signal), constants)) return { partitionValues: {} };
  const { storedColumns, partitionColumns, defaults } = scanned.layout ?? layout;
  return { partitionValues: scanned.partitionValues, layout: { storedColumns, partitionColumns, ...(defaults && { defaults }) } };
}

/** Below the table's data directory, or the file's own where it lies elsewhere. */
function locationOf(
  { context }: ChangeSource,
  { metadata }: SnapshotState,
  location: string,
): Required<Pick<ChangeFile, 'path' | 'location'>> {
  const { root } = dataLocations(metadata);
  const directory = isBelow(plainLocation(location), plainLocation(root)) ? root : parentLocation(location);
  const path = plainLocation(location).slice(plainLocation(directory).length).replace(/^\/+/, '');
  return { path, location: context.files.openable(directory) };
}

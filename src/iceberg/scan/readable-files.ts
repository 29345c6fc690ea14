import { mapBounded } from '../../base/map-bounded.ts';
import { someType } from '../../schema/type-tree.ts';
import type { StructType } from '../../schema/types.ts';
import type { HiddenColumn } from '../../table/hidden-columns.ts';
import type { FileLayout, FileScan, ReadFileRange, ScanFile, ScanStatistics } from '../../table/scan.ts';
import type { ManifestEntry, PartitionValue } from '../metadata/content-file.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { coarserColumns } from './coarser-columns.ts';
import { FileLayouts, type IdentityField, identityFieldsOf } from './file-layouts.ts';
import { factsOf } from './hidden-columns.ts';
import { lineageColumns } from './lineage-columns.ts';
import type { MetadataSource } from './manifests.ts';
import type { NameToId } from './name-to-id.ts';
import { otherRows } from './other-rows.ts';
import { fileSchemaOf } from './parquet-footers.ts';
import { partitionValuesOf } from './partition-values.ts';

/** Footers that are read at the same time. */
const footersAtOnce = 16;

/** A file to read, with what the engine takes away from it. */
export interface FileToRead {
  readonly entry: ManifestEntry;
  readonly deletedRows?: ScanFile['deletedRows'];
}

export interface ReadableFilesRequest {
  readonly metadata: TableMetadata;
  /** Columns to read, with their ids. */
  readonly schema: StructType;
  readonly files: readonly FileToRead[];
  readonly nameToId: NameToId | undefined;
  /** Row ids and the versions rows were changed by are there to be asked for. */
  readonly withLineage: boolean;
  readonly statistics?: ScanStatistics | undefined;
  /** Of `hiddenColumnsOf`; those of row lineage need `withLineage`. */
  readonly hidden?: readonly HiddenColumn[] | undefined;
}

/**
 * How the engine reads files of a table, whatever their format and age, as rows of a schema.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `PARQUET_CORRUPT` (corrupt), `FILE_OUTSIDE_TABLE` (invalid).
 */
export async function readableFiles(source: MetadataSource, request: ReadableFilesRequest, signal?: AbortSignal): Promise<FileScan> {
  const { schema, metadata, files } = request;
  const layouts = new FileLayouts(schema, request.nameToId, { coarser: coarserColumns(schema, metadata.schemas) });
  const identities = new Map(metadata.partitionSpecs.map((spec) => [spec.specId, identityFieldsOf(spec)]));
  const withNanoInstants = someType(schema, ({ kind }) => kind === 'timestamp_ns');
  // Files of other formats are read into the columns of the schema before the engine sees them.
  const whole: FileLayout = {
    storedColumns: schema.fields.map((field) => ({ field, match: { by: 'name', name: field.name }, storedType: field.type })),
    partitionColumns: [],
  };
  const scanFiles = await mapBounded(files, footersAtOnce, async ({ entry, deletedRows }): Promise<ScanFile> => {
    const { file } = entry;
    const fields = identities.get(file.specId) ?? [];
    const base = {
      path: source.files.openable(file.path),
      sizeBytes: file.fileSizeBytes,
      rowCount: file.recordCount,
      deletedRows,
      ...(request.withLineage ? lineageOf(entry) : {}),
    };
    if (file.format === 'parquet' && !withNanoInstants) {
      const layout = layouts.of(await fileSchemaOf(source, file, signal), file.specId, fields);
      return { ...base, layout, partitionValues: partitionValuesOf(schema, layout.partitionColumns, fields, file.partition) };
    }
    const partition = identityValues(fields, file.partition);
    const rows = (inner?: AbortSignal): ReturnType<typeof otherRows> =>
      otherRows(source, { file, schema, nameToId: request.nameToId, partition, withLineage: request.withLineage }, inner);
    return { ...base, layout: whole, rows, partitionValues: {} };
  });
  const first = scanFiles[0]?.layout ?? whole;
  return {
    schema,
    ...first,
    rowTracking: request.withLineage ? lineageColumns : undefined,
    ...hiddenOf(request),
    // The scan's own layout is that of its first file.
    files: scanFiles.map((file) => (file.layout === first ? { ...file, layout: undefined } : file)),
    readRange: rangeReader(source, files),
    statistics: request.statistics ?? wholeStatistics(files),
  };
}

function hiddenOf({ metadata, hidden, files }: ReadableFilesRequest): Pick<FileScan, 'hidden' | 'facts'> {
  if (hidden === undefined) return {};
  const contents = files.map(({ entry }) => entry.file);
  return { hidden, facts: factsOf(metadata, hidden, contents) };
}

/** Rows of a file that has no row ids to give count from no version either, as in the reference implementation. */
function lineageOf({ file, sequenceNumber }: ManifestEntry): Pick<ScanFile, 'baseRowId' | 'defaultRowCommitVersion'> {
  return file.firstRowId === undefined ? {} : { baseRowId: file.firstRowId, defaultRowCommitVersion: sequenceNumber };
}

/** Values of a file's identity partition fields by the id of their column. */
export function identityValues(fields: readonly IdentityField[], values: readonly PartitionValue[]): ReadonlyMap<number, PartitionValue> {
  return new Map(fields.map(({ sourceId, place }) => [sourceId, values[place]]));
}

/** For files that the engine cannot open by a path of this machine. */
function rangeReader(source: MetadataSource, files: readonly FileToRead[]): ReadFileRange | undefined {
  const locations = new Map<string, string>();
  for (const { entry } of files) {
    const path = source.files.openable(entry.file.path);
    if (!path.startsWith('/')) locations.set(path, entry.file.path);
  }
  if (locations.size === 0) return undefined;
  return (path, range, signal) => source.files.readRange(locations.get(path) ?? path, range, signal);
}

function wholeStatistics(files: readonly FileToRead[]): ScanStatistics {
  const bytes = files.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0);
  return { filesConsidered: files.length, bytesConsidered: bytes, filesSelected: files.length, bytesSelected: bytes };
}

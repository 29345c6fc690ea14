import { inspectFile } from '../../codec/inspect-file.ts';
import type { StructType } from '../../schema/types.ts';
import { hiddenNamed } from '../../table/hidden-columns.ts';
import type { FileScan, ScanFile, StoredColumn } from '../../table/scan.ts';
import { type AddFile, type CdcFile, isEmptyVector, physicalRows, type RemoveFile } from '../actions.ts';
import { columnId, type MappingMode, physicalName, physicalType } from '../column-mapping/physical-schema.ts';
import { readDeletionVector } from '../deletion-vectors/read-deletion-vector.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { TablePlace } from '../files/table-place.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { rowTrackingColumnsOf } from '../row-tracking-columns.ts';
import { hadCoarserType } from '../type-changes.ts';
import { absolutePathOf } from './file-location.ts';
import { factsOf, hiddenColumnsOf } from './hidden-columns.ts';
import { type PartitionColumn, partitionsOf, partitionTexts } from './partition-columns.ts';

/** Of a vector with more positions the file itself is asked for its rows, before memory is taken for what statistics may only pretend. */
const maxUnprovenPositions = 1_000_000;

type LoggedFile = AddFile | RemoveFile | CdcFile;

/**
 * How the engine reads `files` as rows of the snapshot's schema, deletion vectors applied. The files may be of any version of the table.
 * What the statistics call considered is the whole snapshot.
 *
 * @throws ServiceError `DELTA_PATH_REFUSED`, `DELTA_PARTITION_VALUE_INVALID` (corrupt), `DELTA_PATH_UNSUPPORTED` (unsupported).
 */
export function fileScanOf(context: OperationContext, snapshot: DeltaSnapshot, files: readonly LoggedFile[]): FileScan {
  const partitions = partitionsOf(snapshot, context.name);
  const partitionColumns = partitions.map((partition) => partition.name);
  const { place } = context;
  return {
    schema: snapshot.schema,
    storedColumns: storedColumnsOf(snapshot.schema, { mapping: snapshot.mapping, partitionColumns }),
    partitionColumns,
    rowTracking: rowTrackingColumnsOf(snapshot),
    files: files.map((file) => scanFileOf(context, file, { place, partitions })),
    readRange: place.readRange,
    within: place.within,
    statistics: {
      filesConsidered: snapshot.fileCount,
      bytesConsidered: snapshot.sizeBytes,
      filesSelected: files.length,
      bytesSelected: files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0),
    },
  };
}

/** As `fileScanOf`, of live files, with the hidden columns of these names. */
export function scanWithHidden(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  files: readonly AddFile[],
  names: readonly string[],
): FileScan {
  const scan = fileScanOf(context, snapshot, files);
  const hidden = hiddenNamed(hiddenColumnsOf(snapshot), names);
  const placed = files.map((file, index) => ({ file, path: scan.files[index]?.path ?? file.path }));
  return { ...scan, hidden, facts: factsOf(hidden, placed) };
}

function scanFileOf(
  context: OperationContext,
  file: LoggedFile,
  table: { readonly place: TablePlace; readonly partitions: readonly PartitionColumn[] },
): ScanFile {
  const base = {
    path: absolutePathOf(file, table.place, context.name),
    sizeBytes: file.sizeBytes ?? 0,
    partitionValues: partitionTexts(file.partitionValues ?? {}, table.partitions, file.path),
  };
  if (file.kind === 'cdc') return { ...base, rowCount: undefined };
  const { deletionVector, baseRowId, defaultRowCommitVersion } = file;
  const rowCount = physicalRows(file.stats);
  const deletedRows =
    deletionVector === undefined || isEmptyVector(deletionVector)
      ? undefined
      : async (signal?: AbortSignal) => {
          const rows = deletionVector.cardinality > maxUnprovenPositions ? await provenRows(table.place, base, signal) : rowCount;
          return readDeletionVector(context, { vector: deletionVector, rows }, signal);
        };
  return { ...base, rowCount, deletedRows, baseRowId, defaultRowCommitVersion };
}

async function provenRows(
  place: TablePlace,
  file: { readonly path: string; readonly sizeBytes: number },
  signal?: AbortSignal,
): Promise<number> {
  return inspectFile('parquet', {
    name: file.path,
    sizeBytes: file.sizeBytes,
    read: (range) => place.readRange(file.path, range, signal),
  });
}

/** Where files hold the table's columns. Partition columns, which files need not hold, are left out. */
export function storedColumnsOf(
  schema: StructType,
  options: { readonly mapping: MappingMode; readonly partitionColumns: readonly string[] },
): readonly StoredColumn[] {
  const { mapping, partitionColumns } = options;
  return schema.fields
    .filter((field) => !partitionColumns.includes(field.name))
    .map((field) => {
      const id = mapping === 'id' ? columnId(field) : undefined;
      return {
        field,
        match: id === undefined ? { by: 'name', name: mapping === 'none' ? field.name : physicalName(field) } : { by: 'id', id },
        storedType: physicalType(field.type, mapping),
        ...(hadCoarserType(field) ? { coarser: true } : {}),
      };
    });
}

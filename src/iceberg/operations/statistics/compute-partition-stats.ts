import { isServiceError } from '../../../base/errors.ts';
import { buildBatch, type InputRow } from '../../../codec/build-columns.ts';
import type { StructType } from '../../../schema/types.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import { fileCompression, writeFormat } from '../../files/compression.ts';
import { discardFiles } from '../../files/discard-files.ts';
import { rowFileWriter } from '../../files/row-file-writer.ts';
import type { PartitionStatisticsFile } from '../../metadata/table-metadata.ts';
import { unifiedPartition } from '../../metadata-tables/partition-type.ts';
import { entriesOf, manifestsOf } from '../../scan/manifests.ts';
import type { TableContext } from '../../table-context.ts';
import { metadataFolder } from '../../transaction/commit-settings.ts';
import { illegalArgument } from '../operation-errors.ts';
import { PartitionTotals, partitionStatisticsSchema } from './partition-totals.ts';
import { type MeasuredSnapshot, measuredSnapshot, setStatistics } from './statistics-files.ts';

export interface PartitionStatisticsRequest extends Pick<CommitOptions, 'signal'> {
  /** Default: the newest. */
  readonly snapshotId?: bigint | undefined;
}

const rowsPerBatch = 16_384;

/**
 * Counts rows, files and deletes of each partition by the manifests of a snapshot, and sets them as its partition statistics. Those it has
 * already stay: a snapshot does not change.
 *
 * @returns where the file is; `undefined`: the table has no snapshot, or the snapshot no files.
 * @throws AnalysisException `INVALID_ARGUMENT` for a snapshot that is not there, and a table without partitions.
 */
export async function computePartitionStats(context: TableContext, request: PartitionStatisticsRequest): Promise<string | undefined> {
  const { signal } = request;
  const measured = await measuredSnapshot(context, request);
  if (measured === undefined) return undefined;
  const { state, snapshot } = measured;
  const known = state.metadata.partitionStatistics.find(({ snapshotId }) => snapshotId === snapshot.snapshotId);
  if (known !== undefined && (await context.files.head(known.statisticsPath, signal)) !== undefined) return known.statisticsPath;
  const file = await written(context, measured, signal);
  if (file === undefined) return undefined;
  try {
    await setStatistics(context, snapshot, { action: 'set-partition-statistics', statistics: file }, signal);
  } catch (error) {
    // After an unknown outcome the file may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, [{ path: file.statisticsPath }]);
    throw error;
  }
  return file.statisticsPath;
}

async function written(
  context: TableContext,
  { state: { metadata }, snapshot }: MeasuredSnapshot,
  signal: AbortSignal | undefined,
): Promise<PartitionStatisticsFile | undefined> {
  const partition = unifiedPartition(metadata);
  if (partition.type === undefined) throw illegalArgument('Table must be partitioned', 'the metadata table partitions has its one row');
  const totals = new PartitionTotals(metadata, partition);
  for (const manifest of await manifestsOf(context, metadata, snapshot, signal)) {
    for (const entry of await entriesOf(context, metadata, manifest, signal)) totals.add(entry);
  }
  const rows = totals.rows();
  if (rows.length === 0) return undefined;
  const { format, bytes } = await fileOf(
    context,
    metadata.properties,
    partitionStatisticsSchema(metadata, partition.type, partition),
    rows,
  );
  const name = `partition-stats-${snapshot.snapshotId}-${context.ids.uuid()}.${format}`;
  const statisticsPath = `${metadataFolder(metadata.location, metadata.properties)}/${name}`;
  await context.files.put(statisticsPath, bytes, signal);
  return { snapshotId: snapshot.snapshotId, statisticsPath, fileSizeInBytes: BigInt(bytes.byteLength) };
}

async function fileOf(
  { ids }: TableContext,
  properties: Readonly<Record<string, string>>,
  schema: StructType,
  rows: readonly InputRow[],
): Promise<{ readonly format: string; readonly bytes: Uint8Array }> {
  const ofTable = writeFormat(properties, 'data');
  // The reference implementation reads statistics of no ORC file.
  const compression = fileCompression(ofTable === 'orc' ? 'parquet' : ofTable, properties, 'data');
  const writer = rowFileWriter(schema, compression, ids);
  for (let from = 0; from < rows.length; from += rowsPerBatch)
    await writer.append(buildBatch(schema, rows.slice(from, from + rowsPerBatch)));
  return { format: compression.format, bytes: (await writer.finish()).bytes };
}

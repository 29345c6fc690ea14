import type { DataType, Field } from '../../schema/types.ts';
import type { FileSizeMetrics, OptimizeRequest, OptimizeResult } from '../../table/row-operations.ts';
import type { RowInput } from '../rows/row.ts';
import { type CommandResult, resultSchema } from './command-result.ts';
import { type CommandTarget, commitOptionsOf, fixedNow } from './row-commands.ts';

const defaultIndexedColumns = 32;

/** OPTIMIZE and REORG: one row with the table's path and the metrics, by Spark's names. */
export async function optimizeCommand(
  target: CommandTarget,
  request: Pick<OptimizeRequest, 'where' | 'zOrderBy' | 'purge' | 'full'>,
): Promise<CommandResult> {
  const { runtime, table, signal } = target;
  const startedMs = runtime.clock.now();
  const where = request.where === undefined ? undefined : fixedNow(target, request.where);
  const targetFileBytes = runtime.conf.bytes('spark.databricks.delta.optimize.maxFileSize');
  const minFileBytes = runtime.conf.bytes('spark.databricks.delta.optimize.minFileSize');
  const { schema, properties } = await table.refresh(signal);
  const result = await table.operations.optimize({ ...request, where, targetFileBytes, minFileBytes, ...commitOptionsOf(target) });
  const about = {
    startTimeMs: startedMs,
    endTimeMs: runtime.clock.now(),
    numTableColumns: schema.fields.length,
    numTableColumnsWithStats: columnsWithStatistics(schema.fields.length, properties['delta.dataSkippingNumIndexedCols']),
    zOrderStats: result.version === undefined || (request.zOrderBy ?? []).length === 0 ? null : zOrderRow(result),
  };
  return { schema: optimizeSchema, rows: [{ path: locationText(table.location), metrics: { ...metricsRow(result), ...about } }] };
}

/** A location as the reference engines print it. */
export function locationText(location: string): string {
  return location.startsWith('/') ? `file:${location}` : location;
}

function metricsRow(result: OptimizeResult): RowInput {
  return {
    numFilesAdded: result.filesAdded.totalFiles,
    numFilesRemoved: result.filesRemoved.totalFiles,
    filesAdded: sizesRow(result.filesAdded),
    filesRemoved: sizesRow(result.filesRemoved),
    partitionsOptimized: result.partitionsOptimized,
    clusteringStats: clusteringRow(result.clustering),
    numBins: result.bins,
    numBatches: result.version === undefined ? 0 : 1,
    totalConsideredFiles: result.filesConsidered,
    totalFilesSkipped: result.filesSkipped,
    preserveInsertionOrder: false,
    numFilesSkippedToReduceWriteAmplification: 0,
    numBytesSkippedToReduceWriteAmplification: 0,
    totalClusterParallelism: 1,
    totalScheduledTasks: 0,
    autoCompactParallelismStats: null,
    deletionVectorStats:
      result.deletionVectorsRemoved === 0
        ? null
        : {
            numDeletionVectorsRemoved: result.deletionVectorsRemoved,
            numDeletionVectorRowsRemoved: result.deletionVectorRowsRemoved,
          },
  };
}

/** Every run orders all files of a partition anew: there are no cubes that stay as they are. */
function zOrderRow({ filesRemoved, partitionsOptimized }: OptimizeResult): RowInput {
  const files = { num: filesRemoved.totalFiles, size: filesRemoved.totalSize };
  return {
    strategyName: 'all',
    inputCubeFiles: { num: 0, size: 0 },
    inputOtherFiles: files,
    inputNumCubes: 0,
    mergedFiles: files,
    numOutputCubes: partitionsOptimized,
  };
}

/** Of the first columns, as many as the property says (-1: all). */
function columnsWithStatistics(columns: number, property: string | undefined): number {
  const indexed = Number(property ?? defaultIndexedColumns);
  return indexed < 0 ? columns : Math.min(columns, indexed);
}

function clusteringRow(clustering: OptimizeResult['clustering']): RowInput | null {
  if (clustering === undefined) return null;
  return {
    inputZCubeFiles: { ...clustering.cubeFiles },
    inputOtherFiles: { ...clustering.otherFiles },
    inputNumZCubes: clustering.cubes,
    mergedFiles: { ...clustering.mergedFiles },
    numOutputZCubes: clustering.outputCubes,
  };
}

function sizesRow(sizes: FileSizeMetrics): RowInput {
  return { min: sizes.min, max: sizes.max, avg: sizes.avg, totalFiles: sizes.totalFiles, totalSize: sizes.totalSize };
}

const long: DataType = { kind: 'long' };
const text: DataType = { kind: 'string' };

function struct(members: Readonly<Record<string, DataType>>): DataType {
  return { kind: 'struct', fields: Object.entries(members).map(([name, type]): Field => ({ name, type, nullable: true })) };
}

const sizes = struct({ min: long, max: long, avg: { kind: 'double' }, totalFiles: long, totalSize: long });
const numberAndSize = struct({ num: long, size: long });
const filesAndSize = struct({ numFiles: long, size: long });
const metrics = struct({
  numFilesAdded: long,
  numFilesRemoved: long,
  filesAdded: sizes,
  filesRemoved: sizes,
  partitionsOptimized: long,
  zOrderStats: struct({
    strategyName: text,
    inputCubeFiles: numberAndSize,
    inputOtherFiles: numberAndSize,
    inputNumCubes: long,
    mergedFiles: numberAndSize,
    numOutputCubes: long,
    mergedNumCubes: long,
  }),
  clusteringStats: struct({
    inputZCubeFiles: filesAndSize,
    inputOtherFiles: filesAndSize,
    inputNumZCubes: long,
    mergedFiles: filesAndSize,
    numOutputZCubes: long,
  }),
  numBins: long,
  numBatches: long,
  totalConsideredFiles: long,
  totalFilesSkipped: long,
  preserveInsertionOrder: { kind: 'boolean' },
  numFilesSkippedToReduceWriteAmplification: long,
  numBytesSkippedToReduceWriteAmplification: long,
  startTimeMs: long,
  endTimeMs: long,
  totalClusterParallelism: long,
  totalScheduledTasks: long,
  autoCompactParallelismStats: struct({
    maxClusterActiveParallelism: long,
    minClusterActiveParallelism: long,
    maxSessionActiveParallelism: long,
    minSessionActiveParallelism: long,
  }),
  deletionVectorStats: struct({ numDeletionVectorsRemoved: long, numDeletionVectorRowsRemoved: long }),
  numTableColumns: long,
  numTableColumnsWithStats: long,
});
const optimizeSchema = resultSchema({ path: text, metrics });

import { AnalysisException } from '../../../base/analysis-exception.ts';
import { serviceError } from '../../../base/errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import { printExpression } from '../../../expr/print-expression.ts';
import { type ClusterColumn, zOrdered } from '../../../rows/order/z-order.ts';
import type { OptimizeRequest, OptimizeResult } from '../../../table/row-operations.ts';
import type { AddFile } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { checkRowsWritable } from '../../table-features.ts';
import {
  asCubes,
  type ClusteredFiles,
  clusteredBy,
  clusteringMetrics,
  clusterNames,
  planClustering,
  refuseFull,
  refusePredicate,
} from '../clustered-files.ts';
import type { OperationContext } from '../operation-context.ts';
import { type EngineRewriteOptions, engineRewriter } from './bin-rewriters.ts';
import { filesMatching } from './matching-partitions.ts';
import { optimizeParameters, reorgParameters } from './optimize-parameters.ts';
import { partitionKeys } from './partition-key.ts';
import { defaultTargetFileBytes, type OptimizeKind, planOptimize } from './plan-optimize.ts';
import { type Bin, type RewrittenBin, rewriteBins } from './rewrite-bins.ts';
import { deletionVectors, fileSizeMetrics, totalBytes } from './rewrite-metrics.ts';
import { clusterColumns } from './z-order.ts';

/** Bins packed at the same time; the engine divides its memory among them. */
const packConcurrency = 2;

/**
 * OPTIMIZE, OPTIMIZE … ZORDER BY and REORG … APPLY (PURGE): fewer, larger (or clustered) files with the same rows and no deletion vectors, in
 * one version; none when there is nothing to do. Files that others append meanwhile are left for the next run; what others removed is
 * dropped from the commit. A clustered table gets its rows in the order of a Z-order curve over its clustering columns (see
 * `planClustering`).
 *
 * @throws AnalysisException `DELTA_NON_PARTITION_COLUMN_REFERENCE`, `DELTA_CLUSTERING_WITH_PARTITION_PREDICATE` (0A000),
 * `DELTA_OPTIMIZE_FULL_NOT_SUPPORTED` (42601), what `clusterColumns` throws; ServiceError `OPTIMIZE_CONFLICTED` (conflict) when nothing of the work could be committed, and what `rewriteBins` throws.
 */
export async function optimize(context: OperationContext, request: OptimizeRequest): Promise<OptimizeResult> {
  const { signal, where } = request;
  const base = await context.refresh(signal);
  checkRowsWritable(base.protocol, base.metadata, context.name);
  const kind = kindOf(request);
  const full = request.full === true;
  const clusterBy = clusteredBy(base);
  const zOrdering = kind === 'cluster' ? clusterColumns(base, request.zOrderBy ?? []) : [];
  if (full && clusterBy.length === 0) refuseFull();
  if (where !== undefined && kind === 'pack' && clusterBy.length > 0) refusePredicate(printExpression(where));
  const considered = where === undefined ? [...base.files()] : await filesMatching(context, base, where, signal);
  const targetFileBytes = request.targetFileBytes ?? base.settings.targetFileBytes ?? defaultTargetFileBytes;
  const predicate = where === undefined ? undefined : printExpression(where);
  const cubes = clusterBy.length > 0 ? { columns: clusterBy, full } : undefined;
  const clusters = kind === 'pack' && cubes !== undefined;
  const names = { zOrderBy: clusterNames(zOrdering), clusterBy: clusters ? clusterNames(clusterBy) : undefined };
  return optimizeBins(context, base, {
    considered,
    bins: clusters
      ? planClustering(considered, cubes)
      : planOptimize(base, considered, { kind, targetFileBytes, minFileBytes: request.minFileBytes }),
    targetFileBytes,
    columns: cubes === undefined ? zOrdering : clusterBy,
    cubes,
    operation: kind === 'purge' ? 'REORG' : 'OPTIMIZE',
    operationParameters: kind === 'purge' ? reorgParameters(predicate) : optimizeParameters({ predicate, ...names, full }),
    userMetadata: request.userMetadata,
    signal,
  });
}

/** Planned work of an OPTIMIZE. */
export interface PlannedOptimize extends Pick<Parameters<typeof rewriteBins>[1], 'operation' | 'operationParameters' | 'userMetadata'> {
  readonly considered: readonly AddFile[];
  readonly bins: readonly Bin[];
  /** Clustered rows are divided into files of about this size. */
  readonly targetFileBytes: number;
  /** Empty: rows keep the order they have. */
  readonly columns: readonly ClusterColumn[];
  /** The columns are those the table is clustered by: the files say so. */
  readonly cubes?: ClusteredFiles | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Executes planned work; see `optimize`. */
export async function optimizeBins(context: OperationContext, base: DeltaSnapshot, planned: PlannedOptimize): Promise<OptimizeResult> {
  const { bins, columns, signal } = planned;
  if (bins.length === 0) return resultOf(base, planned, [], undefined);
  const engine = await context.engine();
  const rewrite = engineRewriter(context, base, { engine, concatenate: isPlainPacking(planned), divide: clustering(engine, planned) });
  const outcome = await rewriteBins(
    context,
    {
      base,
      bins,
      rewrite: planned.cubes === undefined ? rewrite : asCubes(rewrite, columns, context.ids),
      // A sort wants all of the engine's memory.
      concurrency: columns.length > 0 ? 1 : packConcurrency,
      operation: planned.operation,
      operationParameters: planned.operationParameters,
      userMetadata: planned.userMetadata,
    },
    signal,
  );
  if (outcome.kind === 'committed') return resultOf(base, planned, outcome.bins, outcome.version);
  throw serviceError.conflict(
    'OPTIMIZE_CONFLICTED',
    `table "${context.name}": ${planned.operation} lost against other writers up to version ${outcome.conflict.latest} (${outcome.conflict.kind})`,
    { retryable: true, hint: 'nothing was changed; run it again' },
  );
}

function kindOf(request: OptimizeRequest): OptimizeKind {
  const clusters = request.zOrderBy !== undefined && request.zOrderBy.length > 0;
  if (!clusters) return request.purge === true ? 'purge' : 'pack';
  if (request.purge !== true) return 'cluster';
  throw new AnalysisException({ errorClass: 'INVALID_OPTIMIZE', message: 'REORG … APPLY (PURGE) cannot cluster rows' });
}

/** Purging is for bytes that no row needs any more: of dropped columns, of old types. */
function isPlainPacking(planned: PlannedOptimize): boolean {
  return planned.operation === 'OPTIMIZE' && planned.columns.length === 0;
}

function clustering(engine: Engine, planned: PlannedOptimize): EngineRewriteOptions['divide'] {
  const { columns, targetFileBytes } = planned;
  if (columns.length === 0) return undefined;
  return (rows, bin, signal) => {
    const parts = Math.max(1, Math.ceil(totalBytes(bin) / targetFileBytes));
    return zOrdered(engine, rows, columns, { parts, signal });
  };
}

function resultOf(
  base: DeltaSnapshot,
  { considered, cubes, operation }: PlannedOptimize,
  bins: readonly RewrittenBin[],
  version: OptimizeResult['version'],
): OptimizeResult {
  const inputs = bins.flatMap((bin) => bin.inputs);
  const keyOf = partitionKeys(base);
  const partitions = new Set(inputs.map((file) => keyOf(file.partitionValues)));
  return {
    version,
    filesAdded: fileSizeMetrics(bins.flatMap((bin) => bin.outputs)),
    filesRemoved: fileSizeMetrics(inputs),
    deletionVectorsRemoved: deletionVectors(inputs),
    deletionVectorRowsRemoved: inputs.reduce((sum, file) => sum + (file.deletionVector?.cardinality ?? 0), 0),
    partitionsOptimized: partitions.size,
    filesConsidered: considered.length,
    filesSkipped: considered.length - inputs.length,
    bins: bins.length,
    clustering: cubes === undefined || operation !== 'OPTIMIZE' ? undefined : clusteringMetrics(considered, bins, cubes),
  };
}

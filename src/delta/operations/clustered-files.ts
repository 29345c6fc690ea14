import { AnalysisException } from '../../base/analysis-exception.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { IdSource } from '../../base/ids.ts';
import { bySize, fillBins, maxFilesPerQuery } from '../../rows/files/pack-files.ts';
import type { ClusterColumn } from '../../rows/order/z-order.ts';
import { typeAtPath } from '../../rows/values/column-sql.ts';
import type { ClusteringMetrics } from '../../table/row-operations.ts';
import type { AddFile } from '../actions.ts';
import { clusteringColumnsOf } from '../clustering.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { Bin, RewriteBin, RewrittenBin } from './optimize/rewrite-bins.ts';
import { totalBytes } from './optimize/rewrite-metrics.ts';

/** What files say that were clustered by the table's clustering columns, whichever engine did it. */
const provider = 'liquid';
const cubeTag = 'ZCUBE_ID';
const columnsTag = 'ZCUBE_ZORDER_BY';
/** A cube of this size is left alone: rewriting it again and again would cost more than it gives. As in Spark. */
const stableCubeBytes: number = 100 * 2 ** 30;
/** Files are clustered together up to this size. */
const maxCubeBytes: number = 150 * 2 ** 30;

/** The columns a table is clustered by, in order; none when it is not. */
export function clusteredBy(snapshot: DeltaSnapshot): readonly ClusterColumn[] {
  return clusteringColumnsOf(snapshot.schema, snapshot.domains()).flatMap((path): readonly ClusterColumn[] => {
    const type = typeAtPath(snapshot.schema, path);
    return type === undefined ? [] : [{ path, type }];
  });
}

/** The names as the history and the files' tags have them. */
export function clusterNames(columns: readonly ClusterColumn[]): readonly string[] {
  return columns.map((column) => column.path.join('.'));
}

/** How files stand to the clustering of their table. */
export interface ClusteredFiles {
  readonly columns: readonly ClusterColumn[];
  /** Files that were clustered by other columns are clustered anew; otherwise they are left as they are. */
  readonly full: boolean;
}

/**
 * Which files are clustered together: those that are in no cube, and cubes that are not large yet. Nothing when all of them are in one cube
 * already. Pure.
 */
export function planClustering(files: readonly AddFile[], how: ClusteredFiles): readonly Bin[] {
  const names = namesText(how.columns);
  const bytes = new Map<string, number>();
  for (const file of files) {
    const cube = cubeOf(file);
    if (cube?.columns === names) bytes.set(cube.id, (bytes.get(cube.id) ?? 0) + file.sizeBytes);
  }
  const candidates = files.filter((file) => {
    const cube = cubeOf(file);
    if (cube === undefined) return true;
    return cube.columns === names ? (bytes.get(cube.id) ?? 0) < stableCubeBytes : how.full;
  });
  const cubes = new Set(candidates.map((file) => cubeKey(file, names)));
  if (cubes.size === 1 && !cubes.has(undefined) && candidates.every((file) => file.deletionVector === undefined)) return [];
  const packable = candidates.map((file) => ({ path: file.storedPath, sizeBytes: file.sizeBytes, file })).sort(bySize);
  return fillBins(packable, { maxBytes: maxCubeBytes, maxFiles: maxFilesPerQuery }).map(({ files: bin }) => bin.map(({ file }) => file));
}

/** A rewriter whose outputs are marked as a cube for each bin. The rows must come in the columns' order. */
export function asCubes(rewrite: RewriteBin, columns: readonly ClusterColumn[], ids: IdSource): RewriteBin {
  return async (bin, number, signal) => {
    const tags = { [cubeTag]: ids.uuid(), [columnsTag]: namesText(columns) };
    const files = await rewrite(bin, number, signal);
    return files.map((file): AddFile => ({ ...file, tags: { ...file.tags, ...tags }, clusteringProvider: provider }));
  };
}

/** What the result row says of the clustering. */
export function clusteringMetrics(considered: readonly AddFile[], bins: readonly RewrittenBin[], how: ClusteredFiles): ClusteringMetrics {
  const names = namesText(how.columns);
  const isInCube = (file: AddFile): boolean => {
    const cube = cubeOf(file);
    return cube !== undefined && (how.full || cube.columns === names);
  };
  const inCubes = considered.filter(isInCube);
  const others = considered.filter((file) => !isInCube(file));
  const merged = bins.flatMap((bin) => bin.inputs);
  return {
    cubeFiles: counted(inCubes),
    otherFiles: counted(others),
    cubes: new Set(inCubes.map((file) => cubeOf(file)?.id)).size,
    mergedFiles: counted(merged),
    outputCubes: bins.length,
  };
}

/** @throws AnalysisException `DELTA_CLUSTERING_WITH_PARTITION_PREDICATE` (0A000). */
export function refusePredicate(predicate: string): never {
  throw new AnalysisException({
    errorClass: 'DELTA_CLUSTERING_WITH_PARTITION_PREDICATE',
    kind: 'unsupported',
    message: `OPTIMIZE command for Delta table with clustering doesn't support partition predicates. Please remove the predicates: ${predicate}.`,
    parameters: { predicates: predicate },
  });
}

/** @throws AnalysisException `DELTA_OPTIMIZE_FULL_NOT_SUPPORTED` (42601). */
export function refuseFull(): never {
  throw new AnalysisException({
    errorClass: 'DELTA_OPTIMIZE_FULL_NOT_SUPPORTED',
    kind: 'unsupported',
    message: 'OPTIMIZE FULL is only supported for clustered tables with non-empty clustering columns.',
    hint: 'leave FULL out, or cluster the table (ALTER TABLE … CLUSTER BY)',
  });
}

interface Cube {
  readonly id: string;
  readonly columns: string | undefined;
}

function cubeOf(file: AddFile): Cube | undefined {
  const id = file.tags?.[cubeTag];
  return file.clusteringProvider !== provider || id === undefined ? undefined : { id, columns: file.tags?.[columnsTag] };
}

/** The cube by the present columns; `undefined`: in none of those. */
function cubeKey(file: AddFile, names: string): string | undefined {
  const cube = cubeOf(file);
  return cube?.columns === names ? cube.id : undefined;
}

function namesText(columns: readonly ClusterColumn[]): string {
  return printJson(clusterNames(columns));
}

function counted(files: readonly AddFile[]): ClusteringMetrics['cubeFiles'] {
  return { numFiles: files.length, size: totalBytes(files) };
}

import { groupBy } from '../../../base/group-by.ts';
import { bySize, fillBins, maxFilesPerQuery } from '../../../rows/files/pack-files.ts';
import { type AddFile, physicalRows } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { partitionKeys } from './partition-key.ts';
import type { Bin } from './rewrite-bins.ts';

/** OPTIMIZE aims at files of this size. */
export const defaultTargetFileBytes: number = 1 << 30;
/** A file of which more than this share is deleted is rewritten whatever its size. */
const maxDeletedShare = 0.05;

export type OptimizeKind =
  /** Small files, and files with many deleted rows. */
  | 'pack'
  /** Files with deletion vectors, whatever their size. */
  | 'purge'
  /** All files: clustering is not incremental, a second run does it all again. */
  | 'cluster';

export interface OptimizePlanOptions {
  readonly kind: OptimizeKind;
  readonly targetFileBytes: number;
  /** Smaller files are packed. Default: all below the target. */
  readonly minFileBytes?: number | undefined;
}

/**
 * Which of the files are rewritten together: files of one partition (by typed value), packed smallest first up to the target size, or
 * the whole partition when rows are clustered. A single file is worth it only for its deleted rows or its place in a cluster. Pure.
 */
export function planOptimize(snapshot: DeltaSnapshot, files: readonly AddFile[], options: OptimizePlanOptions): readonly Bin[] {
  const keyOf = partitionKeys(snapshot);
  const candidates = files.filter((file) => isCandidate(file, options));
  const partitions = groupBy(candidates, (file) => keyOf(file.partitionValues));
  return [...partitions.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, partition]) => binsOf(partition, options));
}

function isCandidate(file: AddFile, options: OptimizePlanOptions): boolean {
  switch (options.kind) {
    case 'cluster':
      return true;
    case 'purge':
      return file.deletionVector !== undefined;
    case 'pack':
      return file.sizeBytes < (options.minFileBytes ?? options.targetFileBytes) || hasManyDeletedRows(file);
  }
}

function hasManyDeletedRows(file: AddFile): boolean {
  if (file.deletionVector === undefined) return false;
  const rows = physicalRows(file.stats);
  return rows === undefined || file.deletionVector.cardinality > maxDeletedShare * rows;
}

function binsOf(partition: readonly AddFile[], options: OptimizePlanOptions): readonly Bin[] {
  if (options.kind === 'cluster') return [partition];
  const packable = partition.map((file) => ({ path: file.storedPath, sizeBytes: file.sizeBytes, file })).sort(bySize);
  return fillBins(packable, { maxBytes: options.targetFileBytes, maxFiles: maxFilesPerQuery })
    .map(({ files }) => files.map(({ file }) => file))
    .filter((bin) => bin.length > 1 || bin[0]?.deletionVector !== undefined);
}

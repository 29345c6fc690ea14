import { comparePaths } from '../../../storage/path.ts';
import type { CompactionPlan, RewriteGroup } from '../../../table/operations.ts';
import { type AddFile, physicalRows } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { packBins } from './bin-packing.ts';
import { partitionKeys } from './partition-key.ts';

export interface CompactionPlanOptions {
  /** Outputs get about this size at most; larger files are left alone. */
  readonly targetFileBytes: number;
  /** Fewer files than this (and than 2) are not worth a rewrite. */
  readonly minInputFiles: number;
  /** Files with deletion vectors are rewritten too, without their deleted rows; only the query engine can do that. Default: left alone. */
  readonly deletionVectors?: boolean | undefined;
  /** Groups of one plan; the rest waits for the next one. */
  readonly maxGroups: number;
}

/**
 * Which files of the snapshot become one file each: files of one partition (by typed value), small ones first. Groups that replace most
 * files come first. Pure: the same snapshot gives the same plan.
 */
export function planCompaction(snapshot: DeltaSnapshot, options: CompactionPlanOptions): CompactionPlan {
  const keyOf = partitionKeys(snapshot);
  const partitions = new Map<string, AddFile[]>();
  for (const file of snapshot.files()) {
    if (!isSmall(file, { belowBytes: options.targetFileBytes, deletionVectors: options.deletionVectors ?? false })) continue;
    const key = keyOf(file.partitionValues);
    const files = partitions.get(key);
    if (files === undefined) partitions.set(key, [file]);
    else files.push(file);
  }
  const groups = [...partitions.values()]
    .flatMap((files) =>
      packBins(
        files.map((file) => ({ path: file.storedPath, sizeBytes: file.sizeBytes, rowCount: physicalRows(file.stats), file })),
        options,
      ),
    )
    .map((bin) => groupOf(bin.map(({ file }) => file)));
  groups.sort((a, b) => b.inputs.length - a.inputs.length || byFirstPath(a, b));
  return { baseVersion: snapshot.version, groups: groups.slice(0, options.maxGroups) };
}

/** Whether a file is small and one that compaction can rewrite. */
export function isSmall(file: AddFile, limits: { readonly belowBytes: number; readonly deletionVectors: boolean }): boolean {
  return file.sizeBytes < limits.belowBytes && (limits.deletionVectors || file.deletionVector === undefined);
}

function groupOf(files: readonly AddFile[]): RewriteGroup {
  return {
    partitionValues: files[0]?.partitionValues ?? {},
    inputs: files.map((file) => ({ path: file.storedPath, sizeBytes: file.sizeBytes, rowCount: physicalRows(file.stats) })),
  };
}

function byFirstPath(a: RewriteGroup, b: RewriteGroup): number {
  return comparePaths(a.inputs[0]?.path ?? '', b.inputs[0]?.path ?? '');
}

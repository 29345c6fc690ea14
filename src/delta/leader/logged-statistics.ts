import type { ColumnStatistics } from '../../schema/statistics.ts';
import { structLeaves } from '../../schema/type-tree.ts';
import type { StructType } from '../../schema/types.ts';
import { FileStatistics } from '../scan/file-statistics.ts';

/**
 * What the log says of the columns of a file, as bounds that no value lies outside of. Bounds of text that may be cut are left out: whoever cut them may
 * have left the upper one below the values.
 */
export function loggedStatistics(
  stats: string | undefined,
  schema: StructType,
  partitionColumns: readonly string[],
): readonly ColumnStatistics[] {
  const logged = new FileStatistics(stats);
  return structLeaves(schema).flatMap(({ path, type }): readonly ColumnStatistics[] => {
    if (partitionColumns.includes(path[0] ?? '')) return [];
    const { min, max, nullCount, mayBeCut } = logged.leaf(path, type);
    if (nullCount === undefined) return [];
    return [{ path, nullCount, ...(mayBeCut || min === undefined || max === undefined ? {} : { min, max }) }];
  });
}

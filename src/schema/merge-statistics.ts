import { assert } from '../base/assert.ts';
import type { BoundValue, ColumnStatistics } from './statistics.ts';

/** Statistics of some of a file's rows. */
export interface PartialStatistics {
  readonly rowCount: number;
  readonly columns: readonly ColumnStatistics[];
}

/**
 * Statistics of the rows of both parts together, exactly as if they had been computed at once. Columns are the same in both, in the same
 * order. A part whose values have no bounds (a NaN takes part, the type has no order) leaves the whole without bounds.
 */
export function mergeStatistics(left: PartialStatistics, right: PartialStatistics): PartialStatistics {
  if (left.rowCount === 0) return right;
  if (right.rowCount === 0) return left;
  assert(left.columns.length === right.columns.length, 'statistics of different columns cannot be merged');
  return {
    rowCount: left.rowCount + right.rowCount,
    columns: left.columns.map((column, index) => mergeColumn(column, left.rowCount, right.columns[index] ?? column, right.rowCount)),
  };
}

function mergeColumn(left: ColumnStatistics, leftRows: number, right: ColumnStatistics, rightRows: number): ColumnStatistics {
  const nullCount = left.nullCount + right.nullCount;
  const counts = {
    path: left.path,
    nullCount,
    ...(left.nanCount === undefined && right.nanCount === undefined ? {} : { nanCount: (left.nanCount ?? 0) + (right.nanCount ?? 0) }),
  };
  if (left.nullCount === leftRows) return { ...right, ...counts };
  if (right.nullCount === rightRows) return { ...left, ...counts };
  if (left.min === undefined || left.max === undefined || right.min === undefined || right.max === undefined) return counts;
  return {
    ...counts,
    min: compareBounds(right.min, left.min) < 0 ? right.min : left.min,
    max: compareBounds(right.max, left.max) > 0 ? right.max : left.max,
  };
}

/** Text by its UTF-8 bytes, numbers by value; both bounds are of one column and so of one type. */
function compareBounds(a: BoundValue, b: BoundValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

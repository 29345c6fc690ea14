import type { ColumnFacts } from '../../expr/pruning/file-facts.ts';
import type { DataType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { boundOf } from './bound-value.ts';

/** Writers cut the bounds of text to so many code points; the upper one is then a little more than the values, but not with all writers. */
const cutUnits = 16;

/** What a file's metrics say of a column, by its field id. Counts that are absent are not known: the column may not be in the file at all. */
export function factsOfMetrics(file: ContentFile, column: { readonly id: number; readonly type: DataType }): ColumnFacts | undefined {
  const { id, type } = column;
  const nullCount = file.nullValueCounts?.get(id);
  const nanCount = file.nanValueCounts?.get(id);
  const lower = file.lowerBounds?.get(id);
  const upper = file.upperBounds?.get(id);
  if (nullCount === undefined && nanCount === undefined && lower === undefined && upper === undefined) return undefined;
  if (nanCount !== undefined && nullCount !== undefined && nanCount > 0 && nanCount + nullCount >= file.recordCount) {
    return { min: Number.NaN, max: Number.NaN, nullCount };
  }
  return {
    min: lower === undefined ? undefined : boundOf(type, lower),
    max: upper === undefined ? undefined : boundOf(type, upper),
    nullCount,
    mayBeTruncated: (lower?.length ?? 0) >= cutUnits || (upper?.length ?? 0) >= cutUnits,
    mayHoldNaN: nanCount !== 0,
  };
}

/** Both facts of one column together: the metrics are the finer ones where they say something. */
export function combined(partition: ColumnFacts | undefined, metrics: ColumnFacts | undefined): ColumnFacts | undefined {
  if (partition === undefined || metrics === undefined) return partition ?? metrics;
  return {
    min: metrics.min ?? partition.min,
    max: metrics.max ?? partition.max,
    nullCount: partition.nullCount ?? metrics.nullCount,
    allNull: partition.allNull === true || metrics.allNull === true,
    mayBeTruncated: partition.mayBeTruncated === true || metrics.mayBeTruncated === true,
    mayHoldNaN: partition.mayHoldNaN !== false && metrics.mayHoldNaN !== false,
  };
}

import type { ColumnDetails, StoredBound } from '../../engine/engine.ts';
import type { DataType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { columnsById, type SchemaColumn } from '../metadata/schema-fields.ts';
import { encodeSingleValue } from '../metadata/single-value.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import { cutLowerBound, cutUpperBound } from './cut-bounds.ts';
import type { MetricsMode } from './metrics-modes.ts';

/** The metrics of a file as its manifest entry has them. */
export type FileMetrics = Pick<
  ContentFile,
  'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'
>;

/** What is known of a leaf column of a file. */
export type LeafMetrics = Pick<ColumnDetails, 'id' | 'nullCount' | 'nanCount' | 'min' | 'max'> & {
  /** `undefined`: the format does not say. */
  readonly storedBytes: number | undefined;
};

/** Metrics of the leaves, as far as the modes want them; leaves without an id in the schema are left out. */
export function fileMetrics(
  schema: IcebergSchema,
  modes: ReadonlyMap<number, MetricsMode>,
  file: { readonly rowCount: number; readonly leaves: readonly LeafMetrics[] },
): FileMetrics {
  const columns = columnsById(schema);
  const sizes = new Map<number, number>();
  const values = new Map<number, number>();
  const nulls = new Map<number, number>();
  const nans = new Map<number, number>();
  const lower = new Map<number, Uint8Array>();
  const upper = new Map<number, Uint8Array>();
  for (const leaf of file.leaves) {
    const { id, storedBytes, nullCount, nanCount } = leaf;
    const column = id === undefined ? undefined : columns.get(id);
    if (id === undefined || column === undefined) continue;
    if (storedBytes !== undefined) sizes.set(id, storedBytes);
    const mode = modes.get(id) ?? { kind: 'none' };
    if (mode.kind === 'none' || column.repeated || nullCount === undefined) continue;
    values.set(id, file.rowCount);
    nulls.set(id, nullCount);
    if (nanCount !== undefined) nans.set(id, nanCount);
    if (mode.kind === 'counts') continue;
    addBounds(column, leaf, mode, { lower, upper });
  }
  return {
    columnSizes: sizes.size === 0 ? undefined : sizes,
    valueCounts: values,
    nullValueCounts: nulls,
    nanValueCounts: nans,
    lowerBounds: lower,
    upperBounds: upper,
  };
}

interface Bounds {
  readonly lower: Map<number, Uint8Array>;
  readonly upper: Map<number, Uint8Array>;
}

function addBounds({ id, type }: SchemaColumn, leaf: LeafMetrics, mode: MetricsMode, bounds: Bounds): void {
  if (leaf.min === undefined || leaf.max === undefined) return;
  const length = mode.kind === 'truncate' && isCut(type) ? mode.length : undefined;
  const lower = boundValue(type, leaf.min, -0);
  const upper = boundValue(type, leaf.max, 0);
  const low = length !== undefined && isLong(lower) ? cutLowerBound(lower, length) : lower;
  const high = length !== undefined && isLong(upper) ? cutUpperBound(upper, length) : upper;
  const lowBytes = encodeSingleValue(type, low);
  const highBytes = high === undefined ? undefined : encodeSingleValue(type, high);
  if (lowBytes !== undefined) bounds.lower.set(id, lowBytes);
  if (highBytes !== undefined) bounds.upper.set(id, highBytes);
}

/** UUIDs and values of a fixed length are kept whole, as are numbers. */
function isCut(type: DataType): boolean {
  return (type.kind === 'string' && type.format === undefined) || (type.kind === 'binary' && type.fixedLength === undefined);
}

function isLong(value: StoredBound): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

/** Which zero a bound was is not certain: it becomes the outer one. */
function boundValue(type: DataType, bound: StoredBound, zero: number): StoredBound {
  return (type.kind === 'float' || type.kind === 'double') && bound === 0 ? zero : bound;
}

import { assert } from '../base/assert.ts';
import { andBits, countOnes } from '../schema/bitmap.ts';
import type { BytesColumn, Column, ColumnBatch, FixedColumn } from '../schema/columns.ts';
import type { BoundValue, ColumnStatistics } from '../schema/statistics.ts';
import type { Field } from '../schema/types.ts';
import { compareAt, exactBounds } from './exact-bounds.ts';
import { textAt, unscaledAt } from './rows.ts';

export interface StatisticsOptions {
  /** Leaf columns, in schema order, that get min and max; -1 = all. Every leaf gets its null count. */
  readonly indexedColumns: number;
  /** Gives `exact` bounds too. */
  readonly exact?: boolean | undefined;
}

/** Statistics of every leaf column of a batch, in schema order. */
export function columnStatistics(batch: ColumnBatch, options: StatisticsOptions): ColumnStatistics[] {
  return leavesOf(batch).map((leaf, index) => {
    const nullCount = leaf.validity === undefined ? 0 : leaf.column.length - countOnes(leaf.validity, leaf.column.length);
    const bounded = options.indexedColumns < 0 || index < options.indexedColumns;
    if (!bounded || nullCount === leaf.column.length) return { path: leaf.path, nullCount };
    const bounds = boundsOf(leaf.column, leaf.validity);
    const exact = options.exact === true && bounds?.min === undefined ? exactBounds(leaf.column, leaf.validity) : undefined;
    return { path: leaf.path, nullCount, ...bounds, ...(exact === undefined ? {} : { exact }) };
  });
}

interface Leaf {
  readonly path: readonly string[];
  readonly column: Column;
  /** Where the value and every enclosing struct are valid. */
  readonly validity: Uint8Array | undefined;
}

function leavesOf(batch: ColumnBatch): Leaf[] {
  return batch.schema.fields.flatMap((field, index) => leavesUnder(field, batch.columns[index], [], undefined));
}

function leavesUnder(field: Field, column: Column | undefined, parent: readonly string[], outer: Uint8Array | undefined): Leaf[] {
  assert(column !== undefined, `column "${field.name}" is missing`);
  const path = [...parent, field.name];
  const validity = andBits(outer, column.validity, column.length);
  if (column.layout !== 'struct' || field.type.kind !== 'struct') return [{ path, column, validity }];
  return field.type.fields.flatMap((child, index) => leavesUnder(child, column.children[index], path, validity));
}

interface Bounds {
  readonly min?: BoundValue | undefined;
  readonly max?: BoundValue | undefined;
  readonly nanCount?: number | undefined;
}

// At least one value is valid here.
function boundsOf(column: Column, validity: Uint8Array | undefined): Bounds | undefined {
  switch (column.layout) {
    case 'fixed':
      return fixedBounds(column, validity);
    case 'decimal': {
      const [low, high] = wordBounds(column.words, column.length, validity);
      return { min: unscaledAt(column.words, low), max: unscaledAt(column.words, high) };
    }
    case 'bytes':
      return column.type.kind === 'string' ? textBounds(column, validity) : undefined;
    default:
      return undefined;
  }
}

function fixedBounds(column: FixedColumn, validity: Uint8Array | undefined): Bounds {
  const { values, length } = column;
  if (values instanceof BigInt64Array) {
    const [low, high] = longBounds(values, length, validity);
    return { min: values[low], max: values[high] };
  }
  if (values instanceof Float64Array || values instanceof Float32Array) return floatBounds(values, length, validity);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < length; index++) {
    if (isNullAt(validity, index)) continue;
    const value = values[index] ?? 0;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min: BigInt(min), max: BigInt(max) };
}

function isNullAt(validity: Uint8Array | undefined, index: number): boolean {
  return validity !== undefined && ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}

// Longs are compared as 32-bit halves, and only positions are kept: no bigint is made for a value that is not a bound.
function longBounds(values: BigInt64Array, length: number, validity: Uint8Array | undefined): readonly [number, number] {
  const highs = new Int32Array(values.buffer, values.byteOffset, 2 * length);
  const lows = new Uint32Array(values.buffer, values.byteOffset, 2 * length);
  let [min, max] = [-1, -1];
  let [minHigh, minLow, maxHigh, maxLow] = [0, 0, 0, 0];
  for (let index = 0; index < length; index++) {
    if (isNullAt(validity, index)) continue;
    const high = highs[2 * index + 1] ?? 0;
    const low = lows[2 * index] ?? 0;
    if (min < 0 || high < minHigh || (high === minHigh && low < minLow)) [min, minHigh, minLow] = [index, high, low];
    if (max < 0 || high > maxHigh || (high === maxHigh && low > maxLow)) [max, maxHigh, maxLow] = [index, high, low];
  }
  return [min, max];
}

function wordBounds(words: BigInt64Array, length: number, validity: Uint8Array | undefined): readonly [number, number] {
  const signed = new Int32Array(words.buffer, words.byteOffset, 4 * length);
  const parts = new Uint32Array(words.buffer, words.byteOffset, 4 * length);
  const compare = (left: number, right: number): number => {
    const top = (signed[4 * left + 3] ?? 0) - (signed[4 * right + 3] ?? 0);
    if (top !== 0) return top;
    for (let part = 2; part >= 0; part--) {
      const difference = (parts[4 * left + part] ?? 0) - (parts[4 * right + part] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  let [min, max] = [-1, -1];
  for (let index = 0; index < length; index++) {
    if (isNullAt(validity, index)) continue;
    if (min < 0 || compare(index, min) < 0) min = index;
    if (max < 0 || compare(index, max) > 0) max = index;
  }
  return [min, max];
}

function floatBounds(values: Float64Array | Float32Array, length: number, validity: Uint8Array | undefined): Bounds {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let nanCount = 0;
  for (let index = 0; index < length; index++) {
    if (isNullAt(validity, index)) continue;
    const value = values[index] ?? 0;
    if (value < min) min = value;
    if (value > max) max = value;
    if (Number.isNaN(value)) nanCount++;
  }
  if (nanCount > 0) return { nanCount };
  // -0 and 0 compare equal, yet -0 is the smaller one where a format orders them.
  if (min === 0) min = holdsZero(values, length, validity, -0) ? -0 : 0;
  if (max === 0) max = holdsZero(values, length, validity, 0) ? 0 : -0;
  return { min, max, nanCount };
}

function holdsZero(values: Float64Array | Float32Array, length: number, validity: Uint8Array | undefined, zero: number): boolean {
  for (let index = 0; index < length; index++) if (Object.is(values[index], zero) && !isNullAt(validity, index)) return true;
  return false;
}

// UTF-8 byte order. The first four bytes, as a number, settle nearly every comparison with the bounds so far.
function textBounds(column: BytesColumn, validity: Uint8Array | undefined): Bounds {
  const { offsets, data, length } = column;
  let [min, max] = [-1, -1];
  let [minKey, maxKey] = [0, 0];
  for (let index = 0; index < length; index++) {
    if (isNullAt(validity, index)) continue;
    const from = offsets[index] ?? 0;
    const key = prefixKey(data, from, offsets[index + 1] ?? 0);
    if (min >= 0 && key > minKey && key < maxKey) continue;
    if (min < 0 || key < minKey || (key === minKey && compareAt(column, index, min) < 0)) [min, minKey] = [index, key];
    if (max < 0 || key > maxKey || (key === maxKey && compareAt(column, index, max) > 0)) [max, maxKey] = [index, key];
  }
  return { min: textAt(column, min), max: textAt(column, max) };
}

function prefixKey(data: Uint8Array, from: number, until: number): number {
  let key = 0;
  for (let at = from; at < from + 4; at++) key = key * 256 + (at < until ? (data[at] ?? 0) : 0);
  return key;
}

import { compareBytes } from '../../byte-order.ts';

/** What is known of the values of a column within a group of rows, a stripe or the file. */
export interface ColumnStatistics {
  /** Values that are not null. */
  readonly count: number;
  readonly hasNull: boolean;
  /** `undefined` for nested columns. */
  readonly values: ValueStatistics | undefined;
}

/** Bounds are `undefined` without a value that has an order (no value at all, or only NaN). */
export type ValueStatistics =
  | { readonly kind: 'integer'; readonly bounds: Bounds<bigint> | undefined }
  | { readonly kind: 'date'; readonly bounds: Bounds<bigint> | undefined }
  /** Nanoseconds since 1970, of UTC or of the local clock. */
  | { readonly kind: 'timestamp'; readonly bounds: Bounds<bigint> | undefined }
  | { readonly kind: 'decimal'; readonly scale: number; readonly bounds: Bounds<bigint> | undefined }
  /** The sum is NaN when a value is: readers distrust the bounds then. */
  | { readonly kind: 'floating'; readonly bounds: Bounds<number> | undefined; readonly sum: number }
  | { readonly kind: 'text'; readonly bounds: Bounds<Uint8Array> | undefined; readonly totalBytes: number }
  | { readonly kind: 'binary'; readonly totalBytes: number }
  | { readonly kind: 'boolean'; readonly trues: number };

export interface Bounds<T> {
  readonly lower: T;
  readonly upper: T;
}

/** The statistics of two neighbours together. */
export function mergeStatistics(left: ColumnStatistics, right: ColumnStatistics): ColumnStatistics {
  return {
    count: left.count + right.count,
    hasNull: left.hasNull || right.hasNull,
    values: left.values === undefined || right.values === undefined ? undefined : mergeValues(left.values, right.values),
  };
}

function mergeValues(left: ValueStatistics, right: ValueStatistics): ValueStatistics {
  switch (left.kind) {
    case 'integer':
    case 'date':
    case 'timestamp':
    case 'decimal':
      return right.kind === left.kind ? { ...left, bounds: mergeBounds(left.bounds, right.bounds, (a, b) => a < b) } : left;
    case 'floating':
      if (right.kind !== left.kind) return left;
      return { ...left, bounds: mergeBounds(left.bounds, right.bounds, (a, b) => a < b), sum: left.sum + right.sum };
    case 'text':
      if (right.kind !== left.kind) return left;
      return { ...left, bounds: mergeBounds(left.bounds, right.bounds, isBefore), totalBytes: left.totalBytes + right.totalBytes };
    case 'binary':
      return right.kind === left.kind ? { ...left, totalBytes: left.totalBytes + right.totalBytes } : left;
    case 'boolean':
      return right.kind === left.kind ? { ...left, trues: left.trues + right.trues } : left;
  }
}

function mergeBounds<T>(left: Bounds<T> | undefined, right: Bounds<T> | undefined, before: (a: T, b: T) => boolean): Bounds<T> | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    lower: before(right.lower, left.lower) ? right.lower : left.lower,
    upper: before(left.upper, right.upper) ? right.upper : left.upper,
  };
}

function isBefore(left: Uint8Array, right: Uint8Array): boolean {
  return compareBytes(left, { from: 0, until: left.length }, right, { from: 0, until: right.length }) < 0;
}

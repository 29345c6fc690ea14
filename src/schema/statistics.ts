/** A bound as a neutral value: integers, dates (days) and timestamps (micros) as bigint, decimals unscaled. */
export type BoundValue = bigint | number | string;

/** Statistics of one leaf column of one file, computed from the rows (never from a footer). */
export interface ColumnStatistics {
  /** Field names from the root; only struct members are entered, lists and maps are leaves. */
  readonly path: readonly string[];
  /** Rows without a value, also for lack of an enclosing struct. */
  readonly nullCount: number;
  /** Exact smallest and largest non-null value; absent when there is none, when a NaN takes part, or for types without order (binary, boolean, list, map). */
  readonly min?: BoundValue | undefined;
  readonly max?: BoundValue | undefined;
  readonly nanCount?: number | undefined;
  /** Where exact statistics were asked for, of what has no `min` and `max`: booleans, bytes, and numbers beside which there are NaN. */
  readonly exact?: ExactBounds | undefined;
}

export interface ExactBounds {
  readonly min: boolean | number | Uint8Array;
  readonly max: boolean | number | Uint8Array;
}

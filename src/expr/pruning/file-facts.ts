import type { BoundValue } from '../../schema/statistics.ts';

/** What is known of one column's values in one file. All bounds hold for every row that counts; they may also cover rows that do not. */
export interface ColumnFacts {
  /** No value but null and NaN is smaller or greater. Of the column's type: integers, days, microseconds, unscaled decimals, numbers, texts, truth values. */
  readonly min?: BoundValue | boolean | undefined;
  readonly max?: BoundValue | boolean | undefined;
  /** Rows without a value, out of `FileFacts.rowCount`. */
  readonly nullCount?: number | undefined;
  /** True: no row has a value, whatever the counts say. */
  readonly allNull?: boolean | undefined;
  /** A text bound may be a prefix of the real one, at either end. */
  readonly mayBeTruncated?: boolean | undefined;
  /** Whether NaN may be among the values though the bounds do not show it. Default true for FLOAT and DOUBLE: writers differ. */
  readonly mayHoldNaN?: boolean | undefined;
}

/** What is known of a file without opening it. */
export interface FileFacts {
  /** Rows the counts refer to. */
  readonly rowCount?: number | undefined;
  /** Facts of a column by its path in the schema's spelling; `undefined` when nothing is known. */
  column(path: readonly string[]): ColumnFacts | undefined;
}

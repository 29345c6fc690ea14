import type { Column } from '../../schema/columns.ts';

/** Grows one column value by value, in Arrow's layout. What its values are read from is not its concern: each builder has its own `append`s. */
export interface ColumnBuilder {
  /** Values appended so far. */
  readonly length: number;
  appendNull(): void;
  /** Forgets everything after the first `length` values, partial values included. */
  truncate(length: number): void;
  /** Hands the values out and starts from zero. */
  finish(): Column;
}

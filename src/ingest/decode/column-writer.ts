import type { Column } from '../../schema/columns.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Grows one column value by value. */
export interface ColumnWriter {
  /** Values appended so far. */
  readonly length: number;
  /**
   * Takes the JSON value at the cursor, which is not `null`, and leaves the cursor after it. False: the value does not fit, the cursor
   * holds the failure, and the column may hold a part of the value until it is truncated.
   */
  read(cursor: JsonCursor): boolean;
  appendNull(): void;
  /** Forgets everything after the first `length` values, partial values included. */
  truncate(length: number): void;
  /** Hands the values out and starts from zero. */
  finish(): Column;
}

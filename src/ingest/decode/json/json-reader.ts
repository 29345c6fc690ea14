import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Reads the values of one column out of JSON texts. */
export interface JsonReader {
  /** Takes the values. */
  readonly column: ColumnBuilder;
  /**
   * Takes the JSON value at the cursor, which is not `null`, and leaves the cursor after it. False: the value does not fit, the cursor
   * holds the failure, and the column may hold a part of the value until it is truncated.
   */
  read(cursor: JsonCursor): boolean;
}

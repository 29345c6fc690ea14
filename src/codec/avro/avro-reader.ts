import type { ColumnBuilder } from '../columns/column-builder.ts';
import type { ByteCursor } from './byte-cursor.ts';

/** Reads the values of one column out of Avro's binary encoding. */
export interface AvroReader {
  /** Takes the values. */
  readonly column: ColumnBuilder;
  /** Appends the value at the cursor. What it throws leaves a part of the value in the column until that is truncated. */
  read(cursor: ByteCursor): void;
}

/** A value whose stored type is null. */
export class NullReader implements AvroReader {
  readonly column: ColumnBuilder;

  constructor(column: ColumnBuilder) {
    this.column = column;
  }

  read(cursor: ByteCursor): void {
    cursor.free();
    this.column.appendNull();
  }
}

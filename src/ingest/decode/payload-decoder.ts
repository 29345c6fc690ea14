import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import type { DataType } from '../../schema/types.ts';
import type { JsonCursor } from './json/json-cursor.ts';
import type { Refusal } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

/** A member of a payload and the column that takes it. */
export interface PayloadMember {
  readonly name: string;
  /** What messages call it: the column's name. */
  readonly label: string;
  readonly nullable: boolean;
  readonly type: DataType;
  readonly column: ColumnBuilder;
  /** Told when the payload does not have the member, and the column gets null for it. */
  readonly onAbsent?: (() => void) | undefined;
}

/** How many members of payloads no column took, of the row's own and not of those inside of them. */
export interface UnreadMembers {
  count: number;
  /** Told of each such member of JSON, its name in the cursor's text and the cursor before its value. */
  readonly notice?: ((cursor: JsonCursor) => void) | undefined;
}

/** Turns one part of records (the value, or the key) in one encoding into the columns that take its members. */
export interface PayloadDecoder {
  /**
   * Appends `[start, end)` of the record's bytes as one value of every column. Otherwise says why not; then the columns may be of unequal length
   * and hold a part of a value until they are truncated.
   */
  decode(record: SourceRecord, start: number, end: number): Refusal | undefined;
}

import { present } from '../base/assert.ts';
import { serviceError } from '../base/errors.ts';
import type { Column } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import { memberOf, type ValueEncoding } from './encoding/column-writers.ts';
import { type EventField, rowFields } from './encoding/event-type.ts';
import type { ImageWriter, Member } from './encoding/notation.ts';
import { RecordBuffer } from './encoding/record-buffer.ts';
import type { ValueWriter } from './encoding/scalars.ts';
import type { PieceRows, RowsBatch } from './piece-rows.ts';

/** How rows and their keys are told. */
export interface RowEncoding {
  readonly value: ValueEncoding;
  readonly key: ValueEncoding;
  readonly keyColumns: readonly string[];
}

interface BatchWriters {
  readonly firstRow: number;
  readonly untilRow: number;
  readonly members: ValueWriter;
  readonly image: ImageWriter;
  readonly key: ValueWriter;
}

/** Appends rows of one file, and their keys, in an encoding. */
export class RowWriters {
  readonly #batches: readonly BatchWriters[];
  readonly #keyEnd: Uint8Array;
  #current: BatchWriters | undefined;

  /** @throws ServiceError `CDF_KEY_COLUMN_UNKNOWN` (kind invalid). */
  constructor({ schema, batches }: PieceRows, { value, key, keyColumns }: RowEncoding) {
    const fields = rowFields(schema, value.forms);
    const positions = keyPositions(schema, keyColumns);
    const keyFields = rowFields(schema, key.forms);
    this.#keyEnd = key.notation.end;
    this.#batches = batches.map((batch) => {
      const members = value.notation.members(fields.map((field, position) => rowMember(field, batch, position, value)));
      const keyMembers = positions.flatMap((position) => {
        const field = keyFields[position];
        return field === undefined ? [] : [rowMember(field, batch, position, key)];
      });
      const { firstRow, untilRow } = batch;
      return { firstRow, untilRow, members, image: value.notation.image(members), key: key.notation.members(keyMembers) };
    });
  }

  /** The members of a row, without what ends it. */
  members(out: RecordBuffer, row: number): void {
    const batch = this.#batchOf(row);
    batch.members(out, row - batch.firstRow);
  }

  /** The row as a member of an event; -1: none. `tag`: what stands before one that is there. */
  image(out: RecordBuffer, row: number, tag: Uint8Array): void {
    const batch = row < 0 ? (this.#current ?? this.#batches[0]) : this.#batchOf(row);
    batch?.image(out, row < 0 ? -1 : row - batch.firstRow, tag);
  }

  /** The struct of the key columns. */
  key(out: RecordBuffer, row: number): void {
    const batch = this.#batchOf(row);
    batch.key(out, row - batch.firstRow);
    out.chunk(this.#keyEnd);
  }

  #batchOf(row: number): BatchWriters {
    const current = this.#current;
    return current !== undefined && row >= current.firstRow && row < current.untilRow ? current : this.#moveTo(row);
  }

  // Apart from the usual way, on which a closure would be made for every row.
  #moveTo(row: number): BatchWriters {
    const found = this.#batches.find((batch) => row >= batch.firstRow && row < batch.untilRow);
    this.#current = present(found, `row ${row} lies in one of the batches`);
    return this.#current;
  }
}

function rowMember(field: EventField, batch: RowsBatch, position: number, encoding: ValueEncoding): Member {
  const { column, constant } = present(batch.columns[position], `column "${field.name}" was read`);
  return constant ? constantMember(field, column, encoding) : memberOf(field, column, encoding);
}

/** Of the one value that all rows have: written once. */
function constantMember(field: EventField, column: Column, encoding: ValueEncoding): Member {
  const member = memberOf(field, column, encoding);
  // No row of an empty bitmap is valid.
  if (column.nullCount > 0) return { ...member, validity: new Uint8Array(0) };
  const text = new RecordBuffer();
  member.write(text, 0);
  const bytes = text.copy();
  return {
    ...member,
    validity: undefined,
    write: (out) => {
      out.chunk(bytes);
    },
  };
}

/** Where the key columns are in the table's schema. @throws ServiceError `CDF_KEY_COLUMN_UNKNOWN` (kind invalid). */
export function keyPositions({ fields }: StructType, keyColumns: readonly string[]): readonly number[] {
  const names = fields.map((field) => field.name);
  return keyColumns.map((name) => keyPosition(names, name));
}

function keyPosition(names: readonly string[], name: string): number {
  const position = names.indexOf(name);
  if (position >= 0) return position;
  throw serviceError.invalid('CDF_KEY_COLUMN_UNKNOWN', `key column "${name}" is none of the table's columns ${names.join(', ')}`, {
    hint: "correct the feed's keyColumns",
  });
}

import type { Column } from '../../schema/columns.ts';
import type { Field } from '../../schema/types.ts';
import type { ColumnWriter } from './column-writer.ts';
import { QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { MetadataColumn } from './metadata-columns.ts';

const emptyTextBytes = 2;
const detail = 'is not allowed in a required partition column: a table cannot tell the empty string from no value there';

/**
 * Whether the empty string must be refused in the column: tables store partition values as text in which the empty string means null
 * (Delta protocol: Partition Value Serialization), and this column has no null.
 */
export function refusesEmptyText(field: Field, partitionColumns: readonly string[]): boolean {
  return field.type.kind === 'string' && !field.nullable && partitionColumns.includes(field.name);
}

/** Takes what `inner` takes, but not the empty string. */
export class FilledTextWriter implements ColumnWriter {
  readonly #inner: ColumnWriter;

  constructor(inner: ColumnWriter) {
    this.#inner = inner;
  }

  get length(): number {
    return this.#inner.length;
  }

  read(cursor: JsonCursor): boolean {
    const first = cursor.peek();
    const from = cursor.pos;
    if (!this.#inner.read(cursor)) return false;
    if (first !== QUOTE || cursor.pos - from !== emptyTextBytes) return true;
    return cursor.fail('missing-required', detail, from, cursor.pos);
  }

  appendNull(): void {
    this.#inner.appendNull();
  }

  truncate(length: number): void {
    this.#inner.truncate(length);
  }

  finish(): Column {
    return this.#inner.finish();
  }
}

/** A key column that takes no empty key. */
export function filledKeyColumn(inner: MetadataColumn, field: Field): MetadataColumn {
  return {
    writer: inner.writer,
    append(record, origin) {
      if (record.keyStart >= 0 && record.keyStart === record.keyEnd) {
        return { reason: 'missing-required', message: `column "${field.name}": an empty key ${detail}` };
      }
      return inner.append(record, origin);
    },
  };
}

import { assertNever } from '../../base/assert.ts';
import { formatDecimal } from '../../codec/decimal-text.ts';
import { bytesAt, textAt, unscaledAt } from '../../codec/rows.ts';
import { type Column, type ColumnBatch, type FixedColumn, isValid } from '../../schema/columns.ts';
import { dateTimeParts, formatDate } from '../../schema/date-text.ts';
import type { Field } from '../../schema/types.ts';
import type { Row, RowValue } from './row.ts';
import { setMember } from './set-member.ts';

/** The rows of a batch, in order. */
export function rowsOfBatch(batch: ColumnBatch): Row[] {
  return Array.from({ length: batch.rowCount }, (_, index) => structValue(batch.schema.fields, batch.columns, index));
}

/** Value `index` of a column; `null` where it is not valid. */
export function rowValueAt(column: Column, index: number): RowValue {
  if (!isValid(column, index)) return null;
  switch (column.layout) {
    case 'fixed':
      return fixedValue(column, index);
    case 'boolean':
      return ((column.bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    case 'decimal':
      return formatDecimal(unscaledAt(column.words, index), column.type.kind === 'decimal' ? column.type.scale : 0);
    case 'bytes':
      return column.type.kind === 'string' ? textAt(column, index) : bytesAt(column, index).slice();
    case 'struct':
      return structValue(column.type.kind === 'struct' ? column.type.fields : [], column.children, index);
    case 'list':
      return range(column.offsets, index).map((at) => rowValueAt(column.element, at));
    case 'map':
      return new Map(range(column.offsets, index).map((at) => [rowValueAt(column.keys, at), rowValueAt(column.values, at)]));
    default:
      return assertNever(column);
  }
}

function fixedValue(column: FixedColumn, index: number): RowValue {
  const value = column.values[index] ?? 0;
  switch (column.type.kind) {
    case 'date':
      return formatDate(Number(value));
    case 'timestamp':
      return `${dateTimeText(BigInt(value))}Z`;
    case 'timestamp_ntz':
      return dateTimeText(BigInt(value));
    default:
      return value;
  }
}

function dateTimeText(micros: bigint): string {
  const { date, time, fraction } = dateTimeParts(micros);
  return `${date}T${time}.${fraction}`;
}

function structValue(fields: readonly Field[], children: readonly Column[], index: number): Row {
  const row: Record<string, RowValue> = {};
  for (const [position, field] of fields.entries()) {
    const child = children[position];
    setMember(row, field.name, child === undefined ? null : rowValueAt(child, index));
  }
  return row;
}

function range(offsets: Int32Array, index: number): number[] {
  const from = offsets[index] ?? 0;
  return Array.from({ length: (offsets[index + 1] ?? from) - from }, (_, at) => from + at);
}

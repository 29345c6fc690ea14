import { rowAt } from '../../codec/rows.ts';
import type { ColumnBatch, FixedColumn } from '../../schema/columns.ts';
import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../../schema/date-text.ts';
import type { Row, RowValue } from './row.ts';

/** The rows of a batch, in order. */
export function rowsOfBatch(batch: ColumnBatch): Row[] {
  return Array.from({ length: batch.rowCount }, (_, index) => rowAt(batch, index, fixedValue));
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
    case 'time':
      return formatTime(BigInt(value));
    case 'timestamp_ns':
      return `${nanosText(BigInt(value))}Z`;
    case 'timestamp_ntz_ns':
      return nanosText(BigInt(value));
    default:
      return value;
  }
}

function dateTimeText(micros: bigint): string {
  const { date, time, fraction } = dateTimeParts(micros);
  return `${date}T${time}.${fraction}`;
}

function nanosText(nanos: bigint): string {
  const { date, time, fraction } = dateTimeNanosParts(nanos);
  return `${date}T${time}.${fraction}`;
}

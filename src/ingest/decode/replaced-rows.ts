import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { ListBuilder } from '../../codec/columns/nested-builders.ts';
import type { OnTruncate } from '../../protocol/sealed-batch.ts';
import type { DataType } from '../../schema/types.ts';
import type { Refusal, Rejection } from './rejection.ts';

/** What Debezium writes for a large value that did not change (`unavailable.value.placeholder`). */
const unavailable: Uint8Array = new TextEncoder().encode('__debezium_unavailable_value');

/** A column whose value an event may lack, where rows are replaced by key. */
export interface ReplacedColumn {
  readonly name: string;
  readonly column: ColumnBuilder;
  /** Says that the row leaves the column as it is. Absent: it must have a value. */
  readonly leave?: (() => void) | undefined;
}

/** Of columns that have just got value `row`: where the event does not have it, the row leaves the column as it is, or is rejected. */
export function leaveUnavailable(columns: readonly ReplacedColumn[], row: number): Rejection | undefined {
  for (const { name, column, leave } of columns) {
    if (!isUnavailable(column)) continue;
    if (leave === undefined) return lacking(name);
    column.truncate(row);
    column.appendNull();
    leave();
  }
  return undefined;
}

/** The placeholder, or a list of it alone, as arrays have it. */
function isUnavailable(column: ColumnBuilder): boolean {
  if (column instanceof BytesBuilder) return column.lastIs(unavailable);
  return column instanceof ListBuilder && column.lastCount === 1 && isUnavailable(column.element);
}

/** Whether the placeholder may be among the values of a type. */
export function mayBeUnavailable(type: DataType): boolean {
  const { kind } = type.kind === 'list' ? type.element : type;
  return kind === 'string' || kind === 'binary';
}

function lacking(name: string): Rejection {
  return {
    reason: 'missing-required',
    message: `column "${name}": the event does not have the value, which did not change, and the column must have one`,
  };
}

/** Of what is no row, as a table takes it whose rows are replaced by key. */
export function truncationAs(refusal: Refusal, onTruncate: OnTruncate): Refusal {
  if (refusal.noRow !== 'truncate' || onTruncate !== 'reject') return refusal;
  return { reason: 'not-an-event', message: 'the event truncates its table, whose rows stay here (tables[].onTruncate)' };
}

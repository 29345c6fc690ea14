import type { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { Refusal, Rejection } from './rejection.ts';

/** What Debezium writes for a large value that did not change (`unavailable.value.placeholder`). */
const unavailable: Uint8Array = new TextEncoder().encode('__debezium_unavailable_value');

/** Of a column that has just got a value, where rows are replaced whole: whether the event has it at all. */
export function unavailableRejection(name: string, column: BytesBuilder): Rejection | undefined {
  if (!column.lastIs(unavailable)) return undefined;
  return {
    reason: 'missing-required',
    message: `column "${name}": the event does not have the value, which did not change, and a row of the table is replaced whole`,
  };
}

/** Of what is no row, as a table takes it whose rows are replaced by key: a truncation would have to end all of them. */
export function refusedTruncation(refusal: Refusal): Refusal {
  if (refusal.noRow !== 'truncate') return refusal;
  return { reason: 'not-an-event', message: 'the event truncates its table, which a table of mode upsert does not follow: its rows stay' };
}

import type { RejectReason } from '../../protocol/sealed-batch.ts';
import type { Rejection } from './rejection.ts';

/** Thrown by readers of payloads at a value that does not fit its column; the record is rejected. */
export class ValueRefused extends Error {
  readonly reason: RejectReason;
  /** The column, or a place inside of it: `tags[].name`. */
  readonly column: string;

  /** `message`: what is wrong, to be read after the column: `5000000000 does not fit an integer`. */
  constructor(column: string, reason: RejectReason, message: string) {
    super(message);
    this.name = 'ValueRefused';
    this.reason = reason;
    this.column = column;
  }
}

/** Why the record is rejected. */
export function refusedValue({ column, reason, message }: ValueRefused): Rejection {
  return {
    reason,
    message: column === '' ? message : `column "${column}": ${message}`,
    ...(reason === 'missing-required' ? { missing: column } : {}),
  };
}

export function valueOutOfRange(where: string, value: bigint | number | string, expected: string): ValueRefused {
  return new ValueRefused(where, 'out-of-range', `${value} does not fit ${expected}`);
}

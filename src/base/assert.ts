import { serviceError } from './errors.ts';

/**
 * Guards our own mistakes; stays on in production.
 *
 * @throws ServiceError `ASSERTION_FAILED` (kind internal) when `condition` is false.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw serviceError.internal('ASSERTION_FAILED', message);
}

/** Ends a `switch` over a union: a forgotten case is a compile error, an impossible value a thrown one. */
export function assertNever(value: never): never {
  throw serviceError.internal('ASSERTION_FAILED', `unexpected value ${String(value)}`);
}

/** Narrows away `undefined` where an invariant promises a value; the message names the invariant. */
export function present<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw serviceError.internal('ASSERTION_FAILED', message);
  return value;
}

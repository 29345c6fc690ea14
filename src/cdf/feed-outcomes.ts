import { describeError, isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { type FeedSpec, feedIdOf } from './feed-spec.ts';

/** True for what is tried again. */
export function isTransient(error: unknown): boolean {
  return isServiceError(error, 'unavailable', 'unknown-outcome') || (isServiceError(error) && error.retryable);
}

/** The state of a feed whose table is not the one that it published, or is not there; `undefined`: the error says nothing of that. */
export function tableLossOf(error: unknown): 'table-replaced' | 'table-gone' | undefined {
  return isServiceError(error) ? tableLosses[error.code] : undefined;
}

const tableLosses: Readonly<Record<string, 'table-replaced' | 'table-gone'>> = {
  FEED_TABLE_REPLACED: 'table-replaced',
  TABLE_REPLACED: 'table-replaced',
  TABLE_GONE: 'table-gone',
  TABLE_NOT_FOUND: 'table-gone',
};

/** True for what only somebody who acts on the registry's subject cures. */
export function waitsForSchema(error: unknown): boolean {
  return isServiceError(error) && ['FEED_SCHEMA_REFUSED', 'FEED_SCHEMA_UNREGISTERED', 'FEED_SCHEMA_DIFFERS'].includes(error.code);
}

/** True for what is waited for elsewhere than at the broker: a process that ends does not. */
export function waitsForRegistry(error: unknown): boolean {
  return waitsForSchema(error) || (isServiceError(error, 'unavailable') && error.code.startsWith('REGISTRY_'));
}

/** What became of a transaction that failed, as metrics call it. */
export function transactionResult(error: ServiceError): 'aborted' | 'unknown' | 'fenced' | 'refused' {
  if (error.kind === 'fenced') return 'fenced';
  if (error.kind === 'unknown-outcome') return 'unknown';
  return error.kind === 'unavailable' ? 'aborted' : 'refused';
}

/** What is cured by opening again, as the one place that retries knows it. */
export function openedAgain(spec: FeedSpec, cause: unknown): ServiceError {
  return serviceError.unavailable('FEED_OPENED_AGAIN', `feed "${feedIdOf(spec)}" is opened again: ${describeError(cause)}`, { cause });
}

/** What those who wait for a feed that has ended are told. */
export function endedError(spec: FeedSpec, cause: unknown): ServiceError {
  return serviceError.aborted('FEED_ENDED', `feed "${feedIdOf(spec)}" has ended`, { cause });
}

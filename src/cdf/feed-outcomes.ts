import { describeError, isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { type FeedSpec, feedIdOf } from './feed-spec.ts';

/** True for what is tried again. */
export function isTransient(error: unknown): boolean {
  return isServiceError(error, 'unavailable', 'unknown-outcome') || (isServiceError(error) && error.retryable);
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

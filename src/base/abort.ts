import { type ServiceError, serviceError } from './errors.ts';

export function abortedError(signal?: AbortSignal): ServiceError {
  return serviceError.aborted('ABORTED', 'the operation was cancelled', { cause: signal?.reason });
}

/** @throws ServiceError `ABORTED` (kind aborted) when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedError(signal);
}

/** What a promise comes to, unless the signal fires first; what it waits for goes on for others. @throws ServiceError `ABORTED`. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(abortedError(signal));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Resolves when the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      resolve();
    };
    if (signal.aborted) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}

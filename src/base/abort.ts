import { ServiceError } from './errors.ts';

export function abortedError(signal?: AbortSignal): ServiceError {
  return new ServiceError({ code: 'ABORTED', kind: 'aborted', message: 'the operation was cancelled', cause: signal?.reason });
}

/** @throws ServiceError `ABORTED` (kind aborted) when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedError(signal);
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

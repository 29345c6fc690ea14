import { ServiceError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';

/** Marks the abort that a deadline caused. */
export const deadlineCode = 'DeadlineExceeded';

/**
 * Runs with a signal that fires after `durationMs`, or when the caller's does. What `run` makes of the signal is its own; nothing of this
 * outlives it.
 */
export async function withDeadline<T>(
  clock: Clock,
  durationMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const ended = new AbortController();
  const onAbort = (): void => {
    either.abort(signal?.reason);
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  clock.sleep(durationMs, ended.signal).then(
    () => {
      either.abort(new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: `no answer within ${durationMs} ms` }));
    },
    () => undefined,
  );
  try {
    return await run(either.signal);
  } finally {
    ended.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

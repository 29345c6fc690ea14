import { abortedError } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';

/** What a run is given: when to stop, and how to ask for more time. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Moves the end, once what there is to do turns out to take longer. */
  readonly extend: (durationMs: number) => void;
}

/**
 * Runs with a signal that fires after `durationMs`, or when the caller's does; nothing of this outlives the run.
 *
 * @throws ServiceError `ABORTED` when the caller's signal fired, `STORAGE_DEADLINE_EXCEEDED` (unavailable) when the time was up; otherwise what
 * `run` throws.
 */
export async function withDeadline<T>(
  clock: Clock,
  options: { readonly durationMs: number; readonly signal: AbortSignal | undefined },
  run: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const { durationMs, signal } = options;
  let extraMs = 0;
  const either = new AbortController();
  const ended = new AbortController();
  const onAbort = (): void => {
    either.abort();
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const expire = async (): Promise<void> => {
    await clock.sleep(durationMs, ended.signal);
    for (let more = extraMs; more > 0; more = extraMs) {
      extraMs = 0;
      await clock.sleep(more, ended.signal);
    }
    onAbort();
  };
  expire().catch(() => undefined);
  const extend = (moreMs: number): void => {
    extraMs += moreMs;
  };
  try {
    return await run({ signal: either.signal, extend });
  } catch (error) {
    if (signal?.aborted === true) throw abortedError(signal);
    if (either.signal.aborted) throw deadlineExceeded();
    throw error;
  } finally {
    ended.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

function deadlineExceeded(): ServiceError {
  return serviceError.unavailable('STORAGE_DEADLINE_EXCEEDED', 'no answer in time');
}

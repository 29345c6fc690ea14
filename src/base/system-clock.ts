import { abortedError } from './abort.ts';
import { type Clock, type EpochMs, toEpochMs } from './clock.ts';

/** The real clock. */
export class SystemClock implements Clock {
  now(): EpochMs {
    return toEpochMs(Date.now());
  }

  monotonicMs(): number {
    return performance.now();
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortedError(signal));
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortedError(signal));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, durationMs);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}

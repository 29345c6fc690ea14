import { throwIfAborted } from '../../src/base/abort.ts';
import { type Clock, type EpochMs, toEpochMs } from '../../src/base/clock.ts';

/** Time that only a test moves: by `advance`, and by sleeping, which takes no real time. */
export class StepClock implements Clock {
  #nowMs: number;

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): EpochMs {
    return toEpochMs(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    this.#nowMs += durationMs;
    await Promise.resolve();
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs;
  }
}

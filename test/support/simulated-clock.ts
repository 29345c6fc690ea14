import { abortedError } from '../../src/base/abort.ts';
import { type Clock, type EpochMs, toEpochMs } from '../../src/base/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

const startOfTime = Date.UTC(2026, 0, 1);

/**
 * Time that only moves when nothing else can: `runUntil` lets every ready promise run, then jumps to the earliest timer. Same work, same
 * order, same times.
 */
export class SimulatedClock implements Clock {
  #nowMs = 0;
  #order = 0;
  #timers: Timer[] = [];
  #outside: (() => Promise<void>)[] = [];

  now(): EpochMs {
    return toEpochMs(startOfTime + this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortedError(signal));
        return;
      }
      const onAbort = (): void => {
        this.#timers = this.#timers.filter((candidate) => candidate !== timer);
        reject(abortedError(signal));
      };
      const timer: Timer = {
        atMs: this.#nowMs + Math.max(0, durationMs),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#timers.push(timer);
    });
  }

  /** Work of the real world, which takes no time here: it begins when nothing else can go on, and nothing else goes on until it ends. */
  outside<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#outside.push(() => work().then(resolve, reject));
    });
  }

  /**
   * Drives the simulation until `done` says so or simulated time passes `limitMs`.
   *
   * @returns whether `done` held before the limit.
   */
  async runUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    while (this.#nowMs <= limitMs) {
      await settle();
      if (done()) return true;
      const work = this.#outside.shift();
      if (work !== undefined) {
        await work();
        continue;
      }
      const next = this.#earliest();
      if (next === undefined) return false;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
    }
    return false;
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.atMs < earliest.atMs || (timer.atMs === earliest.atMs && timer.order < earliest.order))
        earliest = timer;
    }
    return earliest;
  }
}

/** Lets every promise that is ready, and those that become ready by it, run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

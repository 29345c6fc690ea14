import type { Version } from '../table/version.ts';

interface Waiter {
  readonly untilVersion: Version;
  readonly settle: (error?: Error) => void;
}

/** Those who wait until a feed has published a version. */
export class DrainWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Until `reached` is told of the version, or `end`. */
  wait(untilVersion: Version): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#waiters.add({ untilVersion, settle });
    });
  }

  reached(covers: (version: Version) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!covers(waiter.untilVersion)) continue;
      this.#waiters.delete(waiter);
      waiter.settle();
    }
  }

  /** Nothing more is published; without an error, that is what was waited for. */
  end(error?: Error): void {
    for (const waiter of this.#waiters) waiter.settle(error);
    this.#waiters.clear();
  }
}

import { type Deferred, deferred } from '../base/deferred.ts';
import type { Version } from '../table/version.ts';

interface Waiter {
  readonly untilVersion: Version;
  readonly through: Deferred<undefined>;
}

/** Those who wait until a feed has published a version. */
export class DrainWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Until `reached` is told of the version, or `end`. */
  wait(untilVersion: Version): Promise<undefined> {
    const through = deferred<undefined>();
    this.#waiters.add({ untilVersion, through });
    return through.promise;
  }

  reached(covers: (version: Version) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!covers(waiter.untilVersion)) continue;
      this.#waiters.delete(waiter);
      waiter.through.resolve(undefined);
    }
  }

  /** Nothing more is published; without an error, that is what was waited for. */
  end(error?: Error): void {
    for (const { through } of this.#waiters) {
      if (error === undefined) through.resolve(undefined);
      else through.reject(error);
    }
    this.#waiters.clear();
  }
}

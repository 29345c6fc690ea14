import type { Clock } from '../base/clock.ts';

export interface StandstillOptions {
  readonly clock: Clock;
  /** Failures this far apart, with no success in between, are a standstill. */
  readonly boundMs: number;
  /** After so long without another failure it is over, though nothing succeeded: there was nothing more to do. */
  readonly forgetMs?: number | undefined;
}

interface Failing {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly what: string;
}

/** What fails is attempted at least so often. */
const defaultForgetMs = 90_000;

/**
 * Whether something has been failing for too long without a success in between. Outlives the attempts, which start anew each time; a single
 * failure is none, however long nothing follows it.
 */
export class Standstill {
  readonly #clock: Clock;
  readonly #boundMs: number;
  readonly #forgetMs: number;
  #failing: Failing | undefined;

  constructor({ clock, boundMs, forgetMs = defaultForgetMs }: StandstillOptions) {
    this.#clock = clock;
    this.#boundMs = boundMs;
    this.#forgetMs = forgetMs;
  }

  /** `what` is for people. */
  failed(what: string): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#current(nowMs);
    this.#failing = { sinceMs: before?.sinceMs ?? nowMs, lastMs: nowMs, what };
  }

  succeeded(): void {
    this.#failing = undefined;
  }

  /** What has been failing, and for how long; `undefined` while that is not too long. */
  get detail(): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    const failing = this.#current(nowMs);
    if (failing === undefined || failing.lastMs - failing.sinceMs < this.#boundMs) return undefined;
    return `failing for ${Math.floor((nowMs - failing.sinceMs) / 1_000)} s: ${failing.what}`;
  }

  #current(nowMs: number): Failing | undefined {
    return this.#failing !== undefined && nowMs - this.#failing.lastMs <= this.#forgetMs ? this.#failing : undefined;
  }
}

import type { Branded } from './brand.ts';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Branded<number, 'EpochMs'>;

export function toEpochMs(value: number): EpochMs {
  return Math.trunc(value) as EpochMs;
}

/** Time as it is handed to every component, so that a simulation can own it. */
export interface Clock {
  /** Wall clock. May jump; used for timestamps, never for correctness. */
  now(): EpochMs;
  /** Monotonic milliseconds since an arbitrary start, with fractions. */
  monotonicMs(): number;
  /** Resolves after `durationMs`, or rejects with kind `aborted` as soon as `signal` fires. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

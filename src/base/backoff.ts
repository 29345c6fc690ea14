import type { Random } from './random.ts';

export interface BackoffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Exponential with jitter: attempt 0 waits between half of `initialMs` and all of it, each later one twice as long, at most `maxMs`. */
export function backoffMs(policy: BackoffPolicy, attempt: number, random: Random): number {
  const ceiling = Math.min(policy.maxMs, policy.initialMs * 2 ** Math.min(attempt, 30));
  return ceiling / 2 + (ceiling / 2) * random.next();
}

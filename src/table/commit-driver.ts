import { throwIfAborted } from '../base/abort.ts';
import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';

/** How one try ended. `refusal`: what no newer base makes good. */
export type Tried<Landed, Conflict> =
  | { readonly kind: 'committed'; readonly landed: Landed }
  /** There was nothing to commit, and no try: it is not counted. */
  | { readonly kind: 'nothing'; readonly landed: Landed }
  | { readonly kind: 'conflicted'; readonly refusal?: Conflict | undefined }
  | { readonly kind: 'unknown'; readonly cause: unknown };

/** A try on a base that may have landed, or still may. */
export interface Doubt<Base> {
  readonly base: Base;
  readonly cause: unknown;
}

/** The table after a try. */
export type Seen<Base, Landed, Conflict> =
  | { readonly kind: 'committed'; readonly landed: Landed }
  /** `standing`: what stands against trying again on it. `mayLand`: the place that the try in doubt aims at is still free. */
  | { readonly kind: 'newer'; readonly base: Base; readonly standing?: Conflict | undefined; readonly mayLand: boolean };

/** How often, how fast and for how long something is tried again. */
export interface RetrySettings {
  /** After the first try. */
  readonly retries: number;
  readonly backoff: BackoffPolicy;
  readonly totalMs: number;
  /** The first conflict is followed by another try at once. */
  readonly eager?: boolean;
}

/** What a format does to take a commit to its end. */
export interface CommitSteps<Base, Landed, Conflict> {
  readonly base: Base;
  retry(base: Base): RetrySettings;
  /** One try on top of the base, without a signal: a commit that began is seen through. @throws when certainly nothing was changed. */
  attempt(base: Base): Promise<Tried<Landed, Conflict>>;
  /** Reads the newest state, and whether the commit is in it. */
  look(base: Base, doubt: Doubt<Base> | undefined): Promise<Seen<Base, Landed, Conflict>>;
  /**
   * For a format in which another try is not safe while one is in doubt: looks until that is decided. `undefined`: it has not landed and
   * never will. @throws when that cannot be found out.
   */
  settle?(doubt: Doubt<Base>): Promise<Landed | undefined>;
  /** The error that says so: the caller must delete nothing. */
  unknown(doubt: Doubt<Base>, cause: unknown): Error;
}

/** Told how each try of a commit to a table ended. */
export type CommitTried = (table: string, result: 'committed' | 'conflicted' | 'unknown') => void;

export interface CommitWorld {
  /** The table's, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly commitTried?: CommitTried | undefined;
}

export type CommitEnd<Landed, Conflict> =
  | { readonly kind: 'committed'; readonly landed: Landed }
  /** Certain: the commit is not in the table and never will be. `conflict` undefined: the tries are used up. */
  | { readonly kind: 'conflicted'; readonly conflict: Conflict | undefined; readonly attempts: number; readonly elapsedMs: number };

/**
 * Takes a commit to a certain end: tries it, and again on each newer base for as long as nothing stands against it. After an unknown outcome
 * the table is read before anything else happens; a commit that may have landed is neither given up nor stopped.
 *
 * @throws what the steps throw, and `ABORTED`, only while nothing is in doubt; else `steps.unknown`.
 */
export async function driveCommit<Base, Landed, Conflict>(
  { name, clock, random, commitTried }: CommitWorld,
  steps: CommitSteps<Base, Landed, Conflict>,
  signal?: AbortSignal,
): Promise<CommitEnd<Landed, Conflict>> {
  const startedMs = clock.monotonicMs();
  let { base } = steps;
  let doubt: Doubt<Base> | undefined;
  for (let attempt = 0; ; attempt += 1) {
    if (doubt === undefined) throwIfAborted(signal);
    const tried = await answered(steps, doubt, () => steps.attempt(base));
    if (tried?.kind === 'nothing') return { ...tried, kind: 'committed' };
    if (tried !== undefined) commitTried?.(name, tried.kind);
    if (tried?.kind === 'committed') return tried;
    if (tried?.kind === 'unknown') {
      doubt = { base, cause: tried.cause };
      const landed = await steps.settle?.(doubt);
      if (landed !== undefined) return { kind: 'committed', landed };
      if (steps.settle !== undefined) doubt = undefined;
    }
    const { retries, totalMs, backoff, eager = false } = steps.retry(base);
    const elapsedMs = clock.monotonicMs() - startedMs;
    const spent = { kind: 'conflicted', attempts: attempt + 1, elapsedMs } as const;
    if (tried?.kind === 'conflicted' && tried.refusal !== undefined && doubt === undefined) return { ...spent, conflict: tried.refusal };
    const isLast = attempt >= retries || elapsedMs > totalMs;
    const atOnce = doubt === undefined && (isLast || (eager && attempt === 0));
    if (!atOnce) await clock.sleep(backoffMs(backoff, attempt, random), doubt === undefined ? signal : undefined);
    const seen = await answered(steps, doubt, () => steps.look(base, doubt));
    if (seen?.kind === 'committed') return seen;
    if (seen !== undefined) base = seen.base;
    if (seen?.mayLand === false) doubt = undefined;
    if (seen?.standing === undefined && !isLast) continue;
    if (doubt === undefined) return { ...spent, conflict: seen?.standing };
    // Whatever stands against another try does not decide the one in doubt: somebody has to take its place first.
    throw steps.unknown(doubt, doubt.cause);
  }
}

/** `undefined`: the store does not answer while a commit is in doubt, which only time can resolve. No other error decides it. */
async function answered<Base, Result>(
  { unknown }: Pick<CommitSteps<Base, unknown, unknown>, 'unknown'>,
  doubt: Doubt<Base> | undefined,
  step: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    if (doubt === undefined) throw error;
    if (!isServiceError(error, 'unavailable')) throw unknown(doubt, error);
    return undefined;
  }
}

import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from './object-store.ts';

export interface RetryPolicy extends BackoffPolicy {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  /** No attempt begins later than this after the first. */
  readonly deadlineMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { initialMs: 50, maxMs: 2_000, maxAttempts: 6, deadlineMs: 20_000 };

export interface RetryingParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy?: RetryPolicy | undefined;
  /** Told of every attempt that is repeated, for the metric. */
  readonly onRetry?: ((operation: string) => void) | undefined;
}

/**
 * Repeats reads, listings and plain puts that failed in passing, with jittered backoff. Plain puts of one object's bytes may be
 * repeated even after an unknown outcome: the result is the same. `putIfAbsent` is never repeated here, because its second answer would
 * be about its first try; nor are deletes.
 */
export class RetryingObjectStore implements ObjectStore {
  readonly #inner: ObjectStore;
  readonly #parts: RetryingParts;
  readonly #policy: RetryPolicy;
  readonly putFile: ObjectStore['putFile'];

  constructor(inner: ObjectStore, parts: RetryingParts) {
    this.#inner = inner;
    const { putFile } = inner;
    this.putFile =
      putFile === undefined
        ? undefined
        : (path, file, signal) => this.#retried('put', () => putFile.call(inner, path, file, signal), signal);
    this.#parts = parts;
    this.#policy = parts.policy ?? defaultRetryPolicy;
  }

  get root(): string {
    return this.#inner.root;
  }

  read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#retried('read', () => this.#inner.read(path, signal), signal);
  }

  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#retried('read', () => this.#inner.readRange(path, range, signal), signal);
  }

  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    return this.#retried('head', () => this.#inner.head(path, signal), signal);
  }

  /** After a failure the listing goes on behind the last object it gave. */
  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    let startAfter = options.startAfter;
    const startedMs = this.#parts.clock.monotonicMs();
    for (let attempt = 0; ; attempt++) {
      try {
        for await (const object of this.#inner.list({ ...options, startAfter }, signal)) {
          startAfter = object.path;
          yield object;
        }
        return;
      } catch (error) {
        if (!isServiceError(error, 'unavailable')) throw error;
        await this.#pause('list', { attempt, startedMs }, error, signal);
      }
    }
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#retried('put', () => this.#inner.put(path, bytes, signal), signal);
  }

  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    return this.#inner.putIfAbsent(path, bytes, signal);
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#inner.delete(path, signal);
  }

  async #retried<Result>(operation: string, run: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    const startedMs = this.#parts.clock.monotonicMs();
    for (let attempt = 0; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        const passing = isServiceError(error, 'unavailable') || (operation === 'put' && isServiceError(error, 'unknown-outcome'));
        if (!passing) throw error;
        await this.#pause(operation, { attempt, startedMs }, error, signal);
      }
    }
  }

  /** Waits before the next attempt; throws the failure when there must be none. */
  async #pause(
    operation: string,
    at: { readonly attempt: number; readonly startedMs: number },
    failure: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clock, random, onRetry } = this.#parts;
    const pauseMs = backoffMs(this.#policy, at.attempt, random);
    const lateMs = clock.monotonicMs() - at.startedMs + pauseMs;
    if (at.attempt + 1 >= this.#policy.maxAttempts || lateMs > this.#policy.deadlineMs) throw failure;
    onRetry?.(operation);
    await clock.sleep(pauseMs, signal);
  }
}

import type { Clock } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import type { Random } from '../../src/base/random.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../../src/storage/object-store.ts';

export type StoreOperation = 'read' | 'head' | 'list' | 'put' | 'putIfAbsent' | 'delete';

/** `before`: the call fails and nothing happened. `after`: it happened and the answer is lost. */
export type FaultMoment = 'before' | 'after';

export interface FaultRates {
  /** Probability of each, from 0 to 1. */
  readonly before: number;
  readonly after: number;
  /** Calls take up to this long by the clock. */
  readonly maxLatencyMs: number;
}

/**
 * A store that fails as a network does, reproducibly: for tests and simulation. A lost answer of a write is `STORAGE_OUTCOME_UNKNOWN`;
 * every other fault `STORAGE_UNAVAILABLE`.
 */
export class FaultyObjectStore implements ObjectStore {
  readonly #inner: ObjectStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #next: { readonly operation: StoreOperation; readonly moment: FaultMoment; readonly prefix: string }[] = [];
  readonly #like: FaultyObjectStore | undefined;
  /** Calls so far, by operation. */
  readonly calls: Map<StoreOperation, number> = new Map();
  /** May be changed at any time; `undefined` stops random faults. */
  rates: FaultRates | undefined;

  /** `like`: as many faults as this one has. */
  constructor(
    inner: ObjectStore,
    parts: {
      readonly clock: Clock;
      readonly random: Random;
      readonly rates?: FaultRates | undefined;
      readonly like?: FaultyObjectStore | undefined;
    },
  ) {
    this.#like = parts.like;
    this.#inner = inner;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.rates = parts.rates;
  }

  get root(): string {
    return this.#inner.root;
  }

  get #present(): FaultRates | undefined {
    return this.#like === undefined ? this.rates : this.#like.rates;
  }

  /** The next call of the operation on a path with the prefix fails, once. */
  failNext(operation: StoreOperation, moment: FaultMoment, prefix = ''): void {
    this.#next.push({ operation, moment, prefix });
  }

  read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#faulty('read', path, signal, () => this.#inner.read(path, signal));
  }

  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#faulty('read', path, signal, () => this.#inner.readRange(path, range, signal));
  }

  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    return this.#faulty('head', path, signal, () => this.#inner.head(path, signal));
  }

  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    await this.#faulty('list', options.prefix, signal, () => Promise.resolve());
    yield* this.#inner.list(options, signal);
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#faulty('put', path, signal, () => this.#inner.put(path, bytes, signal));
  }

  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    return this.#faulty('putIfAbsent', path, signal, () => this.#inner.putIfAbsent(path, bytes, signal));
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#faulty('delete', path, signal, () => this.#inner.delete(path, signal));
  }

  async #faulty<Result>(
    operation: StoreOperation,
    path: string,
    signal: AbortSignal | undefined,
    run: () => Promise<Result>,
  ): Promise<Result> {
    this.calls.set(operation, (this.calls.get(operation) ?? 0) + 1);
    const moment = this.#momentOf(operation, path);
    const latencyMs = (this.#present?.maxLatencyMs ?? 0) * this.#random.next();
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, signal);
    if (moment === 'before') throw fault(operation, path, moment);
    const result = await run();
    if (moment === 'after') throw fault(operation, path, moment);
    return result;
  }

  #momentOf(operation: StoreOperation, path: string): FaultMoment | undefined {
    const planned = this.#next.findIndex((fault) => fault.operation === operation && path.startsWith(fault.prefix));
    if (planned >= 0) return this.#next.splice(planned, 1)[0]?.moment;
    const draw = this.#random.next();
    const { before = 0, after = 0 } = this.#present ?? {};
    return draw < before ? 'before' : draw < before + after ? 'after' : undefined;
  }
}

function fault(operation: StoreOperation, path: string, moment: FaultMoment): ServiceError {
  const unknown = moment === 'after' && (operation === 'put' || operation === 'putIfAbsent' || operation === 'delete');
  return new ServiceError({
    code: unknown ? 'STORAGE_OUTCOME_UNKNOWN' : 'STORAGE_UNAVAILABLE',
    kind: unknown ? 'unknown-outcome' : 'unavailable',
    message: `${operation} "${path}": injected fault ${moment} the call`,
  });
}

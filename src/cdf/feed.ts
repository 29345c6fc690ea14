import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError, ServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { KafkaClient } from '../kafka/client.ts';
import type { ChangeEncoder, EncodeSpec, FeedPosition } from '../protocol/change-event.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import type { Table } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { FeedObserver } from './feed-observer.ts';
import { firstNeededVersion, samePosition, versionsBehind } from './feed-position.ts';
import { type FeedSpec, feedIdOf, rowOrderOf } from './feed-spec.ts';
import { type FeedEvent, type FeedState, nextFeedState } from './feed-state.ts';
import { ensureFeedTopics } from './feed-topics.ts';
import { PositionStore } from './position-store.ts';
import { FeedPublisher } from './publisher.ts';
import { changesStart, type FeedRun, type Prepared, passedGap, RunPreparer, refuseReplaced, snapshotStart } from './run-preparer.ts';
import { isGap, TableTailer } from './table-tailer.ts';

const retryPolicy: BackoffPolicy = { initialMs: 200, maxMs: 30_000 };

/** Everything a feed works with. */
export interface FeedParts {
  readonly spec: FeedSpec;
  readonly table: Table;
  readonly client: KafkaClient;
  readonly encoder: ChangeEncoder;
  readonly events: TableEvents;
  readonly observer: FeedObserver;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
}

export interface FeedStatus {
  readonly feedId: string;
  readonly table: string;
  readonly topic: string;
  readonly state: FeedState;
  /** What is published; `undefined` until it was read or when nothing was ever published. */
  readonly position: FeedPosition | undefined;
  readonly latestVersion: Version | undefined;
  readonly lagVersions: number | undefined;
  /** Why the feed ended, or what it is retrying. */
  readonly error: unknown;
}

/**
 * Publishes every row change of one table to one topic, exactly once and in order (docs/spec/feed-state-machine.md). Rows and the
 * position they reach are published in one transaction; while one run is published the next is read and encoded, never more.
 */
export class Feed {
  readonly spec: FeedSpec;
  readonly #parts: FeedParts;
  readonly #tailer: TableTailer;
  readonly #publisher: FeedPublisher;
  readonly #waiters = new Set<{ readonly untilVersion: Version; readonly settle: (error?: Error) => void }>();
  #preparer: RunPreparer | undefined;
  #state: FeedState = 'opening';
  #position: FeedPosition | undefined;
  #latest: Version | undefined;
  #error: unknown;
  #ended = false;

  constructor(parts: FeedParts) {
    const { spec, table, client, events, clock, ids, failpoint } = parts;
    this.spec = spec;
    this.#parts = parts;
    this.#tailer = new TableTailer({ table, events, pollIntervalMs: spec.pollIntervalMs });
    const positions = new PositionStore({ client, clock, topic: spec.positionsTopic });
    this.#publisher = new FeedPublisher({ spec, client, positions, ids, failpoint });
  }

  /**
   * Runs until the signal fires (state `stopped`) or the feed cannot go on (`gap` under policy `fail`, `fenced`, `failed`); never
   * rejects. A transaction that has begun is finished first. To be called once.
   */
  async run(signal: AbortSignal): Promise<FeedStatus> {
    try {
      await this.#keepPublishing(signal);
    } catch (error) {
      this.#end(error, signal);
    }
    await this.#publisher.close().catch((error: unknown) => {
      this.#parts.observer.retried(error);
    });
    this.#ended = true;
    for (const waiter of this.#waiters) waiter.settle(endedError(this.spec, this.#error));
    this.#waiters.clear();
    return this.status();
  }

  /** Resolves when `untilVersion` is completely published; rejects when the feed ends before. */
  drain(untilVersion: Version): Promise<void> {
    if (this.#covers(untilVersion)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      if (this.#ended) settle(endedError(this.spec, this.#error));
      else this.#waiters.add({ untilVersion, settle });
    });
  }

  status(): FeedStatus {
    const position = this.#position;
    const latestVersion = this.#latest;
    return {
      feedId: feedIdOf(this.spec),
      table: this.spec.table,
      topic: this.spec.topic,
      state: this.#state,
      position,
      latestVersion,
      lagVersions: position === undefined || latestVersion === undefined ? undefined : versionsBehind(position, latestVersion),
      error: this.#error,
    };
  }

  async #keepPublishing(signal: AbortSignal): Promise<void> {
    let rejected: FeedRun | undefined;
    for (;;) {
      const stored = await this.#retrying(signal, () => this.#open(signal));
      if (rejected !== undefined) this.#resolve(rejected, stored);
      const position = stored ?? (await this.#retrying(signal, () => this.#startPosition(signal)));
      this.#step(positionEvent(position));
      rejected = await this.#publishFrom(position, signal);
    }
  }

  /** Publishes run after run; answers the one whose outcome has to be looked up. */
  async #publishFrom(start: FeedPosition, signal: AbortSignal): Promise<FeedRun> {
    const stop = new AbortController();
    const encodeSignal = AbortSignal.any([signal, stop.signal]);
    let position = start;
    let ahead = this.#prepareAhead(position, encodeSignal);
    try {
      for (;;) {
        const prepared = await ahead();
        signal.throwIfAborted();
        if (prepared.kind === 'run') {
          this.#step('run');
          ahead = this.#prepareAhead(prepared.until, encodeSignal);
          if (!(await this.#publish(prepared))) return prepared;
          position = prepared.until;
          this.#step(positionEvent(position));
        } else {
          if (prepared.kind === 'gap') position = await this.#passGap(prepared, signal);
          else await this.#retrying(signal, () => this.#tailer.waitPast(position.version, signal));
          ahead = this.#prepareAhead(position, encodeSignal);
        }
      }
    } finally {
      stop.abort();
      await ahead().catch(() => undefined);
      await this.#tailer.release();
    }
  }

  /** Starts reading and encoding; the failure, if any, shows when the result is asked for. */
  #prepareAhead(position: FeedPosition, signal: AbortSignal): () => Promise<Prepared> {
    const preparing = this.#retrying(signal, () => this.#openPreparer().prepare(position, signal));
    const settled = preparing.then(
      (prepared) => ({ prepared }),
      (error: unknown) => ({ error }),
    );
    return async () => {
      const result = await settled;
      if ('prepared' in result) return result.prepared;
      throw result.error;
    };
  }

  /** False when the outcome must be looked up after opening again. */
  async #publish(run: FeedRun): Promise<boolean> {
    const { observer, clock } = this.#parts;
    const startedMs = clock.monotonicMs();
    try {
      await this.#publisher.publish(run);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      observer.transaction(transactionResult(error), clock.monotonicMs() - startedMs);
      if (!isTransient(error)) throw error;
      this.#error = error;
      observer.retried(error);
      this.#step('rejected');
      return false;
    }
    observer.transaction('committed', clock.monotonicMs() - startedMs);
    this.#published(run);
    return true;
  }

  #published(run: FeedRun): void {
    this.#position = run.until;
    this.#error = undefined;
    const { rowsByOperation, recordCount, sizeBytes } = run;
    this.#parts.observer.published({ version: run.until.version, rowsByOperation, recordCount, sizeBytes });
    if (this.#latest !== undefined) this.#parts.observer.lag(versionsBehind(run.until, this.#latest));
    this.#wakeWaiters();
  }

  /** The stored position decides what became of a transaction whose end was not seen. */
  #resolve(rejected: FeedRun, stored: FeedPosition | undefined): void {
    const landed = stored !== undefined && samePosition(stored, rejected.until);
    this.#parts.observer.resolved(landed ? 'landed' : 'absent');
    if (landed) this.#published(rejected);
  }

  async #open(signal: AbortSignal): Promise<FeedPosition | undefined> {
    const { spec, client, encoder, table } = this.#parts;
    const partitions = await ensureFeedTopics(client.admin, spec);
    const stored = await this.#publisher.open(signal);
    const latest = await this.#tailer.latest(signal);
    this.#latest = latest.version;
    if (stored !== undefined) {
      refuseReplaced(stored, latest.tableId, spec.table);
      refuseUnfit(stored, latest.version, spec);
    }
    this.#preparer = new RunPreparer({
      tailer: this.#tailer,
      encoder,
      spec: encodeSpecOf(spec, table, partitions),
      limits: { maxRows: spec.maxTransactionRows, maxBytes: spec.maxTransactionBytes },
      onLag: (versions, newest) => {
        this.#latest = newest;
        this.#parts.observer.lag(versions);
      },
    });
    this.#position = stored;
    this.#wakeWaiters();
    return stored;
  }

  async #startPosition(signal: AbortSignal): Promise<FeedPosition> {
    const { start } = this.spec;
    const latest = await this.#tailer.latest(signal);
    const identity = { tableId: latest.tableId, order: rowOrderOf(this.spec) };
    if (start.kind === 'snapshot') return snapshotStart(identity, latest.version);
    const first = start.kind === 'version' ? start.version : await this.#tailer.earliestReadable(signal);
    return changesStart(identity, toVersion(first - 1));
  }

  async #passGap(gap: Prepared & { readonly kind: 'gap' }, signal: AbortSignal): Promise<FeedPosition> {
    const { onGap } = this.spec;
    this.#step('gap');
    this.#parts.observer.gap({ version: firstNeededVersion(gap.at), policy: onGap });
    if (onGap === 'fail') throw gap.error;
    const latest = await this.#retrying(signal, () => this.#tailer.latest(signal));
    const { tableId } = gap.at;
    const position =
      onGap === 'skip'
        ? passedGap(gap.at, gap.error, latest.version)
        : snapshotStart({ tableId, order: rowOrderOf(this.spec) }, latest.version);
    this.#step(positionEvent(position));
    return position;
  }

  /** The one place that retries: transient errors, forever, with a jittered pause; the status shows the error meanwhile. */
  async #retrying<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        const result = await attempt();
        if (failures > 0) this.#error = undefined;
        return result;
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        this.#error = error;
        this.#parts.observer.retried(error);
        await this.#parts.clock.sleep(backoffMs(retryPolicy, failures, this.#parts.random), signal);
      }
    }
  }

  #openPreparer(): RunPreparer {
    if (this.#preparer !== undefined) return this.#preparer;
    throw new ServiceError({ code: 'ASSERTION_FAILED', kind: 'internal', message: 'the feed is open' });
  }

  #end(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      this.#step('stop');
      this.#error = undefined;
      return;
    }
    this.#error = error;
    if (isServiceError(error, 'fenced')) this.#step('fenced');
    else if (isGap(error)) {
      if (this.#state !== 'gap') this.#step('gap');
    } else this.#step('failed');
  }

  #step(event: FeedEvent): void {
    this.#state = nextFeedState(this.#state, event);
    this.#parts.observer.state(this.#state);
  }

  #covers(version: Version): boolean {
    const position = this.#position;
    return position !== undefined && (position.version > version || (position.version === version && position.complete));
  }

  #wakeWaiters(): void {
    for (const waiter of this.#waiters) {
      if (!this.#covers(waiter.untilVersion)) continue;
      this.#waiters.delete(waiter);
      waiter.settle();
    }
  }
}

function encodeSpecOf(spec: FeedSpec, table: Table, partitions: number): EncodeSpec {
  const { pipeline, envelope, topic, keyColumns, tombstones, compression } = spec;
  const { format, location } = table;
  return { pipeline, envelope, topic, partitions, keyColumns, tombstones, compression, table: spec.table, format, location };
}

function positionEvent(position: FeedPosition): 'at-snapshot' | 'at-changes' {
  return position.snapshot && !position.complete ? 'at-snapshot' : 'at-changes';
}

function isTransient(error: unknown): boolean {
  return isServiceError(error, 'unavailable', 'unknown-outcome') || (isServiceError(error) && error.retryable);
}

function transactionResult(error: ServiceError): 'aborted' | 'unknown' | 'fenced' | 'refused' {
  if (error.kind === 'fenced') return 'fenced';
  if (error.kind === 'unknown-outcome') return 'unknown';
  return error.kind === 'unavailable' ? 'aborted' : 'refused';
}

/** @throws ServiceError `FEED_POSITION_AHEAD` (kind discontinuity), `FEED_ORDER_CHANGED` (kind invalid). */
function refuseUnfit(position: FeedPosition, latest: Version, spec: FeedSpec): void {
  // Tables whose versions can be taken back: the gap policy answers.
  if (position.version > latest && position.link === undefined) {
    throw new ServiceError({
      code: 'FEED_POSITION_AHEAD',
      kind: 'discontinuity',
      message: `feed "${feedIdOf(spec)}" stands at version ${position.version}, table "${spec.table}" ends at version ${latest}`,
      hint: 'the log of the table was put back to an older state; publish it to another topic',
    });
  }
  const order = rowOrderOf(spec);
  if (position.complete || position.snapshot || position.order === order) return;
  throw new ServiceError({
    code: 'FEED_ORDER_CHANGED',
    kind: 'invalid',
    message: `feed "${feedIdOf(spec)}" stands inside version ${position.version} in the row order of key columns ${position.order}, not of ${order}`,
    hint: 'put the key columns back until the version is published, then change them',
  });
}

function endedError(spec: FeedSpec, cause: unknown): ServiceError {
  return new ServiceError({ code: 'FEED_ENDED', kind: 'aborted', message: `feed "${feedIdOf(spec)}" has ended`, cause });
}

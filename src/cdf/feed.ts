import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { isGap } from '../table/changes-gone.ts';
import { toVersion, type Version } from '../table/version.ts';
import { DrainWaiters } from './drain-waiters.ts';
import { FeedOpening, isStandstill, isTopicChange, isUnlikePublished, type OpenStanding, type Standing } from './feed-opening.ts';
import { endedError, isTransient, openedAgain, tableLossOf, transactionResult, waitsForSchema } from './feed-outcomes.ts';
import type { FeedParts, FeedStatus } from './feed-parts.ts';
import { firstNeededVersion, isCovered, isInSnapshot, positionEvent, samePosition, versionsBehind } from './feed-position.ts';
import { encodeSpecOf, type FeedSpec, feedIdOf, rowOrderOf } from './feed-spec.ts';
import { type FeedEvent, type FeedState, nextFeedState } from './feed-state.ts';
import { isCompacted } from './feed-topics.ts';
import { Heartbeat } from './heartbeat.ts';
import { recordsBeside } from './metadata/records-beside.ts';
import type { VersionRecords } from './metadata/version-records.ts';
import { PositionStore } from './position-store.ts';
import { FeedPublisher } from './publisher.ts';
import { changesStart, type FeedRun, type Prepared, passedGap, RunPreparer, snapshotStart, standingRun } from './run-preparer.ts';
import { SnapshotPace, type SnapshotProgress } from './snapshot-progress.ts';
import { earliestReadable, TableTailer } from './table-tailer.ts';

const topicCheckIntervalMs = 30_000;
const retryPolicy: BackoffPolicy = { initialMs: 200, maxMs: 30_000 };

/**
 * Publishes every row change of one table to one topic, exactly once and in order (docs/spec/feed-state-machine.md). Rows and the
 * position they reach are published in one transaction; while one run is published the next is read and encoded, never more.
 */
export class Feed {
  readonly spec: FeedSpec;
  readonly #parts: FeedParts;
  readonly #tailer: TableTailer;
  readonly #publisher: FeedPublisher;
  readonly #opening: FeedOpening;
  readonly #pace: SnapshotPace;
  readonly #heartbeat: Heartbeat;
  readonly #waiters = new DrainWaiters();
  readonly #beside: readonly VersionRecords[];
  #preparer: RunPreparer | undefined;
  #state: FeedState = 'opening';
  #position: FeedPosition | undefined;
  #latest: Version | undefined;
  #pausedSince: string | undefined;
  #snapshot: SnapshotProgress | undefined;
  #error: unknown;
  #ended = false;
  #checkedMs = 0;

  constructor(parts: FeedParts) {
    const { spec, table, client, subjects, events, clock, ids, failpoint } = parts;
    this.spec = spec;
    this.#parts = parts;
    this.#heartbeat = new Heartbeat(spec, clock);
    this.#beside = recordsBeside(spec, table.format, subjects);
    this.#pace = new SnapshotPace(clock, spec.snapshotMaxRowsPerSecond);
    this.#tailer = new TableTailer({ table, events, pollIntervalMs: spec.pollIntervalMs, where: spec.where });
    const positions = new PositionStore({ client, clock, topic: spec.positionsTopic });
    this.#publisher = new FeedPublisher({ spec, client, clock, positions, ids, failpoint });
    this.#opening = new FeedOpening({
      spec,
      client,
      clock,
      publisher: this.#publisher,
      tailer: this.#tailer,
      onLatest: (latest) => {
        this.#latest = latest;
      },
    });
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
    this.#waiters.end(endedError(this.spec, this.#error));
    return this.status();
  }

  /** Resolves when `untilVersion` is completely published, or the feed is paused; rejects when the feed ends before. */
  drain(untilVersion: Version): Promise<void> {
    if (this.#covers(untilVersion) || this.#state === 'paused') return Promise.resolve();
    return this.#ended ? Promise.reject(endedError(this.spec, this.#error)) : this.#waiters.wait(untilVersion);
  }

  status(): FeedStatus {
    const position = this.#position;
    const latestVersion = this.#latest;
    return {
      feedId: feedIdOf(this.spec),
      name: this.spec.name,
      table: this.spec.table,
      topic: this.spec.topic,
      state: this.#state,
      partitions: this.#opening.partitions,
      position,
      pausedSince: this.#pausedSince,
      snapshot: this.#snapshot,
      latestVersion,
      lagVersions: position === undefined || latestVersion === undefined ? undefined : versionsBehind(position, latestVersion),
      error: this.#error,
    };
  }

  async #keepPublishing(signal: AbortSignal): Promise<void> {
    let rejected: FeedRun | undefined;
    for (;;) {
      const standing = await this.#reopening(signal, () => this.#opening.open(signal));
      if (rejected !== undefined) {
        this.#resolve(rejected, standing.kind === 'known' || standing.kind === 'paused' ? standing.position : undefined);
      }
      if (standing.kind === 'paused') return this.#rest(standing, signal);
      const position = await this.#settle(standing, signal);
      await this.#retrying(signal, () => this.#aim(standing.kind === 'known' ? position : undefined, position.tableId));
      this.#step(positionEvent(position));
      // A compacted topic without records may be one whose records were all deleted, or one that a transaction was aborted in: the position tells which.
      const begins =
        standing.kind === 'new' && (await this.#retrying(signal, () => isCompacted(this.#parts.client.admin, this.spec.topic)));
      rejected = await this.#publishFrom(position, begins ? standingRun(position) : undefined, signal);
    }
  }

  /** Publishes nothing until the signal fires, and tells how far behind it falls. Only a new start finds out that it may go on. */
  async #rest({ position, since }: Standing & { readonly kind: 'paused' }, signal: AbortSignal): Promise<never> {
    this.#position = position;
    this.#pausedSince = since;
    this.#step('paused');
    this.#waiters.end();
    for (;;) {
      const { version } = await this.#retrying(signal, () => this.#tailer.latest(signal));
      this.#latest = version;
      if (position !== undefined) this.#parts.observer.lag(versionsBehind(position, version));
      await this.#retrying(signal, () => this.#tailer.waitPast(version, signal));
      signal.throwIfAborted();
    }
  }

  /** Opens again when a topic changed under the opening, or when its own transaction took too long. */
  async #reopening<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    return this.#retrying(signal, async () => {
      try {
        return await attempt();
      } catch (error) {
        throw isTopicChange(error) || (await this.#timedOut(error, signal)) ? openedAgain(this.spec, error) : error;
      }
    });
  }

  /** Whether what looks like a newer instance was the end of a transaction that took too long. */
  async #timedOut(error: unknown, signal: AbortSignal): Promise<boolean> {
    return isServiceError(error, 'fenced') && (await this.#retrying(signal, () => this.#publisher.timedOut(signal)));
  }

  /** Where to go on; what is lost or replaced is answered by its policy. */
  async #settle(standing: OpenStanding, signal: AbortSignal): Promise<FeedPosition> {
    const { onLostPosition, onTopicReplaced, onTableReplaced } = this.spec;
    const { observer } = this.#parts;
    const { kind } = standing;
    if (kind === 'known') return standing.position;
    if (kind === 'new') return this.#retrying(signal, () => this.#startPosition(signal));
    this.#step(kind);
    if (kind === 'table-replaced') {
      const { position, tableId, error } = standing;
      observer.tableReplaced({ policy: onTableReplaced, error });
      if (onTableReplaced === 'fail') throw error;
      return onTableReplaced === 'resnapshot' ? this.#freshSnapshot(signal, position) : { ...position, tableId };
    }
    if (kind === 'lost') {
      const { found, error } = standing;
      observer.lost({ policy: onLostPosition, error });
      if (onLostPosition === 'fail' || (onLostPosition === 'recover' && found === undefined)) throw error;
      if (onLostPosition === 'resnapshot' || found === undefined) return this.#freshSnapshot(signal);
      observer.recovered(found);
      return found;
    }
    observer.replaced({ policy: onTopicReplaced, error: standing.error });
    if (onTopicReplaced === 'fail') throw standing.error;
    return onTopicReplaced === 'resnapshot' ? this.#freshSnapshot(signal, standing.position) : standing.position;
  }

  /** `stands`: where the feed stood, if that is known. */
  async #freshSnapshot(signal: AbortSignal, stands?: FeedPosition): Promise<FeedPosition> {
    const { tableId, version } = await this.#retrying(signal, () => this.#tailer.latest(signal));
    return snapshotStart({ tableId, order: rowOrderOf(this.spec), schema: stands?.schema }, version);
  }

  /** Publishes run after run until the feed has to be opened again; answers the one whose outcome has to be looked up, if any. */
  async #publishFrom(start: FeedPosition, first: FeedRun | undefined, signal: AbortSignal): Promise<FeedRun | undefined> {
    const stop = new AbortController();
    const encodeSignal = AbortSignal.any([signal, stop.signal]);
    let position = start;
    let ahead: () => Promise<Prepared> = first === undefined ? this.#prepareAhead(position, encodeSignal) : () => Promise.resolve(first);
    try {
      for (;;) {
        const found = await ahead();
        if (this.#state === 'waiting') this.#step(positionEvent(position));
        signal.throwIfAborted();
        if (await this.#topicsChanged(signal)) return undefined;
        const prepared = found.kind === 'idle' && this.#heartbeat.isDue() ? this.#heartbeat.run(position) : found;
        if (prepared.kind === 'table-replaced') {
          this.#openAgain(prepared.error);
          return undefined;
        }
        if (prepared.kind === 'run') {
          this.#step('run');
          this.#pace.begin(position);
          ahead = this.#prepareAhead(prepared.until, encodeSignal);
          if (!(await this.#publish(prepared, signal))) return prepared;
          position = prepared.until;
          this.#step(positionEvent(position));
          if (isInSnapshot(position)) await this.#pace.hold(position, signal);
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
  async #publish(run: FeedRun, signal: AbortSignal): Promise<boolean> {
    const { observer, clock } = this.#parts;
    const startedMs = clock.monotonicMs();
    try {
      await this.#publisher.publish(run);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      observer.transaction(transactionResult(error), clock.monotonicMs() - startedMs);
      if (!isTransient(error) && !isTopicChange(error) && !(await this.#timedOut(error, signal))) throw error;
      this.#openAgain(error);
      return false;
    }
    observer.transaction('committed', clock.monotonicMs() - startedMs);
    this.#published(run);
    return true;
  }

  #openAgain(error: ServiceError): void {
    this.#error = error;
    this.#parts.observer.retried(error);
    this.#step('rejected');
  }

  /** Looks now and then whether the topics still are what they were at the opening; transactions tell for themselves, a feed at rest has none. */
  async #topicsChanged(signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#checkedMs < topicCheckIntervalMs) return false;
    this.#checkedMs = nowMs;
    try {
      await this.#retrying(signal, () => this.#opening.confirm());
      return false;
    } catch (error) {
      if (!isServiceError(error) || !isTopicChange(error)) throw error;
      this.#openAgain(error);
      return true;
    }
  }

  #published(run: FeedRun): void {
    this.#position = run.until;
    this.#error = undefined;
    this.#heartbeat.heard();
    const snapshot = isInSnapshot(run.until) ? this.#pace.progress(run.until, run.snapshotRows) : undefined;
    if (snapshot !== this.#snapshot) this.#parts.observer.snapshot(snapshot);
    this.#snapshot = snapshot;
    const { rowsByOperation, recordCount, sizeBytes } = run;
    const { version, complete } = run.until;
    this.#parts.observer.published({ version, complete, rowsByOperation, recordCount, sizeBytes });
    if (this.#latest !== undefined) this.#parts.observer.lag(versionsBehind(run.until, this.#latest));
    this.#wakeWaiters();
  }

  /** The stored position decides what became of a transaction whose end was not seen. */
  #resolve(rejected: FeedRun, stored: FeedPosition | undefined): void {
    const landed = stored !== undefined && samePosition(stored, rejected.until);
    this.#parts.observer.resolved(landed ? 'landed' : 'absent');
    if (landed) this.#published(rejected);
  }

  /** Makes the feed's topic the one that is written to, and everything ready to read on. */
  async #aim(known: FeedPosition | undefined, tableId: string): Promise<void> {
    const { spec, encoder, table, clock } = this.#parts;
    const { partitions, ofTopic } = await this.#opening.aim();
    if (partitions < ofTopic) this.#parts.observer.partitionsAdded({ partitions, ofTopic });
    await this.#heartbeat.ensureTopic(this.#parts.client.admin);
    for (const records of this.#beside) await records.open(this.#parts.client.admin);
    this.#checkedMs = clock.monotonicMs();
    this.#preparer = new RunPreparer({
      tailer: this.#tailer,
      encoder,
      feedId: feedIdOf(spec),
      spec: encodeSpecOf(spec, { table, tableId, partitions }),
      limits: { maxRows: spec.maxTransactionRows, maxBytes: spec.maxTransactionBytes, maxSnapshotRows: spec.snapshotMaxRowsPerSecond },
      beside: this.#beside,
      onLag: (versions, newest) => {
        this.#latest = newest;
        this.#parts.observer.lag(versions);
      },
    });
    this.#position = known;
    this.#wakeWaiters();
  }

  async #startPosition(signal: AbortSignal): Promise<FeedPosition> {
    const { start } = this.spec;
    const latest = await this.#tailer.latest(signal);
    const identity = { tableId: latest.tableId, order: rowOrderOf(this.spec) };
    if (start.kind === 'snapshot') return snapshotStart(identity, latest.version);
    const first = start.kind === 'version' ? start.version : await earliestReadable(this.#parts.table, signal);
    return changesStart(identity, toVersion(first - 1));
  }

  async #passGap(gap: Prepared & { readonly kind: 'gap' }, signal: AbortSignal): Promise<FeedPosition> {
    const { onGap } = this.spec;
    this.#step('gap');
    this.#parts.observer.gap({ version: firstNeededVersion(gap.at), policy: onGap });
    if (onGap === 'fail') throw gap.error;
    const position = await (onGap === 'skip' ? this.#skipGap(gap, signal) : this.#freshSnapshot(signal, gap.at));
    this.#step(positionEvent(position));
    return position;
  }

  async #skipGap(gap: Prepared & { readonly kind: 'gap' }, signal: AbortSignal): Promise<FeedPosition> {
    const latest = await this.#retrying(signal, () => this.#tailer.latest(signal));
    return passedGap(gap.at, gap.error, latest.version);
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
        if (waitsForSchema(error) && (this.#state === 'following' || this.#state === 'bootstrapping')) this.#step('waits');
        this.#parts.observer.retried(error);
        await this.#parts.clock.sleep(backoffMs(retryPolicy, failures, this.#parts.random), signal);
      }
    }
  }

  #openPreparer(): RunPreparer {
    if (this.#preparer !== undefined) return this.#preparer;
    throw serviceError.internal('ASSERTION_FAILED', 'the feed is open');
  }

  #end(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      this.#step('stop');
      this.#error = undefined;
      return;
    }
    this.#error = error;
    const loss = tableLossOf(error);
    if (isServiceError(error, 'fenced')) this.#step('fenced');
    else if (isUnlikePublished(error)) this.#step('changed');
    else if (loss !== undefined) {
      if (this.#state !== loss) this.#step(loss);
    } else if (isGap(error)) {
      if (this.#state !== 'gap') this.#step('gap');
    } else if (!isStandstill(error) || this.#state === 'opening') this.#step('failed');
  }

  #step(event: FeedEvent): void {
    this.#state = nextFeedState(this.#state, event);
    this.#parts.observer.state(this.#state);
  }

  #covers(version: Version): boolean {
    return this.#position !== undefined && isCovered(version, this.#position);
  }

  #wakeWaiters(): void {
    this.#waiters.reached((version) => this.#covers(version));
  }
}

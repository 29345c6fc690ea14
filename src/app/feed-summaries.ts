import { describeFailure, isServiceError } from '../base/errors.ts';
import { refuseTaken, topicReplaced } from '../cdf/feed-opening.ts';
import { isInSnapshot, type StoredFeed, versionsBehind } from '../cdf/feed-position.ts';
import { type FeedSpec, feedIdOf } from '../cdf/feed-spec.ts';
import { findTopic } from '../cdf/feed-topics.ts';
import { findPublished, positionLost } from '../cdf/published-position.ts';
import { refuseOtherForm } from '../cdf/record-form.ts';
import { type SnapshotProgress, snapshotProgress } from '../cdf/snapshot-progress.ts';
import { problemOf, standingOfTable, type TableNow, type TableStanding } from '../cdf/table-standing.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { ReadableTable } from '../table/table.ts';
import type { Components } from './components.ts';

/** A feed as its settings and the positions topic have it. */
export interface FeedSummary {
  /** `<pipeline>/<table>/<name>`. */
  readonly id: string;
  readonly name: string;
  readonly table: string;
  /** `undefined`: the settings do not have the feed, only the positions topic does. */
  readonly topic: string | undefined;
  /**
   * `new`: nothing was published yet. `snapshot`: in the middle of one. `changes`: publishes, or has published, the changes after `version`.
   * `paused`: by an operator. `lost`, `replaced`, `changed`: as its next start would find it; `table-gone`, `table-replaced`, `gap`: there is no table,
   * another one has its name, or it was put back to before the position. `problem` tells what. `reader`: registered, no feed. `unlisted`: the settings do
   * not have it.
   */
  readonly state: 'new' | 'snapshot' | 'changes' | 'paused' | Obstacle['state'] | TableStanding | 'reader' | 'unlisted';
  /** What stands in the way of the feed's next start, with the cure. */
  readonly problem: string | undefined;
  /** ISO 8601. */
  readonly pausedSince: string | undefined;
  readonly position: FeedPosition | undefined;
  /** Partitions that keys are spread over; the topic may have been given more since. `undefined`: nothing was published, or by an older version of this product. */
  readonly keyPartitions: number | undefined;
  /** Of a feed in state `snapshot`, or paused in one; without speed. */
  readonly snapshot: SnapshotProgress | undefined;
  /** Of the table; `undefined`: it is not there. */
  readonly latestVersion: number | undefined;
  readonly lagVersions: number | undefined;
}

/** What a feed's next start would stand still for. */
interface Obstacle {
  readonly state: 'lost' | 'replaced' | 'changed';
  readonly problem: string;
}

/** As long as a transaction that hangs in a feed's topic is waited for. */
const lookTimeoutMs = 10_000;

export interface FeedSummariesParts extends Pick<Components, 'kafka' | 'clock'> {
  readonly catalog: { load(name: string, signal?: AbortSignal): Promise<ReadableTable> };
}

/** Tells where feeds stand: what is stored of them, and what their topics and tables are like now. */
export class FeedSummaries {
  readonly #parts: FeedSummariesParts;

  constructor(parts: FeedSummariesParts) {
    this.#parts = parts;
  }

  /** Of a feed of the settings. `all`: what is stored, by feed id. */
  async of(spec: FeedSpec, all: ReadonlyMap<string, StoredFeed>, signal?: AbortSignal): Promise<FeedSummary> {
    const id = feedIdOf(spec);
    const { stored: own, pausedSince } = all.get(id) ?? {};
    const position = own?.position;
    const now = await this.#tableNow(spec.table, signal);
    const latestVersion = now?.newest.version;
    const obstacle = await this.#obstacleOf(spec, all, signal);
    const standing = position === undefined ? undefined : await standingOfTable(now, position, signal);
    const going = position === undefined ? 'new' : isInSnapshot(position) ? 'snapshot' : 'changes';
    return {
      id,
      name: spec.name,
      table: spec.table,
      topic: spec.topic,
      state: pausedSince === undefined ? (obstacle?.state ?? standing ?? going) : 'paused',
      problem: obstacle?.problem ?? (standing === undefined ? undefined : problemOf(standing, spec.table)),
      pausedSince,
      position,
      keyPartitions: spec.keyColumns.length === 0 ? undefined : own?.partitions,
      snapshot: await this.#progress(spec.table, position, signal),
      latestVersion,
      lagVersions: position === undefined || latestVersion === undefined ? undefined : versionsBehind(position, latestVersion),
    };
  }

  /** What the next start of a feed would stand still for. */
  async #obstacleOf(spec: FeedSpec, all: ReadonlyMap<string, StoredFeed>, signal: AbortSignal | undefined): Promise<Obstacle | undefined> {
    const { kafka: client, clock } = this.#parts;
    const own = all.get(feedIdOf(spec))?.stored;
    const topic = await findTopic(client.admin, spec.topic);
    const as = (state: Obstacle['state'], error: Error): Obstacle => ({ state, problem: describeFailure(error) });
    try {
      refuseTaken(spec, { all, topicId: topic?.topicId });
      if (own !== undefined && own.topicId !== undefined && own.topicId !== topic?.topicId)
        return as('replaced', topicReplaced(spec, { position: own.position, was: own.topicId, is: topic?.topicId }));
      if (own?.form !== undefined) refuseOtherForm(spec, own.form);
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      return as('changed', error);
    }
    if (own !== undefined || topic === undefined) return undefined;
    const within = AbortSignal.any([AbortSignal.timeout(lookTimeoutMs), ...(signal === undefined ? [] : [signal])]);
    try {
      const found = await findPublished({ client, clock, spec }, within);
      return found.kind === 'nothing' ? undefined : as('lost', positionLost(spec, found, 'has no position of it'));
    } catch (error) {
      // A transaction that hangs in the topic: nothing is known.
      if (within.aborted && signal?.aborted !== true) return undefined;
      throw error;
    }
  }

  /** Of what the settings do not have. */
  async unlisted(id: string, { stored, pausedSince }: StoredFeed, signal?: AbortSignal): Promise<FeedSummary> {
    const { table, name } = namesIn(id);
    const position = stored?.position;
    const latestVersion = (await this.#tableNow(table, signal))?.newest.version;
    return {
      id,
      name,
      table,
      topic: undefined,
      state: isReader(stored) ? 'reader' : 'unlisted',
      problem: undefined,
      pausedSince,
      position,
      keyPartitions: undefined,
      snapshot: undefined,
      latestVersion,
      lagVersions: position === undefined || latestVersion === undefined ? undefined : versionsBehind(position, latestVersion),
    };
  }

  async #progress(
    table: string,
    position: FeedPosition | undefined,
    signal: AbortSignal | undefined,
  ): Promise<SnapshotProgress | undefined> {
    if (position === undefined || !isInSnapshot(position)) return undefined;
    try {
      const opened = await this.#parts.catalog.load(table, signal);
      return snapshotProgress(position, (await opened.snapshotAt(position.version, signal)).rowCount);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return snapshotProgress(position, undefined);
    }
  }

  /** `undefined`: it is not there. */
  async #tableNow(name: string, signal: AbortSignal | undefined): Promise<TableNow | undefined> {
    try {
      const table = await this.#parts.catalog.load(name, signal);
      return { table, newest: await table.refresh(signal) };
    } catch (error) {
      if (isServiceError(error, 'not-found', 'discontinuity')) return undefined;
      throw error;
    }
  }
}

/** What the id of a feed says beside its pipeline. */
export function namesIn(id: string): Pick<FeedSummary, 'id' | 'name' | 'table'> {
  const [, table = '', name = ''] = id.split('/');
  return { id, table, name };
}

/** A reader publishes nothing: its position speaks of no topic and no keys. */
function isReader(stored: StoredFeed['stored']): boolean {
  return stored !== undefined && stored.topicId === undefined && stored.form === undefined && stored.position.order === '[]';
}

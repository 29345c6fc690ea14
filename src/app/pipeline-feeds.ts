import { describeFailure, isServiceError, serviceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { refuseTaken, topicReplaced } from '../cdf/feed-opening.ts';
import { FeedOperator, type OperatedFeed } from '../cdf/feed-operator.ts';
import { type StoredFeed, versionsBehind } from '../cdf/feed-position.ts';
import { type FeedReset, planReset, type ResetTarget } from '../cdf/feed-reset.ts';
import { type FeedSpec, feedIdOf, feedSpecsOf } from '../cdf/feed-spec.ts';
import { findTopic } from '../cdf/feed-topics.ts';
import type { FeedAct } from '../cdf/position-store.ts';
import { findPublished, positionLost } from '../cdf/published-position.ts';
import { refuseOtherForm } from '../cdf/record-form.ts';
import { changesStart } from '../cdf/run-preparer.ts';
import type { FeedSettings } from '../cdf/settings.ts';
import { type SnapshotProgress, snapshotProgress } from '../cdf/snapshot-progress.ts';
import { problemOf, standingOfTable, type TableNow, type TableStanding } from '../cdf/table-standing.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { ReadableTable } from '../table/table.ts';
import { toVersion } from '../table/version.ts';
import type { Components } from './components.ts';
import { noteReaders } from './reader-notes.ts';

export type { FeedReset, ResetTarget, VersionRange } from '../cdf/feed-reset.ts';

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

/** What an act on a feed did or, as a dry run, would do. */
export interface FeedActReport {
  readonly id: string;
  readonly act: FeedAct;
  readonly outcome: 'done' | 'planned' | 'nothing-to-do';
  /** Only of `reset`. */
  readonly reset: FeedReset | undefined;
}

export interface FeedActOptions {
  /** Says what would be done and does nothing. Default: false. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface PipelineFeedsParts extends Pick<Components, 'config' | 'kafka' | 'clock' | 'ids'> {
  readonly catalog: { load(name: string, signal?: AbortSignal): Promise<ReadableTable> };
  /** What readers of a table need has changed. */
  readonly noteReaders: (table: string) => Promise<unknown>;
}

export function pipelineFeedsOf(components: Components): PipelineFeeds {
  return new PipelineFeeds({ ...components, noteReaders: (table) => noteReaders(components, table) });
}

/**
 * The feeds of a pipeline, for those who operate it. Every act is stored in the positions topic, whether the pipeline runs or not: a process that
 * publishes the feed obeys within a second or two, and nothing that it does after the act counts.
 *
 * A feed is called by its name, by `<table>/<name>`, or by its table where that has one feed.
 *
 * @throws ServiceError `FEED_UNKNOWN` (invalid) for what is none, `FEED_RESET_INVALID`, `FEED_LISTED` (invalid), and kind `unavailable` when the
 * broker does not answer.
 */
export class PipelineFeeds {
  readonly #parts: PipelineFeedsParts;
  readonly #operator: FeedOperator;

  constructor(parts: PipelineFeedsParts) {
    this.#parts = parts;
    this.#operator = new FeedOperator({ client: parts.kafka, clock: parts.clock, ids: parts.ids });
  }

  /** Those of the settings, then those that only have a position. */
  async list(signal?: AbortSignal): Promise<readonly FeedSummary[]> {
    const { positionsTopic, pipeline } = this.#parts.config;
    const stored = await this.#operator.stored(positionsTopic, signal);
    const listed = await Promise.all(this.#specs.map((spec) => this.#summary(spec, stored, signal)));
    const known = new Set(listed.map(({ id }) => id));
    const others = [...stored.keys()].filter((id) => id.startsWith(`${pipeline}/`) && !known.has(id));
    return [...listed, ...(await Promise.all(others.map((id) => this.#unlisted(id, stored.get(id), signal))))];
  }

  /** `settings`: of a feed that has some; a registered reader has none. */
  async describe(
    feed: string,
    signal?: AbortSignal,
  ): Promise<{ readonly summary: FeedSummary; readonly settings: FeedSettings | undefined }> {
    const others = this.#specsCalled(feed).length === 1 ? [] : await this.list(signal);
    const [other, ...more] = others.filter(({ id, name, table, topic }) => topic === undefined && calls(feed, { id, name, table }));
    if (other !== undefined && more.length === 0) return { summary: other, settings: undefined };
    const spec = this.#specOf(feed);
    const summary = await this.#summary(spec, await this.#operator.stored(spec.positionsTopic, signal), signal);
    return { summary, settings: spec };
  }

  /** Nothing of the feed is published until it is resumed; what it still needs is kept meanwhile. */
  pause(feed: string, options: FeedActOptions = {}): Promise<FeedActReport> {
    return this.#turn(feed, 'pause', options);
  }

  resume(feed: string, options: FeedActOptions = {}): Promise<FeedActReport> {
    return this.#turn(feed, 'resume', options);
  }

  /** The feed goes on somewhere else; what it published stays in its topic. One that is paused stays so. */
  async reset(feed: string, target: ResetTarget, { dryRun = false, signal }: FeedActOptions = {}): Promise<FeedActReport> {
    const spec = this.#specOf(feed);
    const { position } = await this.#stored(spec, signal);
    const table = await this.#parts.catalog.load(spec.table, signal);
    const reset = await planReset({ spec, table, target, from: position }, signal);
    await this.#refuseTaken(spec, signal);
    if (!dryRun) await this.#noted(spec.table, this.#operator.reset(spec, reset.to, signal));
    return { ...report(spec, 'reset', dryRun ? 'planned' : 'done'), reset };
  }

  /**
   * Gives a feed of the settings the position of another name of it, that the settings do not have any more. `from`: its id.
   *
   * @throws ServiceError `FEED_LISTED` (invalid) when the settings have the old name, `FEED_RENAME_INVALID` (invalid) when the new one has a position.
   */
  async rename(from: string, to: string, { dryRun = false, signal }: FeedActOptions = {}): Promise<FeedActReport> {
    const old = await this.#unlistedFeed(from, 'and publishes under that name', signal);
    const spec = this.#specOf(to);
    const all = await this.#operator.stored(spec.positionsTopic, signal);
    const stored = all.get(feedIdOf(old));
    const problem =
      old.table === spec.table
        ? all.has(feedIdOf(spec))
          ? `feed "${feedIdOf(spec)}" has a position of its own`
          : undefined
        : `"${feedIdOf(old)}" and "${feedIdOf(spec)}" are of several tables`;
    if (problem !== undefined || stored === undefined)
      throw serviceError.invalid('FEED_RENAME_INVALID', problem ?? `feed "${feedIdOf(old)}" has no position`, {
        hint: 'a feed is renamed before its new name publishes; "tidewater feeds drop" forgets a position that nobody needs',
      });
    if (!dryRun) await this.#noted(spec.table, this.#operator.rename(old, spec, stored, signal));
    return report(old, 'rename', dryRun ? 'planned' : 'done');
  }

  /**
   * Keeps the changes of a table from a version on for a reader that is no feed, such as a job of another engine; to be called again as it moves forward.
   * `drop` ends it.
   *
   * @throws ServiceError `FEED_LISTED` (invalid) when a feed of the settings has the name, `FEED_READER_INVALID` (invalid) for other characters in it,
   *   and for a version that the table does not have and that is not its next one.
   */
  async register(
    table: string,
    reader: string,
    fromVersion: number,
    { dryRun = false, signal }: FeedActOptions = {},
  ): Promise<FeedActReport> {
    const { pipeline, positionsTopic } = this.#parts.config;
    const operated: OperatedFeed = { pipeline, table, name: reader, positionsTopic, replicationFactor: undefined };
    if (!/^[\w.-]{1,249}$/.test(reader))
      throw serviceError.invalid('FEED_READER_INVALID', `"${reader}" is no name of a reader`, {
        hint: 'letters, digits, dots, hyphens and underscores',
      });
    if (this.#specs.some((spec) => feedIdOf(spec) === feedIdOf(operated)))
      throw serviceError.invalid('FEED_LISTED', `feed "${feedIdOf(operated)}" is in the settings`, {
        hint: 'take another name for the reader',
      });
    const { tableId, version: latest } = await (await this.#parts.catalog.load(table, signal)).refresh(signal);
    if (fromVersion > latest + 1)
      throw serviceError.invalid(
        'FEED_READER_INVALID',
        `reader "${reader}" cannot read on from version ${fromVersion}: table "${table}" ends at version ${latest}`,
        {
          hint: `--from ${latest + 1} keeps what comes next`,
        },
      );
    const position = changesStart({ tableId, order: '[]' }, toVersion(fromVersion - 1));
    if (!dryRun) await this.#noted(table, this.#operator.register(operated, position, signal));
    return report(operated, 'register', dryRun ? 'planned' : 'done');
  }

  /** Forgets the position of a feed that the settings do not have any more. `feed`: its id. */
  async drop(feed: string, { dryRun = false, signal }: FeedActOptions = {}): Promise<FeedActReport> {
    const operated = await this.#unlistedFeed(feed, 'and would be lost without its position', signal);
    if (!dryRun) await this.#noted(operated.table, this.#operator.drop(operated, signal));
    return report(operated, 'drop', dryRun ? 'planned' : 'done');
  }

  /** One that has a position and is not in the settings. */
  async #unlistedFeed(feed: string, otherwise: string, signal: AbortSignal | undefined): Promise<OperatedFeed> {
    const { pipeline, positionsTopic } = this.#parts.config;
    const found = (await this.list(signal)).filter((summary) => calls(feed, summary));
    const [summary] = found;
    if (summary === undefined || found.length > 1)
      throw this.#unknown(
        feed,
        found.map(({ id }) => id),
      );
    if (summary.topic !== undefined) {
      throw serviceError.invalid('FEED_LISTED', `feed "${summary.id}" is in the settings, ${otherwise}`, {
        hint: 'take it out of the settings of all processes first; to begin anew, reset it',
      });
    }
    const { table, name } = summary;
    return { pipeline, table, name, positionsTopic, replicationFactor: undefined };
  }

  async #noted(table: string, act: Promise<void>): Promise<void> {
    await act;
    await this.#parts.noteReaders(table);
  }

  async #refuseTaken(spec: FeedSpec, signal: AbortSignal | undefined): Promise<void> {
    const topicId = (await findTopic(this.#parts.kafka.admin, spec.topic))?.topicId;
    const all = new Map(await this.#operator.stored(spec.positionsTopic, signal));
    if (all.get(feedIdOf(spec))?.stored === undefined) refuseTaken(spec, { all, topicId });
  }

  async #turn(feed: string, act: 'pause' | 'resume', { dryRun = false, signal }: FeedActOptions): Promise<FeedActReport> {
    const spec = this.#specOf(feed);
    const { pausedSince } = await this.#stored(spec, signal);
    if ((pausedSince !== undefined) === (act === 'pause')) return report(spec, act, 'nothing-to-do');
    if (!dryRun) await this.#operator[act](spec, signal);
    return report(spec, act, dryRun ? 'planned' : 'done');
  }

  get #specs(): readonly FeedSpec[] {
    return feedSpecsOf(this.#parts.config);
  }

  #specOf(feed: string): FeedSpec {
    const found = this.#specsCalled(feed);
    const [spec] = found;
    if (spec === undefined || found.length > 1) throw this.#unknown(feed, found.map(feedIdOf));
    return spec;
  }

  #specsCalled(feed: string): readonly FeedSpec[] {
    const specs = this.#specs;
    const named = specs.filter((spec) => calls(feed, { id: feedIdOf(spec), ...spec }));
    return named.length > 0 ? named : specs.filter(({ table }) => table === feed);
  }

  #unknown(feed: string, several: readonly string[]): Error {
    if (several.length > 1)
      return serviceError.invalid('FEED_UNKNOWN', `"${feed}" are several feeds: ${several.join(', ')}`, { hint: 'name one of them' });
    const names = this.#specs.map(({ name }) => name);
    const nearest = nearestName(feed, names);
    const hint = nearest === undefined ? `there are ${names.join(', ')}` : `did you mean "${nearest}"?`;
    return serviceError.invalid('FEED_UNKNOWN', `no feed is called "${feed}"`, {
      hint: names.length === 0 ? 'the settings have none' : hint,
    });
  }

  async #stored(
    spec: FeedSpec,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly position: FeedPosition | undefined; readonly pausedSince: string | undefined }> {
    const stored = (await this.#operator.stored(spec.positionsTopic, signal)).get(feedIdOf(spec));
    return { position: stored?.stored?.position, pausedSince: stored?.pausedSince };
  }

  async #summary(
    spec: FeedSpec,
    stored: Awaited<ReturnType<FeedOperator['stored']>>,
    signal: AbortSignal | undefined,
  ): Promise<FeedSummary> {
    const id = feedIdOf(spec);
    const { stored: own, pausedSince } = stored.get(id) ?? {};
    const position = own?.position;
    const now = await this.#tableNow(spec.table, signal);
    const latestVersion = now?.newest.version;
    const obstacle = await this.#obstacleOf(spec, stored, signal);
    const standing = position === undefined ? undefined : await standingOfTable(now, position, signal);
    const going = position === undefined ? 'new' : position.snapshot && !position.complete ? 'snapshot' : 'changes';
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

  async #unlisted(id: string, found: StoredFeed | undefined, signal: AbortSignal | undefined): Promise<FeedSummary> {
    const [, table = '', name = ''] = id.split('/');
    const { stored, pausedSince } = found ?? {};
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
    if (position?.snapshot !== true || position.complete) return undefined;
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

function report(feed: Pick<FeedSpec, 'pipeline' | 'table' | 'name'>, act: FeedAct, outcome: FeedActReport['outcome']): FeedActReport {
  return { id: feedIdOf(feed), act, outcome, reset: undefined };
}

/** A reader publishes nothing: its position speaks of no topic and no keys. */
function isReader(stored: StoredFeed['stored']): boolean {
  return stored !== undefined && stored.topicId === undefined && stored.form === undefined && stored.position.order === '[]';
}

function calls(feed: string, { id, name, table }: Pick<FeedSummary, 'id' | 'name' | 'table'>): boolean {
  return [id, name, `${table}/${name}`].includes(feed);
}

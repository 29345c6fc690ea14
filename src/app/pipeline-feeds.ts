import { serviceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { refuseTaken } from '../cdf/feed-opening.ts';
import { FeedOperator, type OperatedFeed } from '../cdf/feed-operator.ts';
import type { StoredFeed } from '../cdf/feed-position.ts';
import { type FeedReset, planReset, type ResetTarget } from '../cdf/feed-reset.ts';
import { type FeedSpec, feedIdOf, feedSpecsOf } from '../cdf/feed-spec.ts';
import { findTopic } from '../cdf/feed-topics.ts';
import type { FeedAct } from '../cdf/position-store.ts';
import { changesStart } from '../cdf/run-preparer.ts';
import type { FeedSettings } from '../cdf/settings.ts';
import { toVersion } from '../table/version.ts';
import type { Components } from './components.ts';
import { FeedSummaries, type FeedSummariesParts, type FeedSummary, namesIn } from './feed-summaries.ts';
import { noteReaders } from './reader-notes.ts';

export type { FeedReset, ResetTarget, VersionRange } from '../cdf/feed-reset.ts';

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

interface PipelineFeedsParts extends FeedSummariesParts, Pick<Components, 'config' | 'ids'> {
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
  readonly #summaries: FeedSummaries;

  constructor(parts: PipelineFeedsParts) {
    this.#parts = parts;
    this.#operator = new FeedOperator({ client: parts.kafka, clock: parts.clock, ids: parts.ids });
    this.#summaries = new FeedSummaries(parts);
  }

  /** Those of the settings, then those that only have a position. */
  async list(signal?: AbortSignal): Promise<readonly FeedSummary[]> {
    const all = await this.#stored(signal);
    const listed = this.#specs.map((spec) => this.#summaries.of(spec, all, signal));
    const others = [...this.#unlisted(all)].map(([id, stored]) => this.#summaries.unlisted(id, stored, signal));
    return Promise.all([...listed, ...others]);
  }

  /** `settings`: of a feed that has some; a registered reader has none. */
  async describe(
    feed: string,
    signal?: AbortSignal,
  ): Promise<{ readonly summary: FeedSummary; readonly settings: FeedSettings | undefined }> {
    const all = await this.#stored(signal);
    const others = this.#specsCalled(feed).length === 1 ? [] : [...this.#unlisted(all)].filter(([id]) => calls(feed, namesIn(id)));
    const [other, ...more] = others;
    if (other !== undefined && more.length === 0) return { summary: await this.#summaries.unlisted(...other, signal), settings: undefined };
    const spec = this.#specOf(feed);
    return { summary: await this.#summaries.of(spec, all, signal), settings: spec };
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
    const all = await this.#stored(signal);
    const stored = all.get(feedIdOf(spec))?.stored;
    const table = await this.#parts.catalog.load(spec.table, signal);
    const reset = await planReset({ spec, table, target, from: stored?.position }, signal);
    if (stored === undefined) refuseTaken(spec, { all, topicId: (await findTopic(this.#parts.kafka.admin, spec.topic))?.topicId });
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
    const all = await this.#stored(signal);
    const stored = all.get(feedIdOf(old));
    if (old.table !== spec.table) throw renameInvalid(`"${feedIdOf(old)}" and "${feedIdOf(spec)}" are of several tables`);
    if (all.has(feedIdOf(spec))) throw renameInvalid(`feed "${feedIdOf(spec)}" has a position of its own`);
    if (stored === undefined) throw renameInvalid(`feed "${feedIdOf(old)}" has no position`);
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
    const listed = this.#specs.map(feedIdOf);
    const found = [...listed, ...this.#unlisted(await this.#stored(signal)).keys()].filter((id) => calls(feed, namesIn(id)));
    const [id] = found;
    if (id === undefined || found.length > 1) throw this.#unknown(feed, found);
    if (listed.includes(id)) {
      throw serviceError.invalid('FEED_LISTED', `feed "${id}" is in the settings, ${otherwise}`, {
        hint: 'take it out of the settings of all processes first; to begin anew, reset it',
      });
    }
    const { table, name } = namesIn(id);
    return { pipeline, table, name, positionsTopic, replicationFactor: undefined };
  }

  async #noted(table: string, act: Promise<void>): Promise<void> {
    await act;
    await this.#parts.noteReaders(table);
  }

  async #turn(feed: string, act: 'pause' | 'resume', { dryRun = false, signal }: FeedActOptions): Promise<FeedActReport> {
    const spec = this.#specOf(feed);
    const pausedSince = (await this.#stored(signal)).get(feedIdOf(spec))?.pausedSince;
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

  #stored(signal: AbortSignal | undefined): Promise<ReadonlyMap<string, StoredFeed>> {
    return this.#operator.stored(this.#parts.config.positionsTopic, signal);
  }

  /** What is stored of this pipeline that the settings do not have. */
  #unlisted(all: ReadonlyMap<string, StoredFeed>): ReadonlyMap<string, StoredFeed> {
    const listed = new Set(this.#specs.map(feedIdOf));
    return new Map([...all].filter(([id]) => id.startsWith(`${this.#parts.config.pipeline}/`) && !listed.has(id)));
  }
}

function report(feed: Pick<FeedSpec, 'pipeline' | 'table' | 'name'>, act: FeedAct, outcome: FeedActReport['outcome']): FeedActReport {
  return { id: feedIdOf(feed), act, outcome, reset: undefined };
}

function calls(feed: string, { id, name, table }: Pick<FeedSummary, 'id' | 'name' | 'table'>): boolean {
  return [id, name, `${table}/${name}`].includes(feed);
}

function renameInvalid(problem: string): Error {
  return serviceError.invalid('FEED_RENAME_INVALID', problem, {
    hint: 'a feed is renamed before its new name publishes; "tidewater feeds drop" forgets a position that nobody needs',
  });
}

import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { kafkaDestinationReplaced } from '../kafka/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { Snapshot } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import type { StoredFeed, StoredPosition } from './feed-position.ts';
import { type FeedSpec, feedIdOf, rowOrderOf } from './feed-spec.ts';
import {
  ensureFeedTopic,
  ensurePositionsTopic,
  type FeedPartitions,
  type FeedTopic,
  findTopic,
  refuseUnfitForTruncations,
} from './feed-topics.ts';
import { covers, findPublished, positionLost } from './published-position.ts';
import type { FeedPublisher } from './publisher.ts';
import { refuseOtherForm } from './record-form.ts';
import { feedTableReplaced } from './run-preparer.ts';
import type { TableTailer } from './table-tailer.ts';

/** Where a feed stands when it is opened. */
export type Standing =
  | { readonly kind: 'known'; readonly position: FeedPosition }
  /** An operator said that nothing is to be published. */
  | { readonly kind: 'paused'; readonly position: FeedPosition | undefined; readonly since: string }
  /** Nothing was ever published. */
  | { readonly kind: 'new' }
  /** The position is gone; `found` is where the topic's records say it was, if they tell for certain. */
  | { readonly kind: 'lost'; readonly found: FeedPosition | undefined; readonly error: ServiceError }
  /** The position is of a topic that does not exist any more. */
  | { readonly kind: 'replaced'; readonly position: FeedPosition; readonly error: ServiceError }
  /** The position is of another table than the one that has the name, which is `tableId`. */
  | { readonly kind: 'table-replaced'; readonly position: FeedPosition; readonly tableId: string; readonly error: ServiceError };

/** Where a feed stands that is to be published. */
export type OpenStanding = Exclude<Standing, { readonly kind: 'paused' }>;

const standstillCodes: readonly string[] = ['FEED_POSITION_LOST', 'FEED_TOPIC_REPLACED'];
const unlikeCodes: readonly string[] = ['FEED_ORDER_CHANGED', 'FEED_KEYS_CHANGED', 'FEED_VALUES_CHANGED', 'FEED_TOPIC_TAKEN'];
const topicChangeCodes: readonly string[] = ['KAFKA_DESTINATION_REPLACED', 'KAFKA_DESTINATION_NOT_FOUND', 'KAFKA_TOPIC_NOT_FOUND'];

/** True for an error that only a policy of the feed can answer. */
export function isStandstill(error: unknown): boolean {
  return isServiceError(error) && standstillCodes.includes(error.code);
}

/** True for what the broker says when a topic is not (any more) what it was at the opening. Opening again finds out what became of it. */
export function isTopicChange(error: unknown): error is ServiceError {
  return isServiceError(error) && topicChangeCodes.includes(error.code);
}

interface FeedOpeningParts {
  readonly spec: FeedSpec;
  readonly client: KafkaClient;
  readonly clock: Clock;
  readonly publisher: FeedPublisher;
  readonly tailer: TableTailer;
  readonly onLatest: (latest: Version) => void;
}

/** True for an error that tells that what follows would not be as what is published is. */
export function isUnlikePublished(error: unknown): boolean {
  return isServiceError(error) && unlikeCodes.includes(error.code);
}

/** Finds out where a feed stands: in the positions topic, and whether that still speaks of the topics there are. */
export class FeedOpening {
  readonly #options: FeedOpeningParts;
  #positionsTopicId: string | undefined;
  #topicId: string | undefined;
  #storedPartitions: number | undefined;
  #partitions: FeedPartitions | undefined;

  constructor(options: FeedOpeningParts) {
    this.#options = options;
  }

  /**
   * Fences earlier instances and reads the position.
   *
   * @throws ServiceError `FEED_POSITIONS_NOT_COMPACTED`, `FEED_POSITION_AHEAD`, those of `isUnlikePublished`; as `FeedPublisher.open` and
   *   `isTopicChange`.
   */
  async open(signal: AbortSignal): Promise<Standing> {
    const { spec, publisher, tailer, client } = this.#options;
    this.#positionsTopicId = await ensurePositionsTopic(client.admin, spec);
    const all = await publisher.open(this.#positionsTopicId, signal);
    const { stored, pausedSince } = all.get(feedIdOf(spec)) ?? {};
    const topic = await findTopic(client.admin, spec.topic);
    const latest = await tailer.latest(signal);
    this.#options.onLatest(latest.version);
    if (pausedSince !== undefined) return { kind: 'paused', position: stored?.position, since: pausedSince };
    refuseTaken(spec, { all, topicId: topic?.topicId });
    const standing = await this.#standingOf(stored, topic, signal);
    this.#storedPartitions = standing.kind === 'known' ? stored?.partitions : undefined;
    const found = this.#asTableIs(standing, latest);
    const goesOn = found.kind === 'known' || (found.kind === 'table-replaced' && spec.onTableReplaced === 'continue');
    if (standing.kind === 'known' && goesOn && stored?.form !== undefined) refuseOtherForm(spec, stored.form);
    return found;
  }

  /** What stands in the way of a feed that is to go on where it stood: that the table is another one, or that the position does not fit it. */
  #asTableIs(standing: OpenStanding, { tableId, version }: Pick<Snapshot, 'tableId' | 'version'>): OpenStanding {
    const { spec } = this.#options;
    const { onLostPosition, onTopicReplaced, onTableReplaced } = spec;
    const { kind } = standing;
    if (kind === 'new' || kind === 'table-replaced') return standing;
    const position = kind === 'lost' ? standing.found : standing.position;
    // What the broker lost is told first, and answered by its own policy.
    const standsStill = (kind === 'lost' && onLostPosition === 'fail') || (kind === 'replaced' && onTopicReplaced === 'fail');
    if (position === undefined || standsStill) return standing;
    const isOther = position.tableId !== tableId;
    const leftBehind = (kind === 'lost' && onLostPosition !== 'recover') || (kind === 'replaced' && onTopicReplaced !== 'continue');
    if (!leftBehind && (!isOther || onTableReplaced === 'continue')) refuseUnfit(position, version, spec);
    return isOther ? { kind: 'table-replaced', position, tableId, error: feedTableReplaced(position, tableId, spec.table) } : standing;
  }

  /** Of the topic that is written to, as of the newest look; `undefined`: it was not aimed at. */
  get partitions(): FeedPartitions | undefined {
    return this.#partitions;
  }

  /** Creates the feed's topic if it is missing and makes it the one that is written to: keys over the partitions that they were spread over before. */
  async aim(): Promise<FeedPartitions> {
    const { client, spec, publisher } = this.#options;
    const { topicId, partitions: ofTopic } = await ensureFeedTopic(client.admin, spec);
    this.#topicId = topicId;
    const partitions = spec.keyColumns.length === 0 ? ofTopic : Math.min(this.#storedPartitions ?? ofTopic, ofTopic);
    await refuseUnfitForTruncations(client.admin, spec, partitions);
    publisher.aimAt({ topicId, partitions });
    this.#partitions = { partitions, ofTopic };
    return this.#partitions;
  }

  /** @throws ServiceError `KAFKA_DESTINATION_REPLACED`, `FEED_POSITIONS_NOT_COMPACTED`. */
  async confirm(): Promise<void> {
    const { admin } = this.#options.client;
    const { topic, positionsTopic } = this.#options.spec;
    const found = await findTopic(admin, topic);
    refuseOther(topic, this.#topicId, found?.topicId);
    if (found !== undefined && this.#partitions !== undefined) this.#partitions = { ...this.#partitions, ofTopic: found.partitions };
    const positions = await findTopic(admin, positionsTopic);
    refuseOther(positionsTopic, this.#positionsTopicId, positions?.topicId);
    await ensurePositionsTopic(admin, this.#options.spec);
  }

  async #standingOf(stored: StoredPosition | undefined, topic: FeedTopic | undefined, signal: AbortSignal): Promise<OpenStanding> {
    const moved = stored?.positionsTopicId !== undefined && stored.positionsTopicId !== this.#positionsTopicId;
    if (stored === undefined || moved) {
      const lost = topic === undefined ? undefined : await this.#lossOf(stored, signal);
      if (lost !== undefined) return lost;
      if (stored === undefined) return { kind: 'new' };
    }
    const { position, topicId } = stored;
    if (topic !== undefined && (topicId === undefined || topic.topicId === undefined || topicId === topic.topicId)) {
      return { kind: 'known', position };
    }
    // The keys of the topic that is gone bind nobody.
    return {
      kind: 'replaced',
      position: { ...position, keys: undefined },
      error: topicReplaced(this.#options.spec, { position, was: topicId, is: topic?.topicId }),
    };
  }

  /** What was published decides whether a missing position, or one that came from another positions topic, is a loss. */
  async #lossOf(stored: StoredPosition | undefined, signal: AbortSignal): Promise<OpenStanding | undefined> {
    const found = await findPublished({ client: this.#options.client, clock: this.#options.clock, spec: this.#options.spec }, signal);
    if (found.kind === 'nothing') return undefined;
    if (stored !== undefined && found.kind === 'found' && covers(stored.position, found.position)) return undefined;
    const held = stored === undefined ? 'has no position of it' : 'was made anew and holds an older position of it';
    const error = positionLost(this.#options.spec, found, held);
    return { kind: 'lost', found: found.kind === 'found' ? found.position : undefined, error };
  }
}

function refuseOther(topic: string, meant: string | undefined, found: string | undefined): void {
  if (meant !== undefined && found !== meant) throw kafkaDestinationReplaced(topic, { meant, found });
}

/**
 * Two names of one feed would publish every change twice: a topic is the feed's that has a position in it, or the position that is ahead.
 *
 * @throws ServiceError `FEED_TOPIC_TAKEN` (kind invalid).
 */
export function refuseTaken(
  spec: Pick<FeedSpec, 'pipeline' | 'table' | 'name' | 'topic'>,
  { all, topicId }: { readonly all: ReadonlyMap<string, StoredFeed>; readonly topicId: string | undefined },
): void {
  const id = feedIdOf(spec);
  const own = all.get(id)?.stored;
  for (const [other, { stored }] of all) {
    const isNamesake = other !== id && other.startsWith(feedIdOf({ ...spec, name: '' }));
    if (!isNamesake || topicId === undefined || stored?.topicId !== topicId) continue;
    if (own !== undefined && (own.topicId ?? topicId) === topicId && covers(own.position, stored.position)) continue;
    throw serviceError.invalid(
      'FEED_TOPIC_TAKEN',
      `feed "${id}": topic "${spec.topic}" has the records of feed "${other}", of the same table`,
      {
        hint: `where it is the new name of that feed: take the old name out of the settings of all processes, then "tidewater feeds rename ${other} ${spec.name}"; where it is another feed, give it a topic of its own`,
      },
    );
  }
}

/** The state of a feed whose topic is not the one that its position speaks of. */
export function topicReplaced(
  spec: FeedSpec,
  what: { readonly position: FeedPosition; readonly was: string | undefined; readonly is: string | undefined },
): ServiceError {
  const became = what.is === undefined ? 'does not exist any more' : `was deleted and made anew: it is ${what.is}, not ${what.was ?? '?'}`;
  return serviceError.discontinuity(
    'FEED_TOPIC_REPLACED',
    `feed "${feedIdOf(spec)}" stands at version ${what.position.version}, and topic "${spec.topic}" ${became}`,
    {
      hint: 'choose how the feed goes on: "onTopicReplaced: resnapshot" publishes the current rows to the new topic, "onTopicReplaced: continue" only what comes after the position',
    },
  );
}

/** @throws ServiceError `FEED_POSITION_AHEAD` (kind discontinuity), `FEED_ORDER_CHANGED` (kind invalid). */
function refuseUnfit(position: FeedPosition, latest: Version, spec: FeedSpec): void {
  // Tables whose versions can be taken back: the gap policy answers.
  if (position.version > latest && position.link === undefined) {
    throw serviceError.discontinuity(
      'FEED_POSITION_AHEAD',
      `feed "${feedIdOf(spec)}" stands at version ${position.version}, table "${spec.table}" ends at version ${latest}`,
      { hint: 'the log of the table was put back to an older state; publish it to another topic' },
    );
  }
  const order = rowOrderOf(spec);
  if (position.complete || position.snapshot || position.order === order) return;
  throw serviceError.invalid(
    'FEED_ORDER_CHANGED',
    `feed "${feedIdOf(spec)}" stands inside version ${position.version} in the row order of key columns ${position.order}, not of ${order}`,
    { hint: 'put the key columns back until the version is published, then change them' },
  );
}

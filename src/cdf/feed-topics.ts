import { isServiceError, serviceError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';
import type { FeedSpec } from './feed-spec.ts';

/** What the broker says when it is too old to tell topics of one name apart. */
const noTopicId = '-';
const neededPolicy = 'compact';

/** The incarnation of a feed's topic that is written to. */
export interface FeedTopic {
  /** `undefined`: the broker does not tell. */
  readonly topicId: string | undefined;
  /** How many partitions it really has, whatever the settings say. */
  readonly partitions: number;
}

/** Partitions that were added later are left empty by feeds with keys: a key's events stay in one, in order. */
export interface FeedPartitions {
  readonly partitions: number;
  readonly ofTopic: number;
}

/**
 * Creates the positions topic where it is missing; answers the id of its incarnation.
 *
 * @throws ServiceError `FEED_POSITIONS_NOT_COMPACTED` (invalid): a topic that forgets records by age or size forgets positions.
 */
export async function ensurePositionsTopic(
  admin: KafkaAdmin,
  spec: Pick<FeedSpec, 'positionsTopic' | 'replicationFactor'>,
): Promise<string | undefined> {
  const { positionsTopic: topic, replicationFactor } = spec;
  await admin.ensureTopics([{ topic, partitions: 1, replicationFactor, config: { 'cleanup.policy': neededPolicy } }]);
  await refuseForgetting(admin, topic);
  return (await findTopic(admin, topic))?.topicId;
}

/** The feed's topic, if it exists. */
export async function findTopic(admin: KafkaAdmin, topic: string): Promise<FeedTopic | undefined> {
  const found = await admin.describeTopic(topic);
  if (found === undefined) return undefined;
  const { partitions, topicId } = found;
  return { partitions, topicId: topicId === noTopicId ? undefined : topicId };
}

/**
 * Creates the feed's topic where it is missing.
 *
 * @throws ServiceError `FEED_TOPIC_MISSING` (kind unavailable) when the broker does not know the topic after its creation.
 */
export async function ensureFeedTopic(admin: KafkaAdmin, spec: FeedSpec): Promise<FeedTopic> {
  const { topic, partitions, replicationFactor, topicConfig } = spec;
  // Records carry the commit's time, so that a replay gives the same bytes; retention counts from the arrival.
  const config = { 'message.timestamp.type': 'LogAppendTime', ...topicConfig };
  await admin.ensureTopics([{ topic, partitions, replicationFactor, config }]);
  const found = await findTopic(admin, topic);
  if (found !== undefined) return found;
  throw serviceError.unavailable('FEED_TOPIC_MISSING', `topic "${topic}" does not exist after its creation`);
}

/**
 * @throws ServiceError `FEED_TRUNCATE_UNFIT` (kind invalid) for a topic that cannot have the truncations of a feed with `truncate: event`: in one
 *   of several partitions they would have no order with the rows of the others, and a compacted topic takes no record without a key.
 */
export async function refuseUnfitForTruncations(admin: KafkaAdmin, { topic, truncate }: FeedSpec, partitions: number): Promise<void> {
  if (truncate !== 'event') return;
  const compacts = await isCompacted(admin, topic);
  if (partitions === 1 && !compacts) return;
  const why = partitions === 1 ? 'is compacted' : `has ${partitions} partitions`;
  throw serviceError.invalid('FEED_TRUNCATE_UNFIT', `topic "${topic}" ${why}, and "truncate: event" needs one partition that is not`, {
    hint: 'let the feed publish to a topic of one partition without compaction, or tell truncations by rows: "truncate: rows"',
  });
}

/** False as well when this user may not ask. */
export async function isCompacted(admin: KafkaAdmin, topic: string): Promise<boolean> {
  return (await cleanupPolicyOf(admin, topic))?.includes('compact') === true;
}

/** `cleanup.policy` of a topic; `undefined` when this user may not ask. */
export async function cleanupPolicyOf(admin: KafkaAdmin, topic: string): Promise<string | undefined> {
  try {
    return (await admin.topicConfig(topic)).get('cleanup.policy');
  } catch (error) {
    if (isServiceError(error) && error.code === 'KAFKA_NOT_AUTHORIZED') return undefined;
    throw error;
  }
}

/** Without the right to ask the feed goes on: a position that was forgotten is noticed at the next opening. */
async function refuseForgetting(admin: KafkaAdmin, topic: string): Promise<void> {
  const policy = await cleanupPolicyOf(admin, topic);
  if (policy === undefined || policy === neededPolicy) return;
  throw serviceError.invalid(
    'FEED_POSITIONS_NOT_COMPACTED',
    `topic "${topic}" holds the positions of the feeds and has cleanup.policy=${policy}, which forgets them`,
    {
      hint: `kafka-configs.sh --bootstrap-server <host:port> --alter --entity-type topics --entity-name ${topic} --add-config cleanup.policy=${neededPolicy}, then start again`,
    },
  );
}

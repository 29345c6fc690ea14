import { ServiceError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';
import type { FeedSpec } from './feed-spec.ts';

/**
 * Creates the feed's topic and the positions topic where they are missing. Answers the number of partitions the feed's topic really
 * has: keys are spread over those, whatever the settings say.
 *
 * @throws ServiceError `FEED_TOPIC_MISSING` (kind unavailable) when the broker does not know the topic after its creation.
 */
export async function ensureFeedTopics(admin: KafkaAdmin, spec: FeedSpec): Promise<number> {
  const { replicationFactor } = spec;
  await admin.ensureTopics([
    {
      topic: spec.topic,
      partitions: spec.partitions,
      replicationFactor,
      // Records carry the commit's time, so that a replay gives the same bytes; retention counts from the arrival.
      config: { 'message.timestamp.type': 'LogAppendTime', ...spec.topicConfig },
    },
    { topic: spec.positionsTopic, partitions: 1, replicationFactor, config: { 'cleanup.policy': 'compact' } },
  ]);
  const partitions = await admin.partitionCount(spec.topic);
  if (partitions !== undefined) return partitions;
  throw new ServiceError({
    code: 'FEED_TOPIC_MISSING',
    kind: 'unavailable',
    message: `topic "${spec.topic}" does not exist after its creation`,
  });
}

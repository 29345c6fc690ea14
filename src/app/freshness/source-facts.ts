import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { SourceOffset } from '../../commit/offset-trace.ts';
import type { KafkaClient, KafkaRecord } from '../../kafka/client.ts';
import type { SourceIdentity } from '../../protocol/source-offsets.ts';

/** What answers about topics. */
export type FreshnessKafka = Pick<KafkaClient, 'readPartition'> & {
  readonly admin: Pick<KafkaClient['admin'], 'clusterId' | 'describeTopic' | 'offsets' | 'partitionCount' | 'recordsSince'>;
};

/** What the broker says of a place of a topic. */
export interface SourceFacts {
  readonly kafka: FreshnessKafka;
  readonly incarnation: Pick<SourceIdentity, 'clusterId' | 'topicId'>;
  readonly partitions: number;
  /** `undefined`: the topic has no such partition. */
  readonly endOffset: bigint | undefined;
  /** The record there, for readers of committed records; `undefined`: none is, or none is any more. Read once. */
  record(): Promise<KafkaRecord | undefined>;
}

/** A broker that is slower is done without. */
const answerTimeoutMs = 3_000;

/** `undefined`: the topic is not there, or the broker does not answer in time. */
export async function sourceFacts(
  kafka: FreshnessKafka,
  at: SourceOffset,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<SourceFacts | undefined> {
  const done = new AbortController();
  try {
    const late = clock.sleep(answerTimeoutMs, done.signal).catch(() => undefined);
    return await Promise.race([askedFacts(kafka, at, signal), late.then(() => undefined)]);
  } finally {
    done.abort();
  }
}

async function askedFacts(
  kafka: FreshnessKafka,
  { topic, partition, offset }: SourceOffset,
  signal: AbortSignal | undefined,
): Promise<SourceFacts | undefined> {
  try {
    const [clusterId, found] = await Promise.all([kafka.admin.clusterId(), kafka.admin.describeTopic(topic)]);
    if (found === undefined) return undefined;
    const held = (await kafka.admin.offsets(topic)).find((each) => each.partition === partition);
    let read: Promise<KafkaRecord | undefined> | undefined;
    const { topicId, partitions } = found;
    const isHeld = held !== undefined && held.earliest <= offset && offset < held.latest;
    return {
      kafka,
      incarnation: { clusterId, topicId },
      partitions,
      endOffset: held?.latest,
      record: () => (read ??= isHeld ? recordAt(kafka, { topic, partition, offset, topicId, signal }) : Promise.resolve(undefined)),
    };
  } catch (error) {
    if (!isServiceError(error) || error.kind === 'aborted') throw error;
    return undefined;
  }
}

async function recordAt(
  kafka: FreshnessKafka,
  { offset, ...at }: SourceOffset & { readonly topicId: string; readonly signal: AbortSignal | undefined },
): Promise<KafkaRecord | undefined> {
  try {
    for await (const record of kafka.readPartition({ ...at, from: offset, until: offset + 1n })) return record;
    return undefined;
  } catch (error) {
    if (isServiceError(error, 'discontinuity') || isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

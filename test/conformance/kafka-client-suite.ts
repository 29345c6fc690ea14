import { toEpochMs } from '../../src/base/clock.ts';
import type {
  ConsumerOptions,
  EncodedRecordBatch,
  KafkaClient,
  KafkaConsumer,
  KafkaRecord,
  OutgoingRecord,
  TopicPartition,
} from '../../src/kafka/client.ts';
import type { Compression } from '../../src/kafka/records/compression.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import { RecordingHandler } from '../support/recording-handler.ts';

/** What a test run of the suite needs from an adapter. */
export interface KafkaRig {
  /** A client of the one broker under test; each call another client. */
  client(clientId: string): KafkaClient;
  /** Deletes records below an offset, as retention does. */
  deleteRecords(at: TopicPartition, beforeOffset: bigint): Promise<void>;
  /** Adds partitions to a topic until it has so many. */
  addPartitions(topic: string, partitions: number): Promise<void>;
  close(): Promise<void>;
}

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);
export const record = (value: string, more: Partial<OutgoingRecord> = {}): OutgoingRecord => ({
  value: text(value),
  timestampMs: toEpochMs(1_700_000_000_000),
  ...more,
});
export const batchOf = (at: TopicPartition, values: readonly string[], compression?: Compression): EncodedRecordBatch =>
  encodeRecordBatch({ topic: at.topic, partition: at.partition, records: values.map((value) => record(value)), compression });

export async function collect<T>(records: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const each of records) collected.push(each);
  return collected;
}

export interface Suite {
  rig(): KafkaRig;
  client(): KafkaClient;
  unique(prefix: string): string;
}

export async function topicOf(suite: Suite, client: KafkaClient, partitions = 1): Promise<string> {
  const topic = suite.unique('topic');
  await client.admin.ensureTopics([{ topic, partitions }]);
  return topic;
}

export async function readAll(
  client: KafkaClient,
  topic: string,
  options: { readonly readCommitted?: boolean } = {},
): Promise<readonly KafkaRecord[]> {
  return collect(client.readPartition({ topic, partition: 0, from: 0n, until: 1_000_000n, ...options }));
}

export async function readValues(
  client: KafkaClient,
  topic: string,
  options: { readonly readCommitted?: boolean } = {},
): Promise<readonly string[]> {
  return (await readAll(client, topic, options)).map((each) => Buffer.from(each.value ?? []).toString());
}

export interface Running {
  readonly consumer: KafkaConsumer;
  readonly handler: RecordingHandler;
}

export async function consume(
  client: KafkaClient,
  options: Omit<ConsumerOptions, 'handler'> & { readonly startAt?: RecordingHandler['startAt'] },
): Promise<Running> {
  const handler = new RecordingHandler();
  if (options.startAt !== undefined) handler.startAt = options.startAt;
  const consumer = client.consumer({ maxWaitMs: 50, topicCheckMs: 200, ...options, handler });
  await consumer.start();
  return { consumer, handler };
}

/** Deletes a topic and waits until the brokers say so. */
export async function goneTopic(client: KafkaClient, topic: string): Promise<void> {
  await client.admin.deleteTopic(topic);
  for (let attempt = 0; attempt < 100 && (await client.admin.describeTopic(topic)) !== undefined; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

import kafkajs, { type Admin } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { KafkaAdmin, OffsetSpan, PartitionOffsets, StartPosition, TopicDescription, TopicPartition, TopicSpec } from '../client.ts';
import { kafkaTopicNotFound, kafkaUnavailable } from '../errors.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { toServiceError } from './kafkajs-errors.ts';

/** How long a topic may take to be known by all brokers after its creation. */
const createdTopicTimeoutMs = 10_000;
const createdTopicPollMs = 50;
/** How long a partition's offsets are asked for while it has no leader. */
const heldOffsetsTimeoutMs = 10_000;
// The protocol's names for the two ends of a partition.
const timestampOf = { earliest: -2, latest: -1 } as const;
const anyReplica = -1;
const isolation = { readUncommitted: 0, readCommitted: 1 } as const;
const partitionsAtOnce = 16;

/** Administration through kafkajs's admin; connects at the first use. */
export class KafkajsAdmin implements KafkaAdmin {
  readonly #admin: Admin;
  readonly #connection: KafkaConnection;
  readonly #clock: Clock;
  #connected: Promise<void> | undefined;

  constructor(admin: Admin, connection: KafkaConnection, clock: Clock) {
    this.#admin = admin;
    this.#connection = connection;
    this.#clock = clock;
  }

  clusterId(): Promise<string> {
    return this.#call('describe the cluster', async (admin) => (await admin.describeCluster()).clusterId);
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<readonly string[]> {
    const created: string[] = [];
    for (const spec of topics) {
      if ((await this.partitionCount(spec.topic)) !== undefined) continue;
      const made = await this.#call(
        `create topic "${spec.topic}"`,
        (admin) =>
          admin.createTopics({
            // Asked for below: kafkajs gives up at a broker that has not heard of the topic yet.
            waitForLeaders: false,
            topics: [
              {
                topic: spec.topic,
                numPartitions: spec.partitions,
                replicationFactor: spec.replicationFactor ?? -1,
                configEntries: Object.entries(spec.config ?? {}).map(([name, value]) => ({ name, value })),
              },
            ],
          }),
        spec.topic,
      );
      if (made) {
        await this.#untilLed(spec);
        created.push(spec.topic);
      }
    }
    return created;
  }

  /** A topic is made before every broker knows it; whoever asks in between is told it does not exist. */
  async #untilLed(spec: TopicSpec): Promise<void> {
    const deadline = this.#clock.monotonicMs() + createdTopicTimeoutMs;
    while (this.#clock.monotonicMs() < deadline) {
      if (await this.#isLed(spec)) return;
      await this.#clock.sleep(createdTopicPollMs);
    }
  }

  async #isLed({ topic, partitions }: TopicSpec): Promise<boolean> {
    await this.#connection.look([topic]);
    const found = this.#connection.topic(topic)?.partitions ?? [];
    return found.length >= partitions && found.every(({ leader }) => leader >= 0);
  }

  async describeTopic(topic: string): Promise<TopicDescription | undefined> {
    await this.#connection.look([topic]);
    const found = this.#connection.topic(topic);
    return found === undefined ? undefined : { topic, topicId: found.topicId, partitions: found.partitions.length };
  }

  async partitionCount(topic: string): Promise<number | undefined> {
    return (await this.describeTopic(topic))?.partitions;
  }

  partitionCounts(): Promise<ReadonlyMap<string, number>> {
    return this.#connection.partitionCounts();
  }

  async topicId(topic: string): Promise<string> {
    const found = await this.describeTopic(topic);
    if (found === undefined) throw kafkaTopicNotFound(topic);
    return found.topicId;
  }

  topicConfig(topic: string): Promise<ReadonlyMap<string, string>> {
    return this.#call(
      `ask for the configuration of topic "${topic}"`,
      async (admin) => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
        });
        return new Map(resources.flatMap(({ configEntries }) => configEntries).map((entry) => [entry.configName, entry.configValue]));
      },
      topic,
    );
  }

  async offsets(topic: string): Promise<readonly PartitionOffsets[]> {
    const count = await this.partitionCount(topic);
    if (count === undefined) throw kafkaTopicNotFound(topic);
    return Promise.all(Array.from({ length: count }, (_, partition) => this.heldOffsets({ topic, partition })));
  }

  /** What one partition holds. */
  heldOffsets(at: TopicPartition): Promise<PartitionOffsets> {
    return this.#fromLeader(at, async () => {
      const [earliest, latest] = await Promise.all([this.#offset(at, timestampOf.earliest), this.#offset(at, timestampOf.latest)]);
      return { topic: at.topic, partition: at.partition, earliest, latest };
    });
  }

  async recordsSince(topic: string, sinceMs: number): Promise<readonly OffsetSpan[]> {
    const count = await this.partitionCount(topic);
    if (count === undefined) throw kafkaTopicNotFound(topic);
    const partitions = Array.from({ length: count }, (_, partition) => ({ topic, partition }));
    return mapBounded(partitions, partitionsAtOnce, (at) =>
      this.#fromLeader(at, async () => {
        const since = sinceMs > 0 ? Math.floor(sinceMs) : timestampOf.earliest;
        const from = await this.#offset(at, since, isolation.readUncommitted);
        const until = await this.#offset(at, timestampOf.latest, isolation.readUncommitted);
        // -1: nothing is of that time or later.
        return { ...at, from: from < 0n ? until : from, until };
      }),
    );
  }

  /** Asks again for a while where the leader moved, or another one was known. */
  async #fromLeader<T>(at: TopicPartition, ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#connection;
    const deadline = clock.monotonicMs() + heldOffsetsTimeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#connection.follow([at.topic]);
        return await ask();
      } catch (error) {
        if (!isServiceError(error, 'unavailable', 'not-found') || clock.monotonicMs() >= deadline) throw error;
        await this.#connection.pause(movedBackoff, attempt);
        await this.#connection.refresh([at.topic]);
        if (at.partition >= this.#connection.partitionCount(at.topic)) throw error;
      }
    }
  }

  groupOffsets(groupId: string, topic: string): Promise<readonly StartPosition[]> {
    return this.#call(
      `offsets of group "${groupId}"`,
      async (admin) => {
        const found = await admin.fetchOffsets({ groupId, topics: [topic] });
        return found
          .flatMap((each) => each.partitions)
          .map(({ partition, offset }) => ({ topic, partition, offset: BigInt(offset) }))
          .filter((position) => position.offset >= 0n)
          .sort((a, b) => a.partition - b.partition);
      },
      topic,
    );
  }

  async deleteTopic(topic: string): Promise<void> {
    await this.#call(`delete topic "${topic}"`, (admin) => admin.deleteTopics({ topics: [topic] }), topic);
  }

  async close(): Promise<void> {
    if (this.#connected === undefined) return;
    try {
      await this.#connected;
      await this.#admin.disconnect();
    } catch (error) {
      // Best effort: connections that are gone anyway are no error.
      if (!(error instanceof Error)) throw error;
    }
  }

  async #offset(at: TopicPartition, timestamp: number, isolationLevel: number = isolation.readCommitted): Promise<bigint> {
    const { topic, partition } = at;
    const leader = this.#connection.leaderOf(topic, partition);
    if (leader === undefined) throw kafkaUnavailable(`${topic}/${partition} has no leader`);
    return this.#guarded('list offsets', topic, async () => {
      const broker = await this.#connection.broker(leader);
      const topics = [{ topic, partitions: [{ partition, timestamp }] }];
      const { responses } = await broker.listOffsets({ replicaId: anyReplica, isolationLevel, topics });
      const offset = responses.flatMap((each) => each.partitions).find((each) => each.partition === partition)?.offset;
      if (offset === undefined) throw kafkaTopicNotFound(topic);
      return BigInt(offset);
    });
  }

  #call<T>(what: string, call: (admin: Admin) => Promise<T>, topic?: string): Promise<T> {
    return this.#guarded(what, topic, async () => {
      this.#connected ??= this.#admin.connect();
      try {
        await this.#connected;
      } catch (error) {
        this.#connected = undefined;
        throw error;
      }
      return call(this.#admin);
    });
  }

  async #guarded<T>(what: string, topic: string | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw toServiceError(error, what, topic);
    }
  }
}

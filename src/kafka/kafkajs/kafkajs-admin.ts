import type { Admin, ConfigResourceTypes } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import type { KafkaAdmin, PartitionOffsets, StartPosition, TopicPartition, TopicSpec } from '../client.ts';
import { kafkaTopicNotFound } from '../errors.ts';
import type { KafkaConnection } from './kafkajs-connection.ts';
import { answerError, kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';
import { tellsTopicIds, topicIdFrom } from './topic-id-request.ts';

/** How long a topic may take to be known by all brokers after its creation. */
const createdTopicTimeoutMs = 10_000;
const createdTopicPollMs = 50;
/** As the protocol has it. kafkajs exports the name in a way that Node's own modules do not see. */
const topicResource: ConfigResourceTypes.TOPIC = 2;

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

  #isLed(spec: TopicSpec): Promise<boolean> {
    return this.#call(
      `look for the leaders of topic "${spec.topic}"`,
      async (admin) => {
        try {
          const { topics } = await admin.fetchTopicMetadata({ topics: [spec.topic] });
          const partitions = topics.find((each) => each.name === spec.topic)?.partitions ?? [];
          return partitions.length >= spec.partitions && partitions.every((partition) => partition.leader >= 0);
        } catch (error) {
          if (kafkaCodeOf(error) === kafkaCode.unknownTopicOrPartition) return false;
          throw error;
        }
      },
      spec.topic,
    );
  }

  partitionCount(topic: string): Promise<number | undefined> {
    return this.#call(`look at topic "${topic}"`, async (admin) => {
      try {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
        return topics.find((each) => each.name === topic)?.partitions.length;
      } catch (error) {
        if (kafkaCodeOf(error) === kafkaCode.unknownTopicOrPartition) return undefined;
        throw error;
      }
    });
  }

  async topicId(topic: string): Promise<string> {
    const broker = await this.#connection.anyBroker();
    if (!tellsTopicIds(broker)) {
      if ((await this.partitionCount(topic)) === undefined) throw kafkaTopicNotFound(topic);
      return '-';
    }
    const { errorCode, topicId } = await this.#guarded('ask for a topic id', topic, () => topicIdFrom(broker, topic));
    if (errorCode !== kafkaCode.none) throw answerError(errorCode, `ask for the id of topic "${topic}"`, topic);
    return topicId;
  }

  topicConfig(topic: string): Promise<ReadonlyMap<string, string>> {
    return this.#call(
      `ask for the configuration of topic "${topic}"`,
      async (admin) => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: topicResource, name: topic }],
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
  async heldOffsets(at: TopicPartition): Promise<PartitionOffsets> {
    const [earliest, latest] = await Promise.all([this.#offset(at, true), this.#offset(at, false)]);
    return { topic: at.topic, partition: at.partition, earliest, latest };
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

  async #offset(at: TopicPartition, fromBeginning: boolean): Promise<bigint> {
    return this.#guarded('list offsets', at.topic, async () => {
      await this.#connection.follow([at.topic]);
      const found = await this.#connection.cluster.fetchTopicsOffset([
        { topic: at.topic, partitions: [{ partition: at.partition }], fromBeginning },
      ]);
      const offset = found.flatMap((each) => each.partitions).find((each) => each.partition === at.partition)?.offset;
      if (offset === undefined) throw kafkaTopicNotFound(at.topic);
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

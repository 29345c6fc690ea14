import { describe, it } from 'vitest';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { KafkajsClient } from '../../../src/kafka/kafkajs/kafkajs-client.ts';
import { describeKafkaClient, type KafkaRig } from '../../conformance/kafka-client.ts';
import { testKafka } from '../../support/test-kafka.ts';

// KAFKA_BROKERS names a broker that the tests may fill with topics of their own names; nothing is deleted that they did not make.
const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');

if (brokers.length === 0) {
  describe('kafkajs client', () => {
    it('needs KAFKA_BROKERS', (context) => {
      if (process.env['CI'] !== undefined) throw new Error('KAFKA_BROKERS is not set, the real broker was not tested');
      console.warn('KAFKA_BROKERS is not set: the kafkajs client was NOT tested against a real broker');
      context.skip();
    });
  });
} else {
  describeKafkaClient('kafkajs client', () => rig('id'));
  // As with brokers that cannot be asked for a topic by its id.
  describeKafkaClient('kafkajs client that fetches by name', () => rig('name'));

  async function rig(fetchBy: 'id' | 'name'): Promise<KafkaRig> {
    const admin = testKafka({ brokers, clientId: 'rig' }).admin();
    await admin.connect();
    return {
      client: (clientId) =>
        new KafkajsClient({
          settings: { brokers, clientId, ssl: undefined, sasl: undefined, connectionTimeoutMs: 10_000, requestTimeoutMs: 30_000 },
          clock: new SystemClock(),
          random: new SystemRandom(),
          fetchBy,
        }),
      deleteRecords: async ({ topic, partition }, beforeOffset) => {
        // Makes kafkajs learn the topic, which deleteTopicRecords takes for granted.
        await admin.fetchTopicOffsets(topic);
        await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(beforeOffset) }] });
      },
      addPartitions: async (topic, count) => {
        await admin.createPartitions({ topicPartitions: [{ topic, count }] });
      },
      close: () => admin.disconnect(),
    };
  }
}

import { type ITopicMetadata, Kafka, KafkaJSConnectionError, KafkaJSNumberOfRetriesExceeded, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { KafkajsAdmin } from '../../../src/kafka/kafkajs/kafkajs-admin.ts';
import { KafkaConnection } from '../../../src/kafka/kafkajs/kafkajs-connection.ts';
import { makeCluster } from '../../../src/kafka/kafkajs/kafkajs-door.ts';
import { StepClock } from '../../support/step-clock.ts';

describe('the admin of the kafkajs client', () => {
  it('calls a broker unavailable that goes away after it made a topic and before it says who leads it', async () => {
    // A feed that was starting just then got the driver's own error, took it for one that time does not cure, and stood still for good.
    const answers: readonly (() => { topics: ITopicMetadata[] })[] = [
      () => ({ topics: [] }),
      () => {
        const refused = new KafkaJSConnectionError('connect ECONNREFUSED', { broker: '127.0.0.1:1' });
        throw new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 5, retryTime: 100 });
      },
    ];
    const asked = answers.values();
    const kafka = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING });
    const broker = Object.assign(kafka.admin(), {
      connect: () => Promise.resolve(),
      createTopics: () => Promise.resolve(true),
      fetchTopicMetadata: async () => {
        await Promise.resolve();
        return asked.next().value?.() ?? { topics: [] };
      },
    });
    const clock = new StepClock();
    const connection = new KafkaConnection({ cluster: makeCluster(kafka, { readCommitted: true }), clock, random: new SeededRandom(1) });
    const admin = new KafkajsAdmin(broker, connection, clock);
    await expect(admin.ensureTopics([{ topic: 'orders.changes', partitions: 3 }])).rejects.toMatchObject({
      code: 'KAFKA_UNAVAILABLE',
      kind: 'unavailable',
      retryable: true,
    });
  });
});

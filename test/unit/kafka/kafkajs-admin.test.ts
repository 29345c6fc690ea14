import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { KafkajsAdmin } from '../../../src/kafka/kafkajs/kafkajs-admin.ts';
import { KafkaConnection } from '../../../src/kafka/kafkajs/kafkajs-connection.ts';
import { makeCluster } from '../../../src/kafka/kafkajs/kafkajs-internals.ts';
import { StepClock } from '../../support/step-clock.ts';

describe('the admin of the kafkajs client', () => {
  it('calls a broker unavailable that is not there, whatever it is asked', async () => {
    // A feed that was starting just then got the driver's own error, took it for one that time does not cure, and stood still for good.
    const kafka = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
    const clock = new StepClock();
    const connection = new KafkaConnection({ cluster: makeCluster(kafka, { readCommitted: true }), clock, random: new SeededRandom(1) });
    const admin = new KafkajsAdmin(kafka.admin(), connection, clock);
    const unavailable = { code: 'KAFKA_UNAVAILABLE', kind: 'unavailable', retryable: true };
    await expect(admin.ensureTopics([{ topic: 'orders.changes', partitions: 3 }])).rejects.toMatchObject(unavailable);
    await expect(admin.describeTopic('orders.changes')).rejects.toMatchObject(unavailable);
    await expect(admin.clusterId()).rejects.toMatchObject(unavailable);
  });
});

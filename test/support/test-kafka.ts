import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';

/** What a test asks a broker with: kafkajs itself gives a connection one second, which is little for a busy machine that has just started one. */
export function testKafka({ brokers, ...others }: Omit<KafkaConfig, 'brokers'> & { readonly brokers: readonly string[] }): Kafka {
  return new Kafka({
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 20_000,
    authenticationTimeout: 20_000,
    requestTimeout: 60_000,
    retry: { retries: 12 },
    ...others,
  });
}

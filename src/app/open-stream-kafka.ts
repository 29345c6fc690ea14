import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { KafkajsClient } from '../kafka/kafkajs/kafkajs-client.ts';
import { kafkaSettings } from '../kafka/settings.ts';

/** A client for the brokers of a stream's option `kafka.bootstrap.servers`: `host:port`, several with commas. Connects when it is used. */
export function openStreamKafka(servers: string, parts: { readonly clock: Clock; readonly random: Random }): KafkaClient {
  const brokers = servers.split(',').map((server) => server.trim());
  return new KafkajsClient({ ...parts, settings: kafkaSettings.parse({ brokers }) });
}

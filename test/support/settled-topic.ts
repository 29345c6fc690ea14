import type { KafkaClient } from '../../src/kafka/client.ts';
import { eventually } from './process.ts';

/**
 * Waits until readers of committed records can reach every record of a topic. A broker answers the end of a transaction when it has decided on
 * it, and writes the markers into the partitions after that.
 */
export async function settledTopic(client: KafkaClient, topic: string): Promise<void> {
  await eventually(`the transactions of ${topic} have ended in all its partitions`, async () => {
    const held = await client.admin.offsets(topic);
    const written = await Promise.all(held.map(({ partition }) => endOf(client, topic, partition)));
    return held.every(({ latest }, index) => latest >= (written[index] ?? 0n));
  });
}

/** After the last record of a partition, decided on or not. */
async function endOf(client: KafkaClient, topic: string, partition: number): Promise<bigint> {
  let end = 0n;
  const until = BigInt(Number.MAX_SAFE_INTEGER);
  for await (const { offset } of client.readPartition({ topic, partition, from: 0n, until, readCommitted: false })) end = offset + 1n;
  return end;
}

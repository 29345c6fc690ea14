// Fills topics with orders, packed as librdkafka packs them with batch.size 256 KB: about 1,100 records a batch, lz4.
import { kafkaClient, RecordBatchBuilder } from './dist.mjs';
import { firstOrderMs, orderJson } from './orders.mjs';
import { sleep } from './util.mjs';

export const partitions = 4;
const recordsPerBatch = 1_100;
const batchesPerSend = 16;
const maxAttempts = 20;
const utf8 = new TextEncoder();

/** Makes sure the topic holds the orders 0 to count - 1, order i in partition i mod 4; a topic that does already is left alone. */
export function ensureOrders(brokers, topic, count, log) {
  const recordOf = (index) => ({ partition: index % partitions, json: (atMs) => orderJson(index, atMs) });
  return ensureRecords(brokers, { topic, count, recordOf }, log);
}

/** The same for records of which `recordOf(index)` says the partition, and the text for an instant. */
export async function ensureRecords(brokers, { topic, count, recordOf }, log) {
  const client = kafkaClient(brokers);
  try {
    const held = await heldRecords(client, topic);
    if (held === count) return;
    log(`loading ${count.toLocaleString('en')} orders into topic ${topic}`);
    await recreate(client, topic);
    const producer = await client.producer();
    await produceRecords(producer, { topic, count, recordOf });
    await producer.close();
  } finally {
    await client.close();
  }
}

/** An empty topic of this name, whatever there was before. */
export async function emptyTopic(brokers, topic) {
  const client = kafkaClient(brokers);
  try {
    await recreate(client, topic);
  } finally {
    await client.close();
  }
}

export async function deleteTopics(brokers, topics) {
  const client = kafkaClient(brokers);
  try {
    for (const topic of topics) if ((await client.admin.partitionCount(topic)) !== undefined) await client.admin.deleteTopic(topic);
  } finally {
    await client.close();
  }
}

async function heldRecords(client, topic) {
  if ((await client.admin.partitionCount(topic)) === undefined) return undefined;
  const offsets = await patiently(() => client.admin.offsets(topic));
  return offsets.reduce((sum, { earliest, latest }) => sum + Number(latest - earliest), 0);
}

/** A broker that has just started leads its partitions a moment later. */
async function patiently(action) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (error.retryable !== true || attempt === maxAttempts) throw error;
      await sleep(500);
    }
  }
}

/** An empty topic, and its producer's way in: `fill` sends batches that `RecordBatchBuilder` has made. */
export async function makeTopic(brokers, { topic, count, config }, fill = async () => undefined) {
  const client = kafkaClient(brokers);
  try {
    await recreate(client, topic, { count, config });
    const producer = await client.producer();
    await fill((batches) => patiently(() => producer.send(batches)));
    await producer.close();
  } finally {
    await client.close();
  }
}

async function recreate(client, topic, { count = partitions, config = {} } = {}) {
  if ((await client.admin.partitionCount(topic)) !== undefined) {
    await client.admin.deleteTopic(topic);
    while ((await client.admin.partitionCount(topic)) !== undefined) await sleep(100);
  }
  await client.admin.ensureTopics([{ topic, partitions: count, config: { 'retention.ms': '-1', 'retention.bytes': '-1', ...config } }]);
}

async function produceRecords(producer, { topic, count, recordOf }) {
  const builders = Array.from({ length: partitions }, () => new RecordBatchBuilder({ compression: 'lz4' }));
  let ready = [];
  const close = (partition) => {
    if (builders[partition].recordCount > 0) ready.push({ topic, partition, ...builders[partition].finish() });
  };
  for (let index = 0; index < count; index += 1) {
    const { partition, json } = recordOf(index);
    const timestampMs = firstOrderMs + index;
    builders[partition].append({ value: utf8.encode(json(timestampMs)), timestampMs });
    if (builders[partition].recordCount === recordsPerBatch) close(partition);
    if (ready.length < batchesPerSend) continue;
    await producer.send(ready);
    ready = [];
  }
  for (let partition = 0; partition < partitions; partition += 1) close(partition);
  if (ready.length > 0) await producer.send(ready);
}

// Produces orders at a steady rate, each stamped with the clock of its moment:
//   node live-orders.mjs BROKERS TOPIC RATE SECONDS FIRST_INDEX [KEYS]
// With KEYS they are upserts over so many keys. Prints one JSON line at the end, with `ticks`: the first index of each moment, and its clock.
// A process of its own, so that the driver's work does not delay it.
import { kafkaClient, RecordBatchBuilder } from './dist.mjs';
import { orderJson } from './orders.mjs';
import { partitions } from './topics.mjs';
import { upsertRecord } from './upserts.mjs';
import { sleep } from './util.mjs';

const tickMs = 5;
const [brokers, topic, ...numbers] = process.argv.slice(2);
const [rate, seconds, first, keys] = numbers.map(Number);
const recordOf = (index) => (keys === undefined ? { partition: index % partitions, json: (atMs) => orderJson(index, atMs) } : upsertRecord(index, keys));
const utf8 = new TextEncoder();
const client = kafkaClient(brokers.split(','));
const producer = await client.producer();
const builders = Array.from({ length: partitions }, () => new RecordBatchBuilder({ compression: 'lz4' }));

const total = Math.round(rate * seconds);
const startedMs = performance.now();
let done = 0;
let latestMs = 0;
let sending = Promise.resolve();
const ticks = [];
while (done < total) {
  const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1000) * rate));
  const timestampMs = Date.now();
  if (done < due) ticks.push([first + done, timestampMs]);
  for (; done < due; done += 1) {
    const { partition, json } = recordOf(first + done);
    builders[partition].append({ value: utf8.encode(json(timestampMs)), timestampMs });
  }
  latestMs = Math.max(latestMs, performance.now() - startedMs - (done / rate) * 1000);
  const batches = builders.flatMap((builder, partition) =>
    builder.recordCount === 0 ? [] : [{ topic, partition, ...builder.finish() }],
  );
  await sending;
  if (batches.length > 0) sending = producer.send(batches);
  await sleep(tickMs);
}
await sending;
await client.close();
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ produced: total, seconds: (performance.now() - startedMs) / 1000, latestMs, cpuSeconds: (user + system) / 1e6, ticks }));

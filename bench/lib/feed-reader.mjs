// Reads a feed's topic as a read_committed consumer and measures how old each order is when it comes:
//   node feed-reader.mjs BROKERS TOPIC ORDERS FIRST_MEASURED
// Prints a line when it has seen those before the first measured one, and one of JSON when it has seen all, or none for a while. A process of its own, so that the driver's work does not delay it.
import { Kafka, logLevel } from 'kafkajs';
import { round, sleep } from './util.mjs';

const idleMs = 20_000;
const [brokers, topic, ...numbers] = process.argv.slice(2);
const [orders, firstMeasured] = numbers.map(Number);
const kafka = new Kafka({ clientId: 'bench-feed-reader', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId: `bench-feed-reader-${process.pid}`, maxWaitTimeInMs: 100 });
const seen = new Set();
const ages = [];
let lastMs = Date.now();

await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  eachBatchAutoResolve: true,
  // A batch ends where the broker's answer ends, at the newest committed record.
  eachBatch: ({ batch }) => {
    const nowMs = Date.now();
    for (const { value } of batch.messages) {
      const { after } = JSON.parse(value.toString());
      seen.add(after.order_id);
      if (after.order_id >= firstMeasured) ages.push(nowMs - Date.parse(after.ts));
    }
    lastMs = Date.now();
    return Promise.resolve();
  },
});
const seenBy = async (count) => {
  while (seen.size < count && Date.now() - lastMs < idleMs) await sleep(50);
};
await seenBy(firstMeasured);
console.log('reading');
await seenBy(orders);
const once = ages.length + firstMeasured === seen.size;
ages.sort((a, b) => a - b);
const at = (part) => round(ages[Math.min(ages.length - 1, Math.floor(ages.length * part))]);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ orders: seen.size, once, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: ages.at(-1), cpuSeconds: (user + system) / 1e6 }));
await consumer.disconnect();

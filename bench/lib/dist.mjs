// The compiled program is what is measured; its own modules also serve the driver: broker, Kafka client, table.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const programPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

if (!existsSync(programPath)) {
  console.error('bench: there is no dist/cli/main.js; run npm run build first');
  process.exit(2);
}

const load = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);

const [clock, random, ids, client, builder, kafka, cache, library, version] = await Promise.all([
  load('base/system-clock.js'),
  load('base/system-random.js'),
  load('base/ids.js'),
  load('kafka/kafkajs-client.js'),
  load('kafka/record-batch-builder.js'),
  load('app/embedded/kafka-server.js'),
  load('app/embedded/cache-dir.js'),
  load('app/library.js'),
  load('app/product-version.js'),
]);

export const { RecordBatchBuilder } = builder;
export const { startEmbeddedKafka } = kafka;
export const { defaultCacheDir, fillCacheEntry } = cache;
export const { openTable } = library;
export const { productVersion } = version;

export const newId = () => new ids.RandomIdSource(new random.SystemRandom()).uuid();

export function kafkaClient(brokers) {
  const settings = {
    brokers,
    clientId: 'tidewater-bench',
    ssl: undefined,
    sasl: undefined,
    connectionTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
  };
  return new client.KafkajsClient({ settings, clock: new clock.SystemClock(), random: new random.SystemRandom() });
}

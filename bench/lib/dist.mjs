// The compiled program is what is measured; its own modules also serve the driver: broker, Kafka client, table.
// `BENCH_DIST` names another build, to compare two of them.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const distPath = resolve(process.env.BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)));

export const programPath = join(distPath, 'main.js');

if (!existsSync(programPath)) {
  console.error(`bench: there is no ${programPath}; run npm run build first`);
  process.exit(2);
}

const load = (path) => import(pathToFileURL(join(distPath, 'modules', path)).href);

const [clock, random, ids, client, builder, kafka, cache, library, version, session] = await Promise.all([
  load('base/system-clock.js'),
  load('base/system-random.js'),
  load('base/ids.js'),
  load('kafka/kafkajs/kafkajs-client.js'),
  load('kafka/records/record-batch-builder.js'),
  load('app/embedded/kafka-server.js'),
  load('app/embedded/cache-dir.js'),
  load('app/library.js'),
  load('app/package.js'),
  load('app/session.js'),
]);

export const { RecordBatchBuilder } = builder;
export const { startEmbeddedKafka } = kafka;
export const { defaultCacheDir, fillCacheEntry } = cache;
export const { openTable } = library;
export const { productVersion } = version;
export const { createSession } = session;

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

// The rows of a table from its change feed, with kafkajs: node fold-feed.mjs <brokers> <topic> [registry]
// Reads a feed in the debezium envelope, in JSON or (with its registry) in JSON Schema or Avro, and prints how many rows the table has, as it changes.
import { Kafka } from 'kafkajs';
import { FeedConsumer, FeedRows } from 'tidewater/consumer';

const [brokers = '127.0.0.1:9092', topic = 'cdf.orders', registry] = process.argv.slice(2);
const rows = new FeedRows();
// The rows are held in memory, so each start reads from the beginning: a group of its own.
const consumer = new Kafka({ brokers: brokers.split(',') }).consumer({ groupId: `fold-${topic}-${process.pid}` });
const feed = new FeedConsumer({
  consumer,
  topic,
  ...(registry === undefined ? {} : { registry: { url: registry } }),
  onChanges: (changes) => {
    for (const change of changes) rows.apply(change);
    console.log(`version ${changes.at(-1)?.version}: ${rows.rows.size} rows`);
  },
});
await feed.run();
process.once('SIGINT', () => void feed.stop());

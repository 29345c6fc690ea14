import { expect, it } from 'vitest';
import { partitionsRead } from '../../../src/app/partitions-read.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { load } from '../config/config-support.ts';

const { config } = load({
  yaml: `
pipeline: demo
tables: [{ name: a, columns: [{ name: id, type: long }] }, { name: b, columns: [{ name: id, type: long }] }, { name: c, columns: [{ name: id, type: long }, { name: kind, type: string }] }, { name: d, columns: [{ name: id, type: long }, { name: kind, type: string }] }, { name: letters }]
ingest:
  routes:
    - { topics: [named, absent], table: a }
    - { topicPattern: "like.*|demo.*", table: b }
    - { topics: [shared], divide: { member: kind, tables: [{ table: c, values: [x] }, { table: d, values: [y] }] } }
  deadLetters: { table: letters }
`,
});

it('counts the partitions of all topics that routes name or match, those of a divided one once', async () => {
  const clock = new SimulatedClock();
  const broker = new MemoryBroker({ clock, random: new SeededRandom(1) });
  const sizes = { named: 3, 'like.one': 5, 'like.two': 7, shared: 11, other: 13 };
  const topics = Object.entries(sizes).map(([topic, partitions]) => ({ topic, partitions }));
  await broker.client('arranger').admin.ensureTopics(topics);
  expect(await partitionsRead(config, { kafka: broker.client('one'), clock })).toBe(3 + 5 + 7 + 11);
  // Letters are read by their own table, replayed ones by every other reader; a pattern takes neither.
  await broker.client('arranger').admin.ensureTopics([
    { topic: 'demo.dlq', partitions: 17 },
    { topic: 'demo.dlq.replay', partitions: 2 },
  ]);
  expect(await partitionsRead(config, { kafka: broker.client('two'), clock })).toBe(26 + 17 + 3 * 2);
});

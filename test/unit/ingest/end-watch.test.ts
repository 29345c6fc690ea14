import { describe, expect, it } from 'vitest';
import { TopicIdentities } from '../../../src/app/topic-identities.ts';
import { toEpochMs } from '../../../src/base/clock.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { EndWatch } from '../../../src/ingest/end-watch.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { writerIdOf } from '../../../src/protocol/source-offsets.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

interface World {
  readonly clock: SimulatedClock;
  readonly kafka: KafkaClient;
  readonly watch: EndWatch;
  /** Lets the watch look on for so many seconds. */
  readonly pass: (seconds: number) => Promise<void>;
  readonly produce: (topic: string, partition: number, count: number) => Promise<void>;
  /** Marks of the present incarnations. */
  readonly marks: (entries: Readonly<Record<string, bigint>>) => Promise<ReadonlyMap<string, bigint>>;
}

async function watching(use: (world: World) => Promise<void>): Promise<void> {
  const clock = new SimulatedClock();
  const kafka = new MemoryBroker({ clock, random: new SeededRandom(3) }).client('main');
  await kafka.admin.ensureTopics([
    { topic: 'a', partitions: 2 },
    { topic: 'b', partitions: 1 },
  ]);
  const identities = new TopicIdentities({ admin: kafka.admin, pipeline: 'p' });
  const watch = new EndWatch({ admin: kafka.admin, identities, clock, onSeen: () => undefined });
  const stop = new AbortController();
  const producer = await kafka.producer();
  let running: Promise<void> | undefined;
  await use({
    clock,
    kafka,
    watch,
    pass: async (seconds) => {
      running ??= watch.run(stop.signal);
      await clock.runUntil(() => false, clock.monotonicMs() + seconds * 1_000);
    },
    produce: async (topic, partition, count) => {
      const records = Array.from({ length: count }, () => ({ value: Buffer.from('x'), timestampMs: toEpochMs(0) }));
      await producer.send([encodeRecordBatch({ topic, partition, records })]);
    },
    marks: async (entries) => {
      const found = new Map<string, bigint>();
      for (const [place, mark] of Object.entries(entries)) {
        const [topic = '', partition] = place.split(':');
        const identity = await identities.identityOf(topic);
        if (identity !== undefined) found.set(writerIdOf(identity, Number(partition)), mark);
      }
      return found;
    },
  });
  stop.abort();
  await clock.runUntil(() => false, clock.monotonicMs() + 5_000);
  await running;
}

describe('through which time a table is whole', () => {
  it('is nothing before the topics were looked at, and goes on while they are idle and the table has all', async () => {
    await watching(async ({ clock, watch, pass, produce, marks }) => {
      await produce('a', 0, 5);
      const whole = await marks({ 'a:0': 5n });
      expect(watch.validThrough('t', ['a'], whole)).toBeUndefined();
      await pass(3);
      const first = watch.validThrough('t', ['a'], whole) ?? 0;
      expect(clock.now() - first).toBeLessThanOrEqual(1_100);
      await pass(60);
      expect((watch.validThrough('t', ['a'], whole) ?? 0) - first).toBeGreaterThanOrEqual(59_000);
    });
  });

  it('is the least of all partitions and topics: a look from before what is missing was there', async () => {
    await watching(async ({ clock, watch, pass, produce, marks }) => {
      watch.validThrough('t', ['a', 'b'], new Map());
      await produce('a', 0, 5);
      await pass(5);
      const before = clock.now();
      await produce('a', 1, 1);
      await pass(20);
      const lagging = watch.validThrough('t', ['a', 'b'], await marks({ 'a:0': 5n })) ?? 0;
      expect(lagging).toBeLessThanOrEqual(before);
      expect(lagging).toBeGreaterThan(before - 3_000);
      expect(watch.validThrough('t', ['b'], new Map()) ?? 0).toBeGreaterThan(before);
      expect(watch.validThrough('t', ['a', 'b'], await marks({ 'a:0': 5n, 'a:1': 1n })) ?? 0).toBeGreaterThan(before);
      expect(watch.validThrough('t', ['a', 'b'], await marks({ 'a:1': 1n }))).toBeUndefined();
    });
  });

  it('is told of a table that lags by hours, less finely, and never too late', async () => {
    await watching(async ({ clock, watch, pass, produce, marks }) => {
      watch.validThrough('t', ['a'], new Map());
      const ends: { readonly atMs: number; readonly end: bigint }[] = [];
      for (let hour = 0; hour < 8; hour += 1) {
        await produce('a', 0, 10);
        ends.push({ atMs: clock.now(), end: BigInt((hour + 1) * 10) });
        await pass(900);
      }
      for (const { atMs, end } of ends.slice(1)) {
        // Without the last record it cannot be whole beyond the moment before it was produced.
        expect(watch.validThrough('t', ['a'], await marks({ 'a:0': end - 1n })) ?? 0).toBeLessThanOrEqual(atMs);
        expect(watch.validThrough('t', ['a'], await marks({ 'a:0': end })) ?? 0).toBeGreaterThanOrEqual(atMs);
      }
    });
  });

  it('is nothing for marks of another incarnation, and stays while the broker is away', async () => {
    await watching(async ({ kafka, watch, pass, produce, marks }) => {
      await produce('a', 0, 5);
      watch.validThrough('t', ['a'], new Map());
      await pass(2);
      const old = await marks({ 'a:0': 5n });
      expect(watch.validThrough('t', ['a'], old)).toBeDefined();
      await kafka.admin.deleteTopic('a');
      await pass(2);
      expect(watch.validThrough('t', ['a'], old)).toBeDefined();
      await kafka.admin.ensureTopics([{ topic: 'a', partitions: 1 }]);
      await produce('a', 0, 1);
      await pass(2);
      expect(watch.validThrough('t', ['a'], await marks({ 'a:0': 0n }))).toBeUndefined();
    });
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { loadReplaySource, type ReplayRecord, sampleFlights } from '../../../../src/app/replay/replay-source.ts';
import { type ReplayOptions, type ReplayProgress, replay } from '../../../../src/app/replay/replayer.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { KafkaClient } from '../../../../src/kafka/client.ts';
import { partitionOfKey } from '../../../../src/kafka/murmur2.ts';
import { MemoryBroker } from '../../../support/kafka/memory-broker.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const partitions = 3;

describe('replay', () => {
  let clock: SimulatedClock;
  let kafka: KafkaClient;
  beforeEach(async () => {
    clock = new SimulatedClock();
    kafka = new MemoryBroker({ clock, random: new SeededRandom(1) }).client('replay');
    await kafka.admin.ensureTopics([{ topic: 'flights', partitions }]);
  });

  it('puts every record once, in order, into the partition of its key', async () => {
    const records = numbered(5_000);
    const progress = await run(records);
    expect(progress).toEqual({ total: 5_000, found: 0, sent: 5_000 });
    expect(await topicValues()).toEqual(expectedValues(records));
  });

  it('continues behind what the topic holds, and finds nothing to do when it is all there', async () => {
    const records = numbered(4_000);
    const stop = new AbortController();
    const first = await run(records, {
      signal: stop.signal,
      onProgress: () => {
        stop.abort();
      },
    });
    expect(first.sent).toBe(2_000);
    expect(await run(records)).toEqual({ total: 4_000, found: 2_000, sent: 2_000 });
    expect(await run(records)).toEqual({ total: 4_000, found: 4_000, sent: 0 });
    expect(await topicValues()).toEqual(expectedValues(records));
  });

  it('keeps to the rate', async () => {
    const startedAt = clock.monotonicMs();
    await run(numbered(1_000), { recordsPerSecond: 500 });
    const seconds = (clock.monotonicMs() - startedAt) / 1000;
    expect(seconds).toBeGreaterThan(1.7);
    expect(seconds).toBeLessThan(2.2);
  });

  it('refuses a topic that holds more than the sample', async () => {
    await run(numbered(100));
    await expect(run(numbered(50))).rejects.toMatchObject({ code: 'REPLAY_TOPIC_FOREIGN', kind: 'conflict' });
  });

  async function run(records: readonly ReplayRecord[], options: Partial<ReplayOptions> = {}): Promise<ReplayProgress> {
    const replaying = replay({ kafka, topic: 'flights', records, clock, signal: new AbortController().signal, ...options });
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    replaying.then(settle, settle);
    await clock.runUntil(() => settled, 60_000);
    return await replaying;
  }

  async function topicValues(): Promise<readonly (readonly string[])[]> {
    const values: string[][] = [];
    for (let partition = 0; partition < partitions; partition += 1) {
      const found: string[] = [];
      for await (const record of kafka.readPartition({ topic: 'flights', partition, from: 0n, until: 1_000_000n })) {
        found.push(Buffer.from(record.value ?? []).toString());
      }
      values.push(found);
    }
    return values;
  }
});

describe('the sample', () => {
  it('is January 2013 with unique keys, in the order of scheduled departure', async () => {
    const records = await loadReplaySource({ path: sampleFlights, keyMember: 'flight_id' });
    const rows = records.map((record) => JSON.parse(Buffer.from(record.value).toString()) as { month: number; time_hour: string });
    expect(records.length).toBe(27_004);
    expect(new Set(records.map((record) => Buffer.from(record.key).toString())).size).toBe(27_004);
    expect(new Set(rows.map((row) => row.month))).toEqual(new Set([1]));
    const hours = rows.map((row) => row.time_hour);
    expect(hours).toEqual([...hours].sort());
  });

  it('that cannot be read says which file', async () => {
    const reading = loadReplaySource({ path: '/nowhere/flights.ndjson', keyMember: 'flight_id' });
    await expect(reading).rejects.toMatchObject({
      code: 'REPLAY_SOURCE_INVALID',
      message: expect.stringContaining('/nowhere/flights.ndjson') as string,
    });
  });
});

function numbered(count: number): readonly ReplayRecord[] {
  return Array.from({ length: count }, (_, index) => ({ key: Buffer.from(`key-${index % 97}`), value: Buffer.from(`value ${index}`) }));
}

function expectedValues(records: readonly ReplayRecord[]): readonly (readonly string[])[] {
  const values: string[][] = Array.from({ length: partitions }, () => []);
  for (const { key, value } of records) values[partitionOfKey(key, key.length, partitions)]?.push(Buffer.from(value).toString());
  return values;
}

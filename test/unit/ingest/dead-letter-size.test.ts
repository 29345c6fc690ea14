import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type DeadLetterOptions, DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import type { KafkaRecord } from '../../../src/kafka/client.ts';
import type { RejectedRecord } from '../../../src/protocol/sealed-batch.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { StepClock } from '../../support/step-clock.ts';

const ranges = [{ topic: 'orders', partition: 0, from: 0n, until: 1_000n, expectedMark: 0n, writerId: 'p:orders:0:c:t' }];

function reject(offset: bigint, rest: Partial<RejectedRecord>): RejectedRecord {
  return {
    topic: 'orders',
    partition: 0,
    offset,
    timestampMs: 1_700_000_000_000,
    key: undefined,
    value: undefined,
    headers: [],
    reason: 'invalid-json',
    message: 'not valid JSON at byte 0',
    ...rest,
  };
}

async function bench(config: Readonly<Record<string, string>> = {}): Promise<{
  readonly sink: (options?: Partial<DeadLetterOptions>) => DeadLetterTopic;
  readonly stored: () => Promise<readonly KafkaRecord[]>;
  readonly broker: MemoryBroker;
}> {
  const clock = new StepClock(Date.UTC(2026, 0, 2));
  const broker = new MemoryBroker({ clock, random: new SeededRandom(1) });
  const kafka = broker.client('test');
  await kafka.admin.ensureTopics([{ topic: 'dead', partitions: 1, config }]);
  const fixed = { policy: 'dead-letter', oversize: 'truncate', topic: 'dead', partitions: 1, pipeline: 'p', table: 'orders' } as const;
  const stored = async (): Promise<readonly KafkaRecord[]> => {
    const [{ latest: until } = { latest: 0n }] = await kafka.admin.offsets('dead');
    const records: KafkaRecord[] = [];
    for await (const record of kafka.readPartition({ topic: 'dead', partition: 0, from: 0n, until })) records.push(record);
    return records;
  };
  return { sink: (options = {}) => new DeadLetterTopic({ ...fixed, kafka, clock, ...options }), stored, broker };
}

const headersOf = (record: KafkaRecord | undefined): Record<string, string> =>
  Object.fromEntries((record?.headers ?? []).map(([name, value]) => [name, Buffer.from(value).toString()]));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('a dead letter that is larger than the topic takes', () => {
  it('is written whole where it fits packed', async () => {
    const { sink, stored } = await bench();
    const value = Buffer.alloc(2_000_000, 'not json ');
    expect(await sink().write({ ranges }, [reject(1n, { value })])).toEqual({ deadLettered: 1, filtered: 0 });
    const [record] = await stored();
    expect(Buffer.compare(record?.value ?? new Uint8Array(), value)).toBe(0);
    expect(headersOf(record)).not.toHaveProperty('tidewater.dlq.cut');
  });

  it('is cut with the size, the hash and the place of the whole, and its neighbours stay whole', async () => {
    const { sink, stored } = await bench();
    const value = randomBytes(1_048_400);
    const rejects = [reject(1n, { value: Buffer.from('a') }), reject(2n, { value }), reject(3n, { value: Buffer.from('b') })];
    await sink().write({ ranges }, rejects);
    const [before, cut, after] = await stored();
    expect([before?.value, after?.value].map((bytes) => Buffer.from(bytes ?? []).toString())).toEqual(['a', 'b']);
    const kept = cut?.value ?? new Uint8Array();
    expect(kept.length).toBeGreaterThan(1_000_000);
    expect(Buffer.compare(kept, value.subarray(0, kept.length))).toBe(0);
    expect(headersOf(cut)).toMatchObject({
      'tidewater.dlq.id': 'p:orders:0:c:t:2:1700000000000:orders',
      'tidewater.dlq.cut': 'value',
      'tidewater.dlq.value.bytes': '1048400',
      'tidewater.dlq.value.sha256': sha256(value),
    });
  });

  it.each([
    { part: 'key', rest: { key: randomBytes(1_100_000), value: Buffer.from('{') } },
    { part: 'headers', rest: { headers: [['h', randomBytes(1_100_000)] as const], value: Buffer.from('{') } },
  ])('is cut in its $part where that is what does not fit', async ({ part, rest }) => {
    const { sink, stored } = await bench();
    await sink().write({ ranges }, [reject(2n, rest)]);
    const [record] = await stored();
    expect(headersOf(record)['tidewater.dlq.cut']).toBe(part);
    expect(Buffer.from(record?.value ?? []).toString()).toBe('{');
  });

  it('is cut to what the topic takes, and to less when that is refused', async () => {
    const smaller = await bench({ 'max.message.bytes': '100000' });
    await smaller.sink().write({ ranges }, [reject(2n, { value: randomBytes(200_000) })]);
    const [record] = await smaller.stored();
    expect(record?.value?.length).toBeGreaterThan(90_000);
  });

  it('is cut to less when the topic takes less than it did', async () => {
    const { sink, stored, broker } = await bench();
    const letters = sink();
    await letters.write({ ranges }, [reject(1n, { value: randomBytes(1_100_000) })]);
    broker.alterTopic('dead', { 'max.message.bytes': '50000' });
    await letters.write({ ranges }, [reject(2n, { value: randomBytes(1_100_000) })]);
    expect((await stored()).map(({ value }) => (value?.length ?? 0) > 50_000)).toEqual([true, false]);
  });

  it('is written once when the batch is tried again', async () => {
    const { sink, stored } = await bench();
    const rejects = [reject(2n, { value: randomBytes(1_100_000) })];
    await sink().write({ ranges }, rejects);
    await sink().write({ ranges }, rejects);
    expect(await stored()).toHaveLength(1);
  });

  it('stops the table where the policy says so, naming the record', async () => {
    const { sink, stored } = await bench();
    const written = sink({ oversize: 'suspend' }).write({ ranges }, [reject(2n, { value: randomBytes(1_100_000) })]);
    await expect(written).rejects.toMatchObject({
      code: 'INGEST_SUSPENDED',
      context: { topic: 'orders', partition: 0, offset: 2n },
      hint: expect.stringContaining('ingest.deadLetters.oversize') as string,
    });
    expect(await stored()).toEqual([]);
  });
});

describe('a dead letter of a batch that cannot be opened', () => {
  const batch = reject(5n, { value: Buffer.from('batch'), reason: 'corrupt-batch', unopened: { until: 12n, records: 7 } });

  it('names the range of offsets, and counts all its records', async () => {
    const { sink, stored } = await bench();
    expect(await sink().write({ ranges }, [batch])).toEqual({ deadLettered: 7, filtered: 0 });
    expect(headersOf((await stored())[0])).toMatchObject({
      '__connect.errors.offset': '5',
      'tidewater.dlq.until_offset': '12',
      'tidewater.dlq.records': '7',
      'tidewater.dlq.reason': 'corrupt-batch',
    });
  });

  it('is passed by skip, and suspend names the range', async () => {
    const { sink } = await bench();
    expect(await sink({ policy: 'skip' }).write({ ranges }, [batch])).toEqual({ deadLettered: 0, filtered: 7 });
    await expect(sink({ policy: 'suspend' }).write({ ranges }, [batch])).rejects.toThrow('topic "orders" partition 0 offsets 5 to 11');
  });
});

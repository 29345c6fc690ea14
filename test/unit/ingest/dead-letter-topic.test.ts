import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type DeadLetterOptions, DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import type { KafkaClient, KafkaRecord } from '../../../src/kafka/client.ts';
import { MemoryBroker } from '../../../src/kafka/memory/memory-broker.ts';
import type { RejectedRecord } from '../../../src/protocol/sealed-batch.ts';
import { StepClock } from '../../support/step-clock.ts';

const bytes = (value: string): Uint8Array => Buffer.from(value);

function reject(partition: number, offset: bigint, rest: Partial<RejectedRecord> = {}): RejectedRecord {
  return {
    topic: 'orders',
    partition,
    offset,
    timestampMs: 1_700_000_000_123,
    key: bytes(`k${offset}`),
    value: bytes('{"id":'),
    headers: [],
    reason: 'invalid-json',
    message: 'not valid JSON at byte 6',
    ...rest,
  };
}

class Bench {
  readonly clock: StepClock = new StepClock(Date.UTC(2026, 0, 2));
  readonly broker: MemoryBroker = new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) });
  readonly client: KafkaClient = this.broker.client('test');

  async sink(options: Partial<DeadLetterOptions> = {}): Promise<DeadLetterTopic> {
    await this.client.admin.ensureTopics([{ topic: 'dead', partitions: 2 }]);
    const producer = (): ReturnType<KafkaClient['producer']> => this.client.producer();
    return new DeadLetterTopic({
      policy: 'dead-letter',
      topic: 'dead',
      partitions: 2,
      pipeline: 'p',
      producer,
      clock: this.clock,
      ...options,
    });
  }

  async stored(): Promise<readonly KafkaRecord[]> {
    const records: KafkaRecord[] = [];
    for (const { partition, earliest, latest } of await this.client.admin.offsets('dead')) {
      const range = { topic: 'dead', partition, from: earliest, until: latest };
      for await (const record of this.client.readPartition(range)) records.push(record);
    }
    return records;
  }
}

const headersOf = (record: KafkaRecord | undefined): Record<string, string> =>
  Object.fromEntries((record?.headers ?? []).map(([name, value]) => [name, Buffer.from(value).toString()]));

describe('the dead-letter topic', () => {
  it('holds the record unchanged, with where it came from and why it is there', async () => {
    const bench = new Bench();
    const original = reject(1, 42n, { headers: [['trace', bytes('abc')]] });
    expect(await (await bench.sink()).write('orders', [original])).toEqual({ deadLettered: 1, filtered: 0 });
    const [record] = await bench.stored();
    expect(record).toMatchObject({ partition: 1, timestampMs: 1_700_000_000_123 });
    expect([record?.key, record?.value].map((part) => Buffer.from(part ?? []).toString())).toEqual(['k42', '{"id":']);
    expect(headersOf(record)).toMatchObject({
      trace: 'abc',
      '__connect.errors.topic': 'orders',
      '__connect.errors.partition': '1',
      '__connect.errors.offset': '42',
      '__connect.errors.connector.name': 'p',
      '__connect.errors.exception.message': 'not valid JSON at byte 6',
      'tidewater.dlq.reason': 'invalid-json',
      'tidewater.dlq.table': 'orders',
      'tidewater.dlq.rejected_at': '2026-01-02T00:00:00.000Z',
    });
  });

  it('keeps a null key and a null value apart from empty ones', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    await sink.write('orders', [reject(0, 1n, { key: undefined, value: undefined }), reject(0, 2n, { key: bytes(''), value: bytes('') })]);
    const [nothing, empty] = await bench.stored();
    expect([nothing?.key, nothing?.value]).toEqual([undefined, undefined]);
    expect([empty?.key?.length, empty?.value?.length]).toEqual([0, 0]);
  });

  it('leaves the headers of a record alone that was a dead letter before', async () => {
    const bench = new Bench();
    await (await bench.sink()).write('orders', [reject(0, 1n, { headers: [['__connect.errors.topic', bytes('first')]] })]);
    const [record] = await bench.stored();
    expect(record?.headers.filter(([name]) => name === '__connect.errors.topic')).toHaveLength(1);
    expect(headersOf(record)['__connect.errors.topic']).toBe('first');
  });

  it('keeps the order of each source partition, and splits what is too much for one batch', async () => {
    const bench = new Bench();
    const value = new Uint8Array(300 * 1024);
    const rejects = [reject(0, 1n, { value }), reject(0, 2n, { value }), reject(1, 7n), reject(2, 9n), reject(0, 3n)];
    expect(await (await bench.sink()).write('orders', rejects)).toEqual({ deadLettered: 5, filtered: 0 });
    const places = (await bench.stored()).map((record) => `${record.partition}: ${headersOf(record)['__connect.errors.offset'] ?? ''}`);
    expect(places).toEqual(['0: 1', '0: 2', '0: 9', '0: 3', '1: 7']);
  });

  it('rejects when the broker does not store them', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    bench.broker.inject({ operation: 'produce', when: 'before' });
    await expect(sink.write('orders', [reject(0, 1n)])).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('counts what is skipped, and stops loudly at the first record when it must suspend', async () => {
    const bench = new Bench();
    expect(await (await bench.sink({ policy: 'skip' })).write('orders', [reject(0, 1n), reject(0, 2n)])).toEqual({
      deadLettered: 0,
      filtered: 2,
    });
    const suspending = await bench.sink({ policy: 'suspend' });
    expect(await suspending.write('orders', [])).toEqual({ deadLettered: 0, filtered: 0 });
    await expect(suspending.write('orders', [reject(0, 1n), reject(0, 2n)])).rejects.toMatchObject({
      code: 'INGEST_SUSPENDED',
      kind: 'invalid',
      context: { topic: 'orders', partition: 0, offset: 1n, reason: 'invalid-json' },
    });
    expect(await bench.stored()).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { DeadLetterIncarnations, type ReplacedDeadLetters } from '../../../src/ingest/dead-letter-incarnations.ts';
import { type DeadLetterOptions, DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import type { KafkaClient, KafkaRecord } from '../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import type { RejectedRecord, SealedBatch } from '../../../src/protocol/sealed-batch.ts';
import { writerIdOf } from '../../../src/protocol/source-offsets.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
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

/** What a batch covers: all offsets from one on, of every partition. */
const batchFrom = (from: bigint, { pipeline = 'p', topicId = 'first' } = {}): Pick<SealedBatch, 'ranges'> => ({
  ranges: Array.from({ length: 100 }, (_, partition) => {
    const writerId = writerIdOf({ pipeline, clusterId: 'c', topic: 'orders', topicId }, partition);
    return { topic: 'orders', partition, from, until: from + 1_000n, expectedMark: from, writerId };
  }),
});

class Bench {
  readonly clock: StepClock = new StepClock(Date.UTC(2026, 0, 2));
  /** Where a client of the broker dies. */
  dies: { readonly client: string; readonly at: string } | undefined;
  readonly broker: MemoryBroker = new MemoryBroker({
    clock: this.clock,
    random: new SeededRandom(1),
    failpoint: (point) => {
      if (point === this.dies?.at) this.broker.crashClient(this.dies.client);
      return Promise.resolve();
    },
  });
  readonly client: KafkaClient = this.broker.client('test');
  readonly found: number[] = [];

  /** The dead letters as one worker writes them: its first batch after a start, unless it is kept. */
  async sink(options: Partial<DeadLetterOptions> = {}): Promise<DeadLetterTopic> {
    await this.client.admin.ensureTopics([{ topic: 'dead', partitions: 2 }]);
    return new DeadLetterTopic({
      policy: 'dead-letter',
      oversize: 'truncate',
      topic: 'dead',
      partitions: 2,
      pipeline: 'p',
      table: 'orders',
      kafka: this.client,
      clock: this.clock,
      onFound: (count) => this.found.push(count),
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

  /** Source partitions and offsets of the dead letters that readers of committed records see, sorted. */
  async places(): Promise<readonly string[]> {
    const records = await this.stored();
    return records
      .map((record) => headersOf(record))
      .map((headers) => `${headers['__connect.errors.partition'] ?? ''}:${headers['__connect.errors.offset'] ?? ''}`)
      .sort();
  }
}

const headersOf = (record: KafkaRecord | undefined): Record<string, string> =>
  Object.fromEntries((record?.headers ?? []).map(([name, value]) => [name, Buffer.from(value).toString()]));

describe('the dead-letter topic', () => {
  it('is told once when it was deleted and made anew, whichever table looks', async () => {
    const bench = new Bench();
    const told: ReplacedDeadLetters[] = [];
    const incarnations = new DeadLetterIncarnations((replaced) => told.push(replaced));
    const first = await bench.sink({ incarnations });
    await first.write(batchFrom(0n), [reject(0, 1n)]);
    await first.write(batchFrom(0n), [reject(0, 2n)]);
    expect(told).toEqual([]);
    const oldTopicId = await bench.client.admin.topicId('dead');
    await bench.client.admin.deleteTopic('dead');
    const second = await bench.sink({ incarnations });
    const newTopicId = await bench.client.admin.topicId('dead');
    await second.write(batchFrom(0n), [reject(0, 3n)]);
    await (await bench.sink({ incarnations, table: 'other' })).write(batchFrom(0n), [reject(0, 3n)]);
    expect(told).toEqual([{ topic: 'dead', oldTopicId, newTopicId }]);
    expect(newTopicId).not.toBe(oldTopicId);
  });

  it('is written whether the broker says which topic it is or not', async () => {
    const told: ReplacedDeadLetters[] = [];
    const incarnations = new DeadLetterIncarnations((replaced) => told.push(replaced));
    const unavailable = new ServiceError({ code: 'KAFKA_UNAVAILABLE', kind: 'unavailable', message: 'the broker does not answer' });
    const answers = [() => Promise.resolve('one'), () => Promise.reject(unavailable), () => Promise.resolve('two')];
    for (const topicId of answers) await incarnations.look({ topicId }, 'dead');
    expect(told).toEqual([{ topic: 'dead', oldTopicId: 'one', newTopicId: 'two' }]);
  });

  it('holds the record unchanged, with where it came from and why it is there', async () => {
    const bench = new Bench();
    const original = reject(1, 42n, { headers: [['trace', bytes('abc')]] });
    expect(await (await bench.sink()).write(batchFrom(0n), [original])).toEqual({ deadLettered: 1, filtered: 0 });
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
    await sink.write(batchFrom(0n), [
      reject(0, 1n, { key: undefined, value: undefined }),
      reject(0, 2n, { key: bytes(''), value: bytes('') }),
    ]);
    const [nothing, empty] = await bench.stored();
    expect([nothing?.key, nothing?.value]).toEqual([undefined, undefined]);
    expect([empty?.key?.length, empty?.value?.length]).toEqual([0, 0]);
  });

  it('leaves the headers of a record alone that was a dead letter before', async () => {
    const bench = new Bench();
    await (await bench.sink()).write(batchFrom(0n), [reject(0, 1n, { headers: [['__connect.errors.topic', bytes('first')]] })]);
    const [record] = await bench.stored();
    expect(record?.headers.filter(([name]) => name === '__connect.errors.topic')).toHaveLength(1);
    expect(headersOf(record)['__connect.errors.topic']).toBe('first');
  });

  it('keeps the order of each source partition, and splits what is too much for one batch', async () => {
    const bench = new Bench();
    const value = new Uint8Array(300 * 1024);
    const rejects = [reject(0, 1n, { value }), reject(0, 2n, { value }), reject(1, 7n), reject(2, 9n), reject(0, 3n)];
    expect(await (await bench.sink()).write(batchFrom(0n), rejects)).toEqual({ deadLettered: 5, filtered: 0 });
    const places = (await bench.stored()).map((record) => `${record.partition}: ${headersOf(record)['__connect.errors.offset'] ?? ''}`);
    expect([places.length, places[4], places.filter((place) => place !== '0: 9')]).toEqual([5, '1: 7', ['0: 1', '0: 2', '0: 3', '1: 7']]);
  });

  it('rejects when the broker does not store them', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    bench.broker.inject({ operation: 'produce', when: 'before', times: 10 });
    await expect(sink.write(batchFrom(0n), [reject(0, 1n)])).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('is refused when it is compacted, and taken when it is no more', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    bench.broker.alterTopic('dead', { 'cleanup.policy': 'compact,delete' });
    await expect(sink.write(batchFrom(0n), [reject(0, 1n)])).rejects.toMatchObject({
      code: 'DEAD_LETTER_TOPIC_COMPACTED',
      kind: 'invalid',
      message: expect.stringContaining('"dead" has cleanup.policy=compact,delete') as string,
    });
    bench.broker.alterTopic('dead', { 'cleanup.policy': 'delete' });
    await sink.write(batchFrom(0n), [reject(0, 1n)]);
    expect(await bench.places()).toEqual(['0:1']);
  });

  it('counts what is skipped, and stops loudly at the first record when it must suspend', async () => {
    const bench = new Bench();
    expect(await (await bench.sink({ policy: 'skip' })).write(batchFrom(0n), [reject(0, 1n), reject(0, 2n)])).toEqual({
      deadLettered: 0,
      filtered: 2,
    });
    const suspending = await bench.sink({ policy: 'suspend' });
    expect(await suspending.write(batchFrom(0n), [])).toEqual({ deadLettered: 0, filtered: 0 });
    await expect(suspending.write(batchFrom(0n), [reject(0, 1n), reject(0, 2n)])).rejects.toMatchObject({
      code: 'INGEST_SUSPENDED',
      kind: 'invalid',
      context: { topic: 'orders', partition: 0, offset: 1n, reason: 'invalid-json' },
    });
    expect(await bench.stored()).toEqual([]);
  });
});

describe('a record that the table is to stand still at', () => {
  it.each(['dead-letter', 'skip', 'suspend'] as const)('stops it before anything is written, with the policy %s', async (policy) => {
    const bench = new Bench();
    const sink = await bench.sink({ policy });
    const stands = { ...reject(0, 2n), reason: 'expectation-failed', suspends: true } as const;
    await expect(sink.write(batchFrom(0n), [reject(0, 1n), stands])).rejects.toMatchObject({
      code: 'INGEST_SUSPENDED',
      context: { offset: policy === 'suspend' ? 1n : 2n },
    });
    expect(await bench.stored()).toEqual([]);
  });
});

describe('dead letters of a batch that is read again', () => {
  const two = [reject(0, 12n), reject(1, 15n)];

  it('are not written again by the process that starts after a kill between them and the commit', async () => {
    const bench = new Bench();
    await (await bench.sink()).write(batchFrom(10n), two);
    expect(await (await bench.sink()).write(batchFrom(10n), two)).toEqual({ deadLettered: 2, filtered: 0 });
    expect(await bench.places()).toEqual(['0:12', '1:15']);
    expect(bench.found).toEqual([1, 1]);
  });

  it('are not written again by the same worker, whose batch was discarded', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    await sink.write(batchFrom(10n), two);
    await sink.write(batchFrom(10n), two);
    await sink.write(batchFrom(20n), [reject(0, 22n)]);
    expect(await bench.places()).toEqual(['0:12', '0:22', '1:15']);
  });

  it('are written when they were accepted before and are rejected now, and only those', async () => {
    const bench = new Bench();
    await (await bench.sink()).write(batchFrom(10n), [reject(0, 15n)]);
    await (await bench.sink()).write(batchFrom(10n), [reject(0, 12n), reject(0, 15n), reject(0, 18n)]);
    expect(await bench.places()).toEqual(['0:12', '0:15', '0:18']);
  });

  it.each([
    { what: 'half of them is written', at: 'within-transaction' },
    { what: 'they are written and not ended', at: 'before-transaction-end' },
    { what: 'their end is written and not heard of', at: 'transaction-end-applied' },
  ])('are there once after a kill when $what', async ({ at }) => {
    const bench = new Bench();
    const value = new Uint8Array(300 * 1024);
    const large = [reject(0, 12n, { value }), reject(0, 13n, { value })];
    const first = bench.broker.client('first');
    const killed = await bench.sink({ kafka: first });
    bench.dies = { client: 'first', at };
    await killed.write(batchFrom(10n), large).catch(() => undefined);
    bench.dies = undefined;
    await (await bench.sink()).write(batchFrom(10n), large);
    expect(await bench.places()).toEqual(['0:12', '0:13']);
  });

  it('are looked up when the answer to the end of their transaction is lost, and the batch goes on', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    bench.broker.inject({ operation: 'end-transaction', when: 'after' });
    expect(await sink.write(batchFrom(10n), two)).toEqual({ deadLettered: 2, filtered: 0 });
    expect(await bench.places()).toEqual(['0:12', '1:15']);
  });

  it('are there once when a worker wakes up that lost its partitions, and its heir goes on', async () => {
    const bench = new Bench();
    const [sleeper, heir] = [await bench.sink(), await bench.sink()];
    await sleeper.write(batchFrom(0n), [reject(0, 2n)]);
    await heir.write(batchFrom(10n), two);
    await sleeper.write(batchFrom(10n), two);
    await heir.write(batchFrom(20n), [reject(0, 21n), reject(1, 22n)]);
    await sleeper.write(batchFrom(20n), [reject(0, 21n)]);
    expect(await bench.places()).toEqual(['0:12', '0:2', '0:21', '1:15', '1:22']);
  });

  it('are there once when two workers write them at the same time, as often as they may', async () => {
    const bench = new Bench();
    const sinks = [await bench.sink(), await bench.sink(), await bench.sink()];
    for (let from = 0n; from < 50n; from += 10n) {
      const rejects = [reject(0, from + 1n), reject(1, from + 2n), reject(1, from + 3n)];
      await Promise.all(sinks.map((sink) => sink.write(batchFrom(from), rejects).catch(() => undefined)));
      await (await bench.sink()).write(batchFrom(from), rejects);
    }
    const places = await bench.places();
    expect(places).toHaveLength(15);
    expect(new Set(places).size).toBe(15);
  });

  it('are known when a later one is older than everything before it, and when the table was restored to before them', async () => {
    const bench = new Bench();
    const old = reject(0, 18n, { timestampMs: 1_000 });
    await (await bench.sink()).write(batchFrom(10n), [reject(0, 12n), old]);
    const sink = await bench.sink();
    await sink.write(batchFrom(10n), [reject(0, 12n)]);
    await sink.write(batchFrom(15n), [old]);
    await sink.write(batchFrom(10n), [reject(0, 12n), old]);
    expect(await bench.places()).toEqual(['0:12', '0:18']);
  });

  it('belong to one incarnation of their topic: the records of a topic made anew are others', async () => {
    const bench = new Bench();
    await (await bench.sink()).write(batchFrom(0n), [reject(0, 12n)]);
    await (await bench.sink()).write(batchFrom(0n, { topicId: 'second' }), [reject(0, 12n)]);
    expect(await bench.places()).toEqual(['0:12', '0:12']);
  });

  it('belong to one table and one pipeline: others may have the same records', async () => {
    const bench = new Bench();
    for (const { table, pipeline } of [
      { table: 'a', pipeline: 'p' },
      { table: 'b', pipeline: 'p' },
      { table: 'a', pipeline: 'q' },
    ]) {
      for (let start = 0; start < 2; start += 1) {
        await (await bench.sink({ table, pipeline })).write(batchFrom(0n, { pipeline }), [reject(0, 12n)]);
      }
    }
    expect(await bench.places()).toEqual(['0:12', '0:12', '0:12']);
  });

  it('are named by a header of their own, also when they were dead letters before', async () => {
    const bench = new Bench();
    await (await bench.sink()).write(batchFrom(0n), [reject(0, 12n)]);
    const [first] = await bench.stored();
    const again = reject(1, 3n, { headers: first?.headers ?? [] });
    for (let start = 0; start < 2; start += 1) await (await bench.sink()).write(batchFrom(0n), [again]);
    const ids = (await bench.stored()).map(({ headers }) =>
      headers.filter(([name]) => name === 'tidewater.dlq.id').map(([, value]) => Buffer.from(value).toString()),
    );
    const named = (partition: number, offset: number): string => `p:orders:${partition}:c:first:${offset}:1700000000123:orders`;
    expect(ids).toEqual([[named(0, 12)], [named(0, 12), named(1, 3)]]);
  });

  it('are found though an open transaction of another worker hides the end of the topic for a while', async () => {
    const bench = new Bench();
    const other = bench.broker.client('other');
    const hanging = await other.openTransactional({ transactionalId: 'other', transactionTimeoutMs: 10_000 });
    await (await bench.sink()).write(batchFrom(0n), []);
    bench.dies = { client: 'other', at: 'before-transaction-end' };
    const record = encodeRecordBatch({ topic: 'dead', partition: 0, records: [{ value: bytes('x'), timestampMs: bench.clock.now() }] });
    await expect(hanging.publish([record])).rejects.toThrow();
    bench.dies = undefined;
    await expect((await bench.sink()).write(batchFrom(10n), two)).rejects.toMatchObject({
      code: 'DEAD_LETTERS_UNREADABLE',
      kind: 'unavailable',
    });
    bench.broker.sweep(bench.clock.monotonicMs() + 20_000);
    await (await bench.sink()).write(batchFrom(10n), two);
    expect(await bench.places()).toEqual(['0:12', '1:15']);
  });

  it('are found at once though a worker died within a transaction for another partition of the batch', async () => {
    const bench = new Bench();
    await (await bench.sink({ kafka: bench.broker.client('old') })).write(batchFrom(10n), two);
    bench.dies = { client: 'old', at: 'before-transaction-end' };
    const beforeMs = bench.clock.monotonicMs();
    await expect((await bench.sink({ kafka: bench.broker.client('old') })).write(batchFrom(20n), [reject(2, 21n)])).rejects.toThrow();
    bench.dies = undefined;
    await (await bench.sink()).write(batchFrom(10n), [reject(0, 12n), reject(0, 13n)]);
    expect(bench.clock.monotonicMs() - beforeMs).toBeLessThan(2_000);
    expect(await bench.places()).toEqual(['0:12', '0:13', '1:15']);
  });

  it('of more partitions than there are producers at once are written all the same, each once', async () => {
    const bench = new Bench();
    const rejects = Array.from({ length: 100 }, (_, partition) => [reject(partition, 11n), reject(partition, 12n)]).flat();
    for (let start = 0; start < 2; start += 1) {
      const sink = await bench.sink();
      await sink.write(batchFrom(10n), rejects);
      await sink.write(batchFrom(10n), rejects);
      await sink.close();
    }
    expect(await bench.places()).toHaveLength(200);
    expect(new Set(await bench.places()).size).toBe(200);
  });

  it('are left alone when the partitions were taken away meanwhile', async () => {
    const bench = new Bench();
    const sink = await bench.sink();
    await expect(sink.write(batchFrom(10n), two, AbortSignal.abort())).rejects.toMatchObject({ kind: 'aborted' });
    expect(await bench.places()).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/base/clock.ts';
import type {
  ConsumerOptions,
  EncodedRecordBatch,
  KafkaClient,
  KafkaConsumer,
  KafkaRecord,
  OutgoingRecord,
  TopicPartition,
} from '../../src/kafka/client.ts';
import type { Compression } from '../../src/kafka/compression.ts';
import { encodeRecordBatch } from '../../src/kafka/record-batch.ts';
import { RecordingHandler, until } from '../support/recording-handler.ts';

/** What a test run of the suite needs from an adapter. */
export interface KafkaRig {
  /** A client of the one broker under test; each call another client. */
  client(clientId: string): KafkaClient;
  /** Deletes records below an offset, as retention does. */
  deleteRecords(at: TopicPartition, beforeOffset: bigint): Promise<void>;
  close(): Promise<void>;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const record = (value: string, more: Partial<OutgoingRecord> = {}): OutgoingRecord => ({
  value: text(value),
  timestampMs: toEpochMs(1_700_000_000_000),
  ...more,
});
const batchOf = (at: TopicPartition, values: readonly string[], compression?: Compression): EncodedRecordBatch =>
  encodeRecordBatch({ topic: at.topic, partition: at.partition, records: values.map((value) => record(value)), compression });

async function collect(records: AsyncIterable<KafkaRecord>): Promise<readonly KafkaRecord[]> {
  const collected: KafkaRecord[] = [];
  for await (const each of records) collected.push(each);
  return collected;
}

/** The promises of `KafkaClient`, as tests; run against every adapter. */
export function describeKafkaClient(name: string, makeRig: () => Promise<KafkaRig>): void {
  describe(name, () => {
    const state: { rig?: KafkaRig; clients: KafkaClient[]; serial: number } = { clients: [], serial: 0 };
    const suite: Suite = {
      rig: () => {
        if (state.rig === undefined) throw new Error('the rig is not up');
        return state.rig;
      },
      client: () => {
        state.serial += 1;
        const client = suite.rig().client(`client-${state.serial}`);
        state.clients.push(client);
        return client;
      },
      unique: (prefix) => {
        state.serial += 1;
        return `${prefix}-${process.pid}-${state.serial}`;
      },
    };
    beforeAll(async () => {
      state.rig = await makeRig();
    });
    afterAll(async () => {
      await Promise.all(state.clients.map((client) => client.close()));
      await state.rig?.close();
    });
    describeRecords(suite);
    describeConsumers(suite);
    describeGroups(suite);
    describeTransactions(suite);
    describeAdmin(suite);
  });
}

interface Suite {
  rig(): KafkaRig;
  client(): KafkaClient;
  unique(prefix: string): string;
}

async function topicOf(suite: Suite, client: KafkaClient, partitions = 1): Promise<string> {
  const topic = suite.unique('topic');
  await client.admin.ensureTopics([{ topic, partitions }]);
  return topic;
}

async function readAll(
  client: KafkaClient,
  topic: string,
  options: { readonly readCommitted?: boolean } = {},
): Promise<readonly KafkaRecord[]> {
  return collect(client.readPartition({ topic, partition: 0, from: 0n, until: 1_000_000n, ...options }));
}

async function readValues(
  client: KafkaClient,
  topic: string,
  options: { readonly readCommitted?: boolean } = {},
): Promise<readonly string[]> {
  return (await readAll(client, topic, options)).map((each) => Buffer.from(each.value ?? []).toString());
}

function describeRecords(suite: Suite): void {
  describe('records', () => {
    it('come back as they were sent: keys, tombstones, headers, timestamps, offsets', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const sent: readonly OutgoingRecord[] = [
        record('plain'),
        record('keyed', { key: text('k'), timestampMs: toEpochMs(1_700_000_000_123) }),
        { key: text('gone'), timestampMs: toEpochMs(1_700_000_000_124) },
        record('', { key: text('') }),
        record('with headers', {
          headers: [
            ['a', text('1')],
            ['a', text('2')],
            ['ü', text('')],
          ],
        }),
      ];
      const producer = await client.producer();
      await producer.send([encodeRecordBatch({ topic, partition: 0, records: sent })]);
      await producer.close();
      expect(await readAll(client, topic)).toEqual(
        sent.map((each, index) => ({ topic, partition: 0, offset: BigInt(index), key: undefined, value: undefined, headers: [], ...each })),
      );
    });

    it.each(['none', 'gzip', 'snappy', 'lz4'] as const)('come back when packed with %s', async (compression) => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const values = Array.from({ length: 500 }, (_, index) => `value number ${index}`);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, values, compression)]);
      expect(await readValues(client, topic)).toEqual(values);
    });

    it('of 900 KB pass, of 1.1 MB are refused as invalid', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['x'.repeat(900_000)])]);
      await expect(producer.send([batchOf({ topic, partition: 0 }, ['x'.repeat(1_100_000)])])).rejects.toMatchObject({
        code: 'KAFKA_RECORD_TOO_LARGE',
        kind: 'invalid',
      });
      await producer.send([batchOf({ topic, partition: 0 }, ['after'])]);
      expect((await readValues(client, topic)).map((value) => value.length)).toEqual([900_000, 5]);
    });

    it('for a topic that does not exist are refused as invalid', async () => {
      const client = suite.client();
      const producer = await client.producer();
      await expect(producer.send([batchOf({ topic: suite.unique('absent'), partition: 0 }, ['x'])])).rejects.toMatchObject({
        kind: 'invalid',
      });
    });

    it('keep the order of batches and of concurrent sends', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      const at = { topic, partition: 0 };
      await Promise.all([
        producer.send([batchOf(at, ['0']), batchOf(at, ['1']), batchOf(at, ['2'])]),
        producer.send([batchOf(at, ['3'])]),
        producer.send([batchOf(at, ['4'])]),
      ]);
      expect(await readValues(client, topic)).toEqual(['0', '1', '2', '3', '4']);
    });

    it('are read within the offsets asked for', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['a', 'b', 'c', 'd', 'e'])]);
      const read = await collect(client.readPartition({ topic, partition: 0, from: 1n, until: 4n }));
      expect(read.map((each) => each.offset)).toEqual([1n, 2n, 3n]);
    });
  });
}

interface Running {
  readonly consumer: KafkaConsumer;
  readonly handler: RecordingHandler;
}

async function consume(
  client: KafkaClient,
  options: Omit<ConsumerOptions, 'handler'> & { readonly startAt?: RecordingHandler['startAt'] },
): Promise<Running> {
  const handler = new RecordingHandler();
  if (options.startAt !== undefined) handler.startAt = options.startAt;
  const consumer = client.consumer({ maxWaitMs: 50, ...options, handler });
  await consumer.start();
  return { consumer, handler };
}

function describeConsumers(suite: Suite): void {
  describe('a consumer', () => {
    it('starts where the handler says and follows what is produced', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['0', '1', '2', '3'])]);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic], startAt: () => 2n });
      await until(() => handler.values().length === 2, 'the stored records arrived');
      await producer.send([batchOf({ topic, partition: 0 }, ['4'])]);
      await until(() => handler.values().length === 3, 'the later record arrived');
      expect(handler.values()).toEqual(['2', '3', '4']);
      expect(handler.fetches.map((fetch) => [fetch.fetchOffset, fetch.untilOffset])).toEqual([
        [2n, 4n],
        [4n, 5n],
      ]);
      expect(handler.fetches.at(-1)?.highWatermark).toBe(5n);
      await consumer.stop();
      expect(handler.failures).toEqual([]);
    });

    it('gets nothing of a generation before onAssigned has answered', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['0', '1'])]);
      const gate: { open: () => void } = { open: () => undefined };
      const opened = new Promise<void>((resolve) => {
        gate.open = resolve;
      });
      const { consumer, handler } = await consume(client, {
        groupId: suite.unique('group'),
        topics: [topic],
        startAt: () => opened.then(() => 1n),
      });
      await until(() => handler.events.length === 1, 'onAssigned was called');
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(handler.events).toHaveLength(1);
      gate.open();
      await until(() => handler.values().length > 0, 'records arrived');
      expect(handler.values()).toEqual(['1']);
      await consumer.stop();
    });

    it('leaves a partition without a start position alone until seek', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client, 2);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['zero']), batchOf({ topic, partition: 1 }, ['one'])]);
      const { consumer, handler } = await consume(client, {
        groupId: suite.unique('group'),
        topics: [topic],
        startAt: (at) => (at.partition === 0 ? 0n : undefined),
      });
      await until(() => handler.values().length === 1, 'the first partition arrived');
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(handler.values()).toEqual(['zero']);
      consumer.seek({ topic, partition: 1, offset: 0n });
      await until(() => handler.values().length === 2, 'the second partition arrived');
      expect(handler.values()).toEqual(['zero', 'one']);
      await consumer.stop();
    });

    it('delivers nothing of a paused partition and goes on after resume without a gap', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await producer.send([batchOf({ topic, partition: 0 }, ['before'])]);
      await until(() => handler.values().length === 1, 'the first record arrived');
      consumer.pause([{ topic, partition: 0 }]);
      await producer.send([batchOf({ topic, partition: 0 }, ['during'])]);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(handler.values()).toEqual(['before']);
      consumer.resume([{ topic, partition: 0 }]);
      await until(() => handler.values().length === 2, 'the paused record arrived');
      expect(handler.values()).toEqual(['before', 'during']);
      await consumer.stop();
    });

    it('moves back by seek and reads again', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['0', '1', '2'])]);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.values().length === 3, 'all arrived');
      consumer.seek({ topic, partition: 0, offset: 1n });
      await until(() => handler.values().length === 5, 'the end arrived again');
      expect(handler.values()).toEqual(['0', '1', '2', '1', '2']);
      await consumer.stop();
    });

    it('reports an offset that retention deleted once and rests until seek', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      for (const value of ['0', '1', '2']) await producer.send([batchOf({ topic, partition: 0 }, [value])]);
      await suite.rig().deleteRecords({ topic, partition: 0 }, 2n);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.outOfRange.length === 1, 'the handler heard of it');
      expect(handler.outOfRange).toEqual([
        { position: { topic, partition: 0, offset: 0n }, held: { topic, partition: 0, earliest: 2n, latest: 3n } },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(handler.outOfRange).toHaveLength(1);
      consumer.seek({ topic, partition: 0, offset: 2n });
      await until(() => handler.values().length === 1, 'reading went on');
      expect(handler.values()).toEqual(['2']);
      expect(handler.failures).toEqual([]);
      await consumer.stop();
    });

    it('reports an offset past the end', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic], startAt: () => 100n });
      await until(() => handler.outOfRange.length === 1, 'the handler heard of it');
      expect(handler.outOfRange[0]?.held).toEqual({ topic, partition: 0, earliest: 0n, latest: 0n });
      await consumer.stop();
    });

    it('fails for good when its topic does not exist', async () => {
      const client = suite.client();
      const handler = new RecordingHandler();
      const consumer = client.consumer({ groupId: suite.unique('group'), topics: [suite.unique('absent')], handler });
      await expect(consumer.start()).rejects.toMatchObject({ code: 'KAFKA_TOPIC_NOT_FOUND' });
      await consumer.stop();
    });

    it('makes no call after stop has resolved', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.events.length === 2, 'it was assigned');
      await consumer.stop();
      const events = [...handler.events];
      await producer.send([batchOf({ topic, partition: 0 }, ['late'])]);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(handler.events).toEqual(events);
    });
  });
}

function describeGroups(suite: Suite): void {
  describe('a group', () => {
    it('revokes before it assigns anew, and splits the partitions', async () => {
      const [client, other] = [suite.client(), suite.client()];
      const topic = await topicOf(suite, client, 4);
      const groupId = suite.unique('group');
      const first = await consume(client, { groupId, topics: [topic] });
      await until(() => first.handler.events.includes('ready 1'), 'the first member owns all');
      expect(first.handler.assigned).toHaveLength(4);
      const second = await consume(other, { groupId, topics: [topic] });
      await until(() => first.handler.assigned.length === 2 && second.handler.assigned.length === 2, 'both own half');
      const shared = [...first.handler.assigned, ...second.handler.assigned].map((at) => at.partition).sort();
      expect(shared).toEqual([0, 1, 2, 3]);
      expect(first.handler.events.slice(0, 4)).toEqual(['assigned 1', 'ready 1', 'revoked 1', 'assigned 2']);
      await second.consumer.stop();
      await until(() => first.handler.assigned.length === 4, 'the first member owns all again');
      await first.consumer.stop();
    });

    it('loses and repeats no record when members come and go and start where the last one ended', async () => {
      const [client, other] = [suite.client(), suite.client()];
      const topic = await topicOf(suite, client, 2);
      const groupId = suite.unique('group');
      const producer = await client.producer();
      const next = new Map<number, bigint>();
      const startAt = (at: TopicPartition): bigint => next.get(at.partition) ?? 0n;
      const seen: string[] = [];
      const follow = (handler: RecordingHandler): void => {
        const inner = handler.onFetched.bind(handler);
        handler.onFetched = (fetched) => {
          inner(fetched);
          // Fencing as the table commit does it: only what fits exactly counts.
          if ((next.get(fetched.partition) ?? 0n) !== fetched.fetchOffset) return;
          next.set(fetched.partition, fetched.untilOffset);
          seen.push(...(handler.fetches.at(-1)?.records ?? []).map((each) => Buffer.from(each.value ?? []).toString()));
        };
      };
      const running: KafkaConsumer[] = [];
      const join = async (member: KafkaClient): Promise<void> => {
        const handler = new RecordingHandler();
        handler.startAt = startAt;
        follow(handler);
        const consumer = member.consumer({ groupId, topics: [topic], handler, maxWaitMs: 50 });
        running.push(consumer);
        await consumer.start();
      };
      const sent: string[] = [];
      const produce = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index += 1) {
          const value = `r${sent.length}`;
          sent.push(value);
          await producer.send([batchOf({ topic, partition: sent.length % 2 }, [value])]);
        }
      };
      await join(client);
      await produce(20);
      await join(other);
      await produce(20);
      await running[0]?.stop();
      await produce(20);
      await until(() => seen.length >= sent.length, 'everything arrived');
      expect([...seen].sort()).toEqual([...sent].sort());
      await running[1]?.stop();
    });

    it('keeps offsets for lag tools', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client, 2);
      const groupId = suite.unique('group');
      const { consumer, handler } = await consume(client, { groupId, topics: [topic] });
      await until(() => handler.events.includes('ready 1'), 'it was assigned');
      await consumer.commitGroupOffsets([{ topic, partition: 1, offset: 7n }]);
      expect(await client.admin.groupOffsets(groupId, topic)).toEqual([{ topic, partition: 1, offset: 7n }]);
      await consumer.stop();
    });
  });
}

function describeTransactions(suite: Suite): void {
  describe('a transactional producer', () => {
    it('publishes to several partitions at once, several batches each', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client, 2);
      const producer = await client.openTransactional({ transactionalId: suite.unique('tx') });
      await producer.publish([
        batchOf({ topic, partition: 0 }, ['a', 'b']),
        batchOf({ topic, partition: 1 }, ['c']),
        batchOf({ topic, partition: 0 }, ['d']),
      ]);
      await producer.publish([batchOf({ topic, partition: 0 }, ['e'], 'lz4')]);
      expect(await readValues(client, topic)).toEqual(['a', 'b', 'd', 'e']);
      const other = await collect(client.readPartition({ topic, partition: 1, from: 0n, until: 100n }));
      expect(other.map((each) => Buffer.from(each.value ?? []).toString())).toEqual(['c']);
      await producer.close();
    });

    it('skips markers in what a consumer gets, and moves past them', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.openTransactional({ transactionalId: suite.unique('tx') });
      await producer.publish([batchOf({ topic, partition: 0 }, ['a', 'b'])]);
      await producer.publish([batchOf({ topic, partition: 0 }, ['c'])]);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.fetches.at(-1)?.untilOffset === 5n, 'the last marker was passed');
      expect(handler.values()).toEqual(['a', 'b', 'c']);
      expect(handler.fetches.flatMap((fetch) => fetch.records.map((each) => each.offset))).toEqual([0n, 1n, 3n]);
      await consumer.stop();
    });

    it('leaves nothing visible of a publish that failed, and is dead after it', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.openTransactional({ transactionalId: suite.unique('tx') });
      await expect(
        producer.publish([batchOf({ topic, partition: 0 }, ['small']), batchOf({ topic, partition: 0 }, ['x'.repeat(1_100_000)])]),
      ).rejects.toMatchObject({ code: 'KAFKA_RECORD_TOO_LARGE', kind: 'invalid' });
      await expect(producer.publish([batchOf({ topic, partition: 0 }, ['again'])])).rejects.toMatchObject({ code: 'KAFKA_PRODUCER_DEAD' });
      const plain = await client.producer();
      await plain.send([batchOf({ topic, partition: 0 }, ['after'])]);
      await until(() => true, 'settled');
      expect(await pollValues(client, topic, 1)).toEqual(['after']);
      expect(await readValues(client, topic, { readCommitted: false })).toEqual(['small', 'after']);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.values().length > 0, 'the consumer saw something');
      expect(handler.values()).toEqual(['after']);
      await consumer.stop();
    });

    it('is fenced by a newer one of the same id', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const transactionalId = suite.unique('tx');
      const old = await client.openTransactional({ transactionalId });
      await old.publish([batchOf({ topic, partition: 0 }, ['old'])]);
      const fresh = await suite.client().openTransactional({ transactionalId });
      await expect(old.publish([batchOf({ topic, partition: 0 }, ['zombie'])])).rejects.toMatchObject({
        code: 'KAFKA_FENCED',
        kind: 'fenced',
      });
      await fresh.publish([batchOf({ topic, partition: 0 }, ['fresh'])]);
      expect(await readValues(client, topic)).toEqual(['old', 'fresh']);
    });

    it('publishes many times in a row', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.openTransactional({ transactionalId: suite.unique('tx') });
      const values = Array.from({ length: 30 }, (_, index) => `v${index}`);
      for (const value of values) await producer.publish([batchOf({ topic, partition: 0 }, [value])]);
      expect(await readValues(client, topic)).toEqual(values);
    });

    it('refuses a topic that does not exist as invalid', async () => {
      const producer = await suite.client().openTransactional({ transactionalId: suite.unique('tx') });
      await expect(producer.publish([batchOf({ topic: suite.unique('absent'), partition: 0 }, ['x'])])).rejects.toMatchObject({
        kind: 'invalid',
      });
    });
  });
}

async function pollValues(client: KafkaClient, topic: string, count: number): Promise<readonly string[]> {
  let values: readonly string[] = [];
  for (let attempt = 0; attempt < 100 && values.length < count; attempt += 1) {
    values = await readValues(client, topic);
    if (values.length < count) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return values;
}

function describeAdmin(suite: Suite): void {
  describe('the admin', () => {
    it('creates missing topics and leaves existing ones alone', async () => {
      const { admin } = suite.client();
      const [first, second] = [suite.unique('topic'), suite.unique('topic')];
      expect(await admin.ensureTopics([{ topic: first, partitions: 3 }])).toEqual([first]);
      expect(
        await admin.ensureTopics([
          { topic: first, partitions: 5 },
          { topic: second, partitions: 1, config: { 'cleanup.policy': 'compact' } },
        ]),
      ).toEqual([second]);
      expect(await admin.partitionCount(first)).toBe(3);
      expect(await admin.partitionCount(second)).toBe(1);
      expect(await admin.ensureTopics([])).toEqual([]);
    });

    it('tells the cluster id, the same every time', async () => {
      const [one, other] = await Promise.all([suite.client().admin.clusterId(), suite.client().admin.clusterId()]);
      expect(one.length).toBeGreaterThan(0);
      expect(other).toBe(one);
    });

    it('knows nothing of a topic that does not exist', async () => {
      const { admin } = suite.client();
      const absent = suite.unique('absent');
      expect(await admin.partitionCount(absent)).toBeUndefined();
      await expect(admin.topicId(absent)).rejects.toMatchObject({ code: 'KAFKA_TOPIC_NOT_FOUND', kind: 'not-found' });
      await expect(admin.offsets(absent)).rejects.toMatchObject({ code: 'KAFKA_TOPIC_NOT_FOUND' });
    });

    it('tells the offsets of each partition', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client, 2);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 1 }, ['a', 'b', 'c'])]);
      await suite.rig().deleteRecords({ topic, partition: 1 }, 2n);
      expect(await client.admin.offsets(topic)).toEqual([
        { topic, partition: 0, earliest: 0n, latest: 0n },
        { topic, partition: 1, earliest: 2n, latest: 3n },
      ]);
    });

    it('tells a topic made anew from the one that was deleted', async () => {
      const { admin } = suite.client();
      const topic = suite.unique('topic');
      await admin.ensureTopics([{ topic, partitions: 1 }]);
      const before = await admin.topicId(topic);
      expect(await admin.topicId(topic)).toBe(before);
      await admin.deleteTopic(topic);
      for (let attempt = 0; attempt < 100 && (await admin.partitionCount(topic)) !== undefined; attempt += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await admin.ensureTopics([{ topic, partitions: 1 }]);
      expect(await admin.topicId(topic)).not.toBe(before);
    });
  });
}

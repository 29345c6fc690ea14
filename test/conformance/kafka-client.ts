import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/base/clock.ts';
import type { KafkaClient, OutgoingRecord } from '../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import { until } from '../support/recording-handler.ts';
import { settledTopic } from '../support/settled-topic.ts';
import { describeConsumers, describeGroups, describeTopicChanges } from './kafka-client-consumers.ts';
import {
  batchOf,
  collect,
  consume,
  goneTopic,
  type KafkaRig,
  readAll,
  readValues,
  record,
  type Suite,
  text,
  topicOf,
} from './kafka-client-suite.ts';
import { describeWorkGroups } from './kafka-client-work-groups.ts';

export type { KafkaRig } from './kafka-client-suite.ts';

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
        return `${prefix}-${name.replaceAll(' ', '-')}-${process.pid}-${state.serial}`;
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
    describeTopicChanges(suite);
    describeGroups(suite);
    describeWorkGroups(suite);
    describeTransactions(suite);
    describeAdmin(suite);
  });
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

    it('are read as record batches that join, with ends that say how far', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['a', 'b', 'c'])]);
      await producer.send([batchOf({ topic, partition: 0 }, ['d', 'e', 'f', 'g'])]);
      const fetched = await collect(client.readBatches({ topic, partition: 0, from: 1n, until: 7n }));
      expect(fetched.at(0)?.fetchOffset).toBe(1n);
      for (const [index, { untilOffset, highWatermark, topicId }] of fetched.entries()) {
        expect(fetched[index + 1]?.fetchOffset ?? 7n).toBe(untilOffset);
        expect([highWatermark, topicId]).toEqual([7n, await client.admin.topicId(topic)]);
      }
      const batches = fetched.flatMap((each) => each.batches);
      expect(batches.map(({ baseOffset, untilOffset, recordCount }) => [baseOffset, untilOffset, recordCount])).toEqual([
        [0n, 3n, 3],
        [3n, 7n, 4],
      ]);
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
      await settledTopic(client, topic);
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
      await settledTopic(client, topic);
      expect(await readValues(client, topic)).toEqual(['old', 'fresh']);
    });

    it('publishes to the incarnations that are meant, and nothing to a topic that was made anew', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const meant = await client.admin.topicId(topic);
      const transactionalId = suite.unique('tx');
      const producer = await client.openTransactional({ transactionalId });
      const incarnations = new Map([[topic, meant]]);
      await producer.publish([batchOf({ topic, partition: 0 }, ['first'])], { incarnations });
      await settledTopic(client, topic);
      expect(await readValues(client, topic)).toEqual(['first']);
      await goneTopic(client, topic);
      await client.admin.ensureTopics([{ topic, partitions: 1 }]);
      await expect(producer.publish([batchOf({ topic, partition: 0 }, ['stray'])], { incarnations })).rejects.toMatchObject({
        code: 'KAFKA_DESTINATION_REPLACED',
        kind: 'discontinuity',
      });
      const next = await suite.client().openTransactional({ transactionalId });
      await next.publish([batchOf({ topic, partition: 0 }, ['second'])], {
        incarnations: new Map([[topic, await client.admin.topicId(topic)]]),
      });
      await settledTopic(client, topic);
      expect(await readValues(client, topic)).toEqual(['second']);
    });

    it('publishes many times in a row', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const producer = await client.openTransactional({ transactionalId: suite.unique('tx') });
      const values = Array.from({ length: 30 }, (_, index) => `v${index}`);
      for (const value of values) await producer.publish([batchOf({ topic, partition: 0 }, [value])]);
      await settledTopic(client, topic);
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
      const counts = await admin.partitionCounts();
      expect([first, second, suite.unique('absent')].map((topic) => counts.get(topic))).toEqual([3, 1, undefined]);
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

    it('tells where the records of a time and later lie, those of open transactions included', async () => {
      const client = suite.client();
      const { admin } = client;
      const topic = await topicOf(suite, client, 2);
      const producer = await client.producer();
      const base = Date.now() - 60_000;
      for (const afterMs of [1_000, 5_000, 3_000]) {
        const records = [record(String(afterMs), { timestampMs: toEpochMs(base + afterMs) })];
        await producer.send([encodeRecordBatch({ topic, partition: 1, records })]);
      }
      const since = async (sinceMs: number): Promise<readonly bigint[]> => {
        const spans = await admin.recordsSince(topic, sinceMs);
        expect(spans.map(({ partition }) => partition)).toEqual([0, 1]);
        return spans.flatMap(({ from, until }) => [from, until]);
      };
      expect(await since(base + 2_000)).toEqual([0n, 0n, 1n, 3n]);
      expect(await since(base + 5_000)).toEqual([0n, 0n, 1n, 3n]);
      expect(await since(base + 5_001)).toEqual([0n, 0n, 3n, 3n]);
      expect(await since(0)).toEqual([0n, 0n, 0n, 3n]);
      await suite.rig().deleteRecords({ topic, partition: 1 }, 2n);
      expect(await since(-1)).toEqual([0n, 0n, 2n, 3n]);
      await expect(admin.recordsSince(suite.unique('absent'), 0)).rejects.toMatchObject({ code: 'KAFKA_TOPIC_NOT_FOUND' });
    });

    it('tells a topic made anew from the one that was deleted', async () => {
      const client = suite.client();
      const { admin } = client;
      const topic = suite.unique('topic');
      await admin.ensureTopics([{ topic, partitions: 1 }]);
      const before = await admin.topicId(topic);
      expect(await admin.topicId(topic)).toBe(before);
      await goneTopic(client, topic);
      await admin.ensureTopics([{ topic, partitions: 1 }]);
      expect(await admin.topicId(topic)).not.toBe(before);
      expect(await admin.describeTopic(topic)).toEqual({ topic, topicId: await admin.topicId(topic), partitions: 1 });
    });

    it('is not misled about a topic by another that was deleted', async () => {
      const client = suite.client();
      const [deleted, kept] = [await topicOf(suite, client), await topicOf(suite, client)];
      await (await client.producer()).send([batchOf({ topic: kept, partition: 0 }, ['x'])]);
      await readValues(client, deleted);
      await goneTopic(client, deleted);
      expect(await client.admin.describeTopic(deleted)).toBeUndefined();
      expect(await client.admin.partitionCount(kept)).toBe(1);
      expect(await readValues(client, kept)).toEqual(['x']);
    });

    it('reads no incarnation of a topic but the one asked for', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const before = await client.admin.topicId(topic);
      await goneTopic(client, topic);
      await client.admin.ensureTopics([{ topic, partitions: 1 }]);
      await (await client.producer()).send([batchOf({ topic, partition: 0 }, ['x'])]);
      const read = collect(client.readPartition({ topic, topicId: before, partition: 0, from: 0n, until: 1n }));
      await expect(read).rejects.toMatchObject({ code: 'KAFKA_TOPIC_REPLACED', kind: 'discontinuity' });
    });

    it('tells the configuration of a topic', async () => {
      const { admin } = suite.client();
      const [kept, plain] = [suite.unique('topic'), suite.unique('topic')];
      await admin.ensureTopics([
        { topic: kept, partitions: 1, config: { 'cleanup.policy': 'compact' } },
        { topic: plain, partitions: 1 },
      ]);
      expect((await admin.topicConfig(kept)).get('cleanup.policy')).toBe('compact');
      expect((await admin.topicConfig(plain)).get('cleanup.policy')).toBe('delete');
      await expect(admin.topicConfig(suite.unique('absent'))).rejects.toMatchObject({ code: 'KAFKA_TOPIC_NOT_FOUND' });
    });
  });
}

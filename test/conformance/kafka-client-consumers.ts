import { describe, expect, it } from 'vitest';
import type { KafkaClient, KafkaConsumer, TopicPartition } from '../../src/kafka/client.ts';
import { RecordingHandler, until } from '../support/recording-handler.ts';
import { batchOf, consume, goneTopic, type Suite, topicOf } from './kafka-client-suite.ts';

export function describeConsumers(suite: Suite): void {
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

export function describeTopicChanges(suite: Suite): void {
  describe('a consumer whose topics change', () => {
    it('waits for a topic that does not exist, says so, and reads the others meanwhile', async () => {
      const client = suite.client();
      const [topic, absent] = [await topicOf(suite, client), suite.unique('absent')];
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['here'])]);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic, absent] });
      await until(() => handler.values().length === 1, 'the topic that exists was read');
      expect(handler.changes).toEqual([{ missing: [absent], replaced: [] }]);
      await client.admin.ensureTopics([{ topic: absent, partitions: 1 }]);
      await producer.send([batchOf({ topic: absent, partition: 0 }, ['there'])]);
      await until(() => handler.values().includes('there'), 'the topic was picked up');
      expect(handler.changes.at(-1)).toEqual({ missing: [], replaced: [] });
      expect(handler.failures).toEqual([]);
      await consumer.stop();
    });

    it('reads topics that match as they come, names them, and leaves those that go', async () => {
      const client = suite.client();
      const prefix = suite.unique('family');
      const [named, first, second, other] = [suite.unique('named'), `${prefix}.a`, `${prefix}.b`, suite.unique('other')];
      await client.admin.ensureTopics([named, first, other].map((topic) => ({ topic, partitions: 1 })));
      const producer = await client.producer();
      await producer.send([named, first, other].map((topic) => batchOf({ topic, partition: 0 }, [topic])));
      const handler = new RecordingHandler();
      const matching = { test: (topic: string) => topic.startsWith(prefix), maxTopics: 2, everyMs: 200 };
      const options = { groupId: suite.unique('group'), topics: [named], matching, handler, maxWaitMs: 50, topicCheckMs: 200 };
      const consumer = client.consumer(options);
      await consumer.start();
      await until(() => handler.values().length === 2, 'what is there was read');
      expect(handler.changes).toEqual([]);
      await client.admin.ensureTopics([{ topic: second, partitions: 2 }]);
      await (await suite.client().producer()).send([batchOf({ topic: second, partition: 1 }, [second])]);
      await until(() => handler.values().includes(second), 'the topic that came was read');
      expect([...new Set(handler.values())].toSorted()).toEqual([first, second, named].toSorted());
      expect(handler.changes.flatMap(({ appeared = [] }) => appeared)).toEqual([second]);
      expect(handler.changes.flatMap(({ missing }) => missing)).toEqual([]);
      await goneTopic(client, second);
      await until(() => handler.assigned.every(({ topic }) => topic !== second), 'the topic that went was left');
      await client.admin.ensureTopics([`${prefix}.c`, `${prefix}.d`].map((topic) => ({ topic, partitions: 1 })));
      await until(() => handler.failures.length > 0, 'it refused to read more than it may');
      expect(handler.failures[0]).toMatchObject({ code: 'KAFKA_TOPICS_TOO_MANY', kind: 'invalid' });
      await consumer.stop();
    });

    it('reads partitions that are added', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const { consumer, handler } = await consume(client, { groupId: suite.unique('group'), topics: [topic] });
      await until(() => handler.events.includes('ready 1'), 'it was assigned');
      await suite.rig().addPartitions(topic, 3);
      await until(() => handler.assigned.length === 3, 'the partitions were picked up');
      const producer = await suite.client().producer();
      await producer.send([batchOf({ topic, partition: 2 }, ['new'])]);
      await until(() => handler.values().length === 1, 'the new partition was read');
      expect((await client.admin.offsets(topic)).map(({ latest }) => latest)).toEqual([0n, 0n, 1n]);
      expect(handler.failures).toEqual([]);
      await consumer.stop();
    });

    it('ends its generation when a topic is deleted and created again, and passes no byte of one as the other', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const before = await client.admin.topicId(topic);
      const producer = await client.producer();
      await producer.send([batchOf({ topic, partition: 0 }, ['0', '1', '2'])]);
      const handler = new RecordingHandler();
      handler.startAt = async () => {
        const present = await client.admin.describeTopic(topic);
        return handler.fetches.findLast(({ topicId }) => topicId === present?.topicId)?.untilOffset ?? 0n;
      };
      const consumer = client.consumer({ groupId: suite.unique('group'), topics: [topic], handler, maxWaitMs: 50, topicCheckMs: 200 });
      await consumer.start();
      await until(() => handler.values().length === 3, 'the old topic was read');
      await goneTopic(client, topic);
      await client.admin.ensureTopics([{ topic, partitions: 1 }]);
      const after = await client.admin.topicId(topic);
      await (await suite.client().producer()).send([batchOf({ topic, partition: 0 }, ['a', 'b', 'c', 'd', 'e'])]);
      await until(() => handler.values().length === 8, 'the new topic was read');
      expect(handler.values()).toEqual(['0', '1', '2', 'a', 'b', 'c', 'd', 'e']);
      const countOf = (id: string): number =>
        handler.fetches.reduce((sum, { topicId, records }) => sum + (topicId === id ? records.length : 0), 0);
      expect([countOf(before), countOf(after)]).toEqual([3, 5]);
      expect(handler.changes.length).toBeGreaterThan(0);
      expect(handler.failures).toEqual([]);
      await consumer.stop();
    });

    it('reads nothing of a topic under a position that was decided for another incarnation', async () => {
      const client = suite.client();
      const topic = await topicOf(suite, client);
      const before = await client.admin.topicId(topic);
      await goneTopic(client, topic);
      await client.admin.ensureTopics([{ topic, partitions: 1 }]);
      await (await client.producer()).send([batchOf({ topic, partition: 0 }, ['a', 'b'])]);
      const handler = new RecordingHandler();
      let plans = 0;
      handler.onAssigned = (partitions) => {
        plans += 1;
        return Promise.resolve(partitions.map((at) => ({ ...at, offset: 0n, ...(plans < 3 ? { topicId: before } : {}) })));
      };
      const consumer = client.consumer({ groupId: suite.unique('group'), topics: [topic], handler, maxWaitMs: 50, topicCheckMs: 200 });
      await consumer.start();
      await until(() => handler.changes.length > 0, 'the handler heard of it');
      expect(handler.values()).toEqual([]);
      expect(handler.changes[0]).toEqual({ missing: [], replaced: [topic] });
      await until(() => handler.values().length === 2, 'it was read when the position fitted');
      await consumer.stop();
    });
  });
}

export function describeGroups(suite: Suite): void {
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

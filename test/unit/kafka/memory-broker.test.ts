import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import type { Failpoint, FailpointName } from '../../../src/base/failpoint.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import type { EncodedRecordBatch, KafkaClient } from '../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { describeKafkaClient } from '../../conformance/kafka-client.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { RecordingHandler, until } from '../../support/recording-handler.ts';

const makeBroker = (failpoint?: Failpoint): MemoryBroker =>
  new MemoryBroker({ clock: new SystemClock(), random: new SeededRandom(11), failpoint });

describeKafkaClient('memory broker', () => {
  const broker = makeBroker();
  return Promise.resolve({
    client: (clientId) => broker.client(clientId),
    deleteRecords: (at, beforeOffset) => {
      broker.deleteRecords(at, beforeOffset);
      return Promise.resolve();
    },
    addPartitions: (topic, partitions) => {
      broker.addPartitions(topic, partitions);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
});

const topic = 'orders';
const batch = (value: string, partition = 0): EncodedRecordBatch =>
  encodeRecordBatch({ topic, partition, records: [{ value: new TextEncoder().encode(value), timestampMs: toEpochMs(1) }] });

async function valuesOf(client: KafkaClient): Promise<readonly string[]> {
  const values: string[] = [];
  for await (const record of client.readPartition({ topic, partition: 0, from: 0n, until: 1000n })) {
    values.push(Buffer.from(record.value ?? []).toString());
  }
  return values;
}

async function setUp(at?: {
  readonly name: FailpointName;
  readonly then: (broker: MemoryBroker) => void;
}): Promise<{ readonly broker: MemoryBroker; readonly client: KafkaClient }> {
  const broker = makeBroker((name) => {
    if (name === at?.name) at.then(broker);
    return Promise.resolve();
  });
  const client = broker.client('one');
  await client.admin.ensureTopics([{ topic, partitions: 2 }]);
  return { broker, client };
}

describe('faults of the memory broker', () => {
  it('lose a request: nothing happened', async () => {
    const { broker, client } = await setUp();
    const producer = await client.producer();
    broker.inject({ operation: 'produce', when: 'before' });
    await expect(producer.send([batch('lost')])).rejects.toMatchObject({ kind: 'unavailable' });
    await producer.send([batch('sent')]);
    expect(await valuesOf(client)).toEqual(['sent']);
  });

  it('lose the answer to the end of a transaction: it is visible and the producer is told that it does not know', async () => {
    const { broker, client } = await setUp();
    const producer = await client.openTransactional({ transactionalId: 't' });
    broker.inject({ operation: 'end-transaction', when: 'after' });
    await expect(producer.publish([batch('committed')])).rejects.toMatchObject({ kind: 'unknown-outcome' });
    await expect(producer.publish([batch('more')])).rejects.toMatchObject({ code: 'KAFKA_PRODUCER_DEAD' });
    expect(await valuesOf(client)).toEqual(['committed']);
  });

  it('lose the answer to a record of a transaction: nothing of it becomes visible', async () => {
    const { broker, client } = await setUp();
    const producer = await client.openTransactional({ transactionalId: 't' });
    broker.inject({ operation: 'produce', when: 'after', afterRequests: 1 });
    await expect(producer.publish([batch('a'), batch('b')])).rejects.toMatchObject({ kind: 'unavailable' });
    await (await client.producer()).send([batch('later')]);
    expect(await valuesOf(client)).toEqual(['later']);
  });

  it('crash a client in a transaction: it hides what follows until its successor opens', async () => {
    const { broker, client } = await setUp({
      name: 'before-transaction-end',
      then: (each) => {
        each.crashClient('one');
      },
    });
    const reader = broker.client('reader');
    const producer = await client.openTransactional({ transactionalId: 't' });
    await expect(producer.publish([batch('dangling')])).rejects.toMatchObject({ kind: 'unavailable' });
    await (await reader.producer()).send([batch('behind')]);
    expect(await valuesOf(reader)).toEqual([]);
    await reader.openTransactional({ transactionalId: 't' });
    expect(await valuesOf(reader)).toEqual(['behind']);
  });

  it('isolate a client: its partitions go to the others, and it joins again when healed', async () => {
    const { broker, client } = await setUp();
    const other = broker.client('two');
    const handlers = [new RecordingHandler(), new RecordingHandler()] as const;
    const consumers = [client, other].map((each, index) =>
      each.consumer({ groupId: 'g', topics: [topic], handler: index === 0 ? handlers[0] : handlers[1] }),
    );
    for (const consumer of consumers) await consumer.start();
    await until(() => handlers[0].assigned.length === 1 && handlers[1].assigned.length === 1, 'both own one');
    broker.isolateClient('one');
    await until(() => handlers[1].assigned.length === 2, 'the other owns both');
    await expect(consumers[0]?.commitGroupOffsets([{ topic, partition: 0, offset: 1n }])).rejects.toMatchObject({ kind: 'unavailable' });
    await broker.healClient('one');
    await until(() => handlers[0].assigned.length === 1 && handlers[1].assigned.length === 1, 'both own one again');
    expect(handlers[0].events.filter((event) => event.startsWith('revoked'))).not.toEqual([]);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });

  it('end transactions that are open for too long and fence their producers', async () => {
    const { client } = await setUp({
      name: 'before-transaction-end',
      then: (broker) => {
        broker.sweep(new SystemClock().monotonicMs() + 5000);
      },
    });
    const producer = await client.openTransactional({ transactionalId: 't', transactionTimeoutMs: 1000 });
    await expect(producer.publish([batch('too late')])).rejects.toMatchObject({ kind: 'fenced' });
    expect(await valuesOf(client)).toEqual([]);
  });

  it('leave a transaction alone that is open for less than its timeout', async () => {
    const { client } = await setUp({
      name: 'before-transaction-end',
      then: (broker) => {
        broker.sweep(new SystemClock().monotonicMs() + 5000);
      },
    });
    const producer = await client.openTransactional({ transactionalId: 't', transactionTimeoutMs: 60_000 });
    await producer.publish([batch('in time')]);
    expect(await valuesOf(client)).toEqual(['in time']);
  });
});

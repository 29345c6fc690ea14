import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { planStart, type StartPlan, type StartPlanOptions } from '../../../src/ingest/start-positions.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { MemoryBroker } from '../../support/kafka/memory-broker.ts';
import { StepClock } from '../../support/step-clock.ts';

const identity = { pipeline: 'p', clusterId: 'c', topicId: 'now' };
const mark = (topic: string, partition: number, topicId = 'now'): string => `p:${topic}:${partition}:c:${topicId}`;

/** Two topics; `orders` holds offsets 2 to 5 in partition 0 and nothing in partition 1, `returns` 0 to 1. */
async function plan(options: Partial<StartPlanOptions>): Promise<StartPlan> {
  const broker = new MemoryBroker({ clock: new StepClock(), random: new SeededRandom(1) });
  const client = broker.client('test');
  const { admin } = client;
  await admin.ensureTopics([
    { topic: 'orders', partitions: 2 },
    { topic: 'returns', partitions: 1 },
  ]);
  const records = (count: number): { readonly value: Uint8Array; readonly timestampMs: ReturnType<typeof toEpochMs> }[] =>
    Array.from({ length: count }, () => ({ value: Uint8Array.of(1), timestampMs: toEpochMs(0) }));
  const writer = await client.producer();
  await writer.send([encodeRecordBatch({ topic: 'orders', partition: 0, records: records(2) })]);
  await writer.send([encodeRecordBatch({ topic: 'orders', partition: 0, records: records(3) })]);
  await writer.send([encodeRecordBatch({ topic: 'returns', partition: 0, records: records(1) })]);
  broker.deleteRecords({ topic: 'orders', partition: 0 }, 2n);
  return planStart({
    admin,
    partitions: [
      { topic: 'orders', partition: 0 },
      { topic: 'orders', partition: 1 },
    ],
    marks: new Map(),
    identityOf: (topic) => Promise.resolve({ ...identity, topic }),
    policy: 'fail',
    startFrom: 'earliest',
    awaited: new Set(),
    ...options,
  });
}

const ends: Readonly<Record<string, bigint>> = { 'orders 0': 5n, 'returns 0': 1n };
const reads = (topic: string, partition: number, offset: bigint, expectedMark: bigint | undefined): object => ({
  topic,
  partition,
  offset,
  lag: (ends[`${topic} ${partition}`] ?? 0n) - offset,
  topicId: 'now',
  writerId: mark(topic, partition),
  expectedMark,
});
const settles = (partition: number, offset: bigint, expectedMark?: bigint): object => ({
  topic: 'orders',
  partition,
  from: offset,
  until: offset,
  writerId: mark('orders', partition),
  expectedMark,
});
const orders0 = [{ topic: 'orders', partition: 0 }];

describe('where reading starts', () => {
  it('is the start of what a partition holds while the table has no mark of it', async () => {
    expect(await plan({})).toEqual({
      positions: [reads('orders', 0, 2n, undefined), reads('orders', 1, 0n, undefined)],
      discontinuities: [],
      absent: [],
      settleFirst: [],
    });
  });

  it('is the end when asked for, decided for all partitions at once whoever reads them, and settled first', async () => {
    const { positions, settleFirst } = await plan({ startFrom: 'latest', partitions: orders0 });
    expect(positions).toEqual([reads('orders', 0, 5n, undefined)]);
    expect(settleFirst).toEqual([settles(0, 5n), settles(1, 0n)]);
  });

  it('is the beginning of a topic that was seen missing, settled first where others would begin at its end', async () => {
    const { positions, settleFirst } = await plan({ startFrom: 'latest', partitions: orders0, awaited: new Set(['orders']) });
    expect(positions).toEqual([reads('orders', 0, 2n, undefined)]);
    expect(settleFirst).toEqual([settles(0, 2n), settles(1, 0n)]);
    expect((await plan({ awaited: new Set(['orders']) })).settleFirst).toEqual([]);
  });

  it('is the beginning of a partition that was added since, even when new topics are read from their end', async () => {
    const { positions, settleFirst } = await plan({ startFrom: 'latest', marks: new Map([[mark('orders', 1), 0n]]) });
    expect(positions).toEqual([reads('orders', 0, 2n, undefined), reads('orders', 1, 0n, 0n)]);
    expect(settleFirst).toEqual([]);
  });

  it('is the mark of each partition, at any place up to the end', async () => {
    const marks = new Map([
      [mark('orders', 0), 5n],
      [mark('orders', 1), 0n],
      [mark('returns', 0), 1n],
    ]);
    const partitions = ['orders', 'returns'].map((topic) => ({ topic, partition: 0 }));
    expect((await plan({ marks, partitions })).positions).toEqual([reads('orders', 0, 5n, 5n), reads('returns', 0, 1n, 1n)]);
  });

  it('is nowhere where the mark fits nothing that is held, while other partitions are read', async () => {
    const removed = await plan({ marks: new Map([[mark('orders', 0), 1n]]) });
    expect(removed.positions).toEqual([reads('orders', 1, 0n, undefined)]);
    expect(removed.discontinuities).toEqual([
      { topic: 'orders', partition: 0, detail: expect.stringContaining('1 records were removed before they were read') as unknown },
    ]);
    const beyond = await plan({ marks: new Map([[mark('orders', 0), 6n]]) });
    expect(beyond.discontinuities[0]?.detail).toContain('the topic lost its end');
  });

  it('is nowhere in a topic made anew, partitions that the old one did not have included', async () => {
    const replaced = await plan({ marks: new Map([[mark('orders', 0, 'before'), 3n]]) });
    expect(replaced.positions).toEqual([]);
    expect(replaced.discontinuities.map(({ partition, detail }) => [partition, detail.includes('another incarnation')])).toEqual([
      [0, true],
      [1, true],
    ]);
  });

  it('follows the choice of an operator, which is settled with the mark it leaves behind', async () => {
    const marks = new Map([[mark('orders', 0), 1n]]);
    const chosen = async (policy: StartPlanOptions['policy']): Promise<unknown> =>
      (await plan({ marks, policy, partitions: orders0 })).settleFirst;
    expect(await chosen('reset-to-earliest')).toEqual([settles(0, 2n, 1n)]);
    expect(await chosen('reset-to-latest')).toEqual([settles(0, 5n, 1n)]);
    expect(await chosen('accept')).toEqual([settles(0, 2n, 1n)]);
    const replaced = await plan({ marks: new Map([[mark('orders', 0, 'before'), 3n]]), policy: 'reset-to-latest', partitions: orders0 });
    expect(replaced.settleFirst).toEqual([settles(0, 5n), settles(1, 0n)]);
  });

  it('is nowhere for a partition or a topic that is not there, or that changes while it is asked about', async () => {
    const nowhere = async (options: Partial<StartPlanOptions>): Promise<void> => {
      const partitions = options.partitions ?? orders0;
      expect(await plan({ partitions, ...options })).toEqual({ positions: [], discontinuities: [], absent: partitions, settleFirst: [] });
    };
    await nowhere({ partitions: [{ topic: 'returns', partition: 3 }] });
    await nowhere({ identityOf: () => Promise.resolve(undefined) });
    let asked = 0;
    await nowhere({ identityOf: (topic) => Promise.resolve({ ...identity, topic, topicId: `${asked++}` }) });
  });
});

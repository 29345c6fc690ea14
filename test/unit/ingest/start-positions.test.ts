import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { planStart, type StartPlan, type StartPlanOptions } from '../../../src/ingest/start-positions.ts';
import { MemoryBroker } from '../../../src/kafka/memory/memory-broker.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
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
    ...options,
  });
}

describe('where reading starts', () => {
  it('is the start or the end of what a partition holds while the table has no mark of it', async () => {
    expect(await plan({})).toEqual({
      positions: [
        { topic: 'orders', partition: 0, offset: 2n, expectedMark: undefined },
        { topic: 'orders', partition: 1, offset: 0n, expectedMark: undefined },
      ],
      discontinuities: [],
    });
    expect((await plan({ startFrom: 'latest' })).positions.map(({ offset }) => offset)).toEqual([5n, 0n]);
  });

  it('is the mark of each partition, at any place up to the end', async () => {
    const marks = new Map([
      [mark('orders', 0), 5n],
      [mark('orders', 1), 0n],
      [mark('returns', 0), 1n],
    ]);
    const partitions = ['orders', 'returns'].map((topic) => ({ topic, partition: 0 }));
    expect((await plan({ marks, partitions })).positions).toEqual([
      { topic: 'orders', partition: 0, offset: 5n, expectedMark: 5n },
      { topic: 'returns', partition: 0, offset: 1n, expectedMark: 1n },
    ]);
  });

  it('is nowhere where the mark fits nothing that is held, while other partitions are read', async () => {
    const removed = await plan({ marks: new Map([[mark('orders', 0), 1n]]) });
    expect(removed.positions).toEqual([{ topic: 'orders', partition: 1, offset: 0n, expectedMark: undefined }]);
    expect(removed.discontinuities).toEqual([
      { topic: 'orders', partition: 0, detail: expect.stringContaining('1 records were removed before they were read') as unknown },
    ]);
    const beyond = await plan({ marks: new Map([[mark('orders', 0), 6n]]) });
    expect(beyond.discontinuities[0]?.detail).toContain('the topic lost its end');
    const replaced = await plan({ marks: new Map([[mark('orders', 0, 'before'), 3n]]) });
    expect(replaced.discontinuities[0]?.detail).toContain('another incarnation of the topic');
  });

  it('follows the choice of an operator and remembers the mark it left behind', async () => {
    const marks = new Map([[mark('orders', 0), 1n]]);
    const offsets = async (policy: StartPlanOptions['policy']): Promise<unknown> => (await plan({ marks, policy })).positions[0];
    const at = (offset: bigint): object => ({ topic: 'orders', partition: 0, offset, expectedMark: 1n });
    expect(await offsets('reset-to-earliest')).toEqual(at(2n));
    expect(await offsets('reset-to-latest')).toEqual(at(5n));
    expect(await offsets('accept')).toEqual(at(2n));
  });

  it('is nowhere for a partition that the topic does not have', async () => {
    const missing = await plan({ partitions: [{ topic: 'returns', partition: 3 }] });
    expect(missing).toEqual({
      positions: [],
      discontinuities: [{ topic: 'returns', partition: 3, detail: 'the topic has no such partition' }],
    });
  });
});

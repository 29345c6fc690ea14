import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { BatchBuilder } from '../../../src/ingest/batch-builder.ts';
import type { ReadFrom } from '../../../src/ingest/start-positions.ts';
import type { FetchedPartition, RawRecordBatch } from '../../../src/kafka/client.ts';

function rawBatch(baseOffset: bigint, recordCount: number, fill: number): RawRecordBatch {
  return {
    baseOffset,
    untilOffset: baseOffset + BigInt(recordCount),
    recordCount,
    maxTimestampMs: toEpochMs(0),
    bytes: new Uint8Array(recordCount * 3).fill(fill),
  };
}

function fetched(partition: number, fetchOffset: bigint, batches: readonly RawRecordBatch[], untilOffset?: bigint): FetchedPartition {
  const end = untilOffset ?? batches.at(-1)?.untilOffset ?? fetchOffset;
  return { topic: 't', topicId: 'now', partition, fetchOffset, untilOffset: end, highWatermark: end, batches };
}

const at = (partition: number, offset: bigint, expectedMark: bigint | undefined): ReadFrom => ({
  topic: 't',
  partition,
  offset,
  lag: 0n,
  topicId: 'now',
  writerId: `w${partition}`,
  expectedMark,
});

describe('a batch builder', () => {
  it('copies bytes and says what it covers of each partition', () => {
    const builder = new BatchBuilder('orders');
    builder.reset([at(0, 5n, undefined), at(1, 0n, 0n)]);
    const source = rawBatch(4n, 3, 7);
    builder.append(fetched(0, 5n, [source]), 100);
    source.bytes.fill(0);
    const batch = builder.seal('rows');
    expect(batch).toMatchObject({
      table: 'orders',
      recordCount: 3,
      sealedBy: 'rows',
      openedAtMs: 100,
      ranges: [{ topic: 't', partition: 0, from: 5n, until: 7n, writerId: 'w0', expectedMark: undefined }],
      recordBatches: [{ topic: 't', partition: 0, start: 0, end: 9, fromOffset: 5n }],
    });
    expect([...new Uint8Array(batch?.bytes ?? new ArrayBuffer(0), 0, 9)]).toEqual(Array.from({ length: 9 }, () => 7));
  });

  it('stores with the first batch of any partition where the idle ones begin, once', () => {
    const builder = new BatchBuilder('orders');
    builder.reset([at(0, 0n, undefined), at(1, 7n, undefined), at(2, 9n, 9n)]);
    builder.append(fetched(0, 0n, [rawBatch(0n, 2, 1)]), 0);
    expect(builder.seal('age')?.ranges).toEqual([
      { topic: 't', partition: 0, from: 0n, until: 2n, writerId: 'w0', expectedMark: undefined },
      { topic: 't', partition: 1, from: 7n, until: 7n, writerId: 'w1', expectedMark: undefined },
    ]);
    builder.append(fetched(1, 7n, [rawBatch(7n, 1, 1)]), 0);
    expect(builder.seal('age')?.ranges).toEqual([{ topic: 't', partition: 1, from: 7n, until: 8n, writerId: 'w1', expectedMark: 7n }]);
  });

  it('is empty after a seal and expects its own end as the next mark', () => {
    const builder = new BatchBuilder('orders');
    builder.reset([at(0, 0n, undefined)]);
    builder.append(fetched(0, 0n, [rawBatch(0n, 2, 1)]), 0);
    builder.seal('age');
    expect(builder.seal('age')).toBeUndefined();
    builder.append(fetched(0, 2n, [rawBatch(2n, 2, 1)]), 0);
    expect(builder.seal('age')?.ranges).toEqual([{ topic: 't', partition: 0, from: 2n, until: 4n, writerId: 'w0', expectedMark: 2n }]);
  });

  it('passes over control batches without sealing anything for them, and covers them with the next records', () => {
    const builder = new BatchBuilder('orders');
    builder.reset([at(0, 0n, 0n)]);
    builder.append(fetched(0, 0n, [], 3n), 0);
    expect(builder.next('t', 0)).toEqual({ offset: 3n, topicId: 'now' });
    expect(builder.seal('age')).toBeUndefined();
    builder.append(fetched(0, 3n, [rawBatch(3n, 1, 1)], 5n), 0);
    expect(builder.seal('age')?.ranges).toEqual([{ topic: 't', partition: 0, from: 0n, until: 5n, writerId: 'w0', expectedMark: 0n }]);
  });

  it('takes nothing of a partition that is not assigned', () => {
    const builder = new BatchBuilder('orders');
    builder.append(fetched(9, 0n, [rawBatch(0n, 1, 1)]), 0);
    expect(builder.next('t', 9)).toBeUndefined();
    expect(builder.seal('age')).toBeUndefined();
  });

  it('joins the ranges of consecutive batches without gap or overlap, whatever is fetched and sealed when', () => {
    const step = fc.record({ partition: fc.nat(2), records: fc.nat(4), gap: fc.nat(2), seal: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const builder = new BatchBuilder('orders');
        builder.reset([0, 1, 2].map((partition) => at(partition, 0n, 0n)));
        const next = [0n, 0n, 0n];
        const covered = [0n, 0n, 0n];
        let records = 0;
        let sealedRecords = 0;
        const check = (): void => {
          const batch = builder.seal('age');
          sealedRecords += batch?.recordCount ?? 0;
          for (const range of batch?.ranges ?? []) {
            expect(range.from).toBe(covered[range.partition]);
            expect(range.expectedMark).toBe(range.from);
            covered[range.partition] = range.until;
          }
        };
        for (const { partition, records: count, gap, seal } of steps) {
          const from = next[partition] ?? 0n;
          const batches = count === 0 ? [] : [rawBatch(from, count, 1)];
          const until = from + BigInt(count + gap);
          builder.append(fetched(partition, from, batches, until), 0);
          next[partition] = until;
          records += count;
          if (seal) check();
        }
        check();
        expect(sealedRecords).toBe(records);
      }),
    );
  });
});

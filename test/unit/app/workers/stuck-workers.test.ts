import { afterEach, describe, expect, it } from 'vitest';
import { pooledStager } from '../../../../src/app/workers/pooled.ts';
import { WorkerPool } from '../../../../src/app/workers/worker-pool.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import type { StageTask } from '../../../../src/protocol/sealed-batch.ts';

/*
 * Threads of the pool with a program of the test's: it counts the record batches of a task as rows, never comes back from one of partition 13,
 * and waits for another process with one of partition 14, which is native code that no `terminate` interrupts.
 */
const program = `
import { spawnSync } from 'node:child_process';
import { parentPort, workerData } from 'node:worker_threads';
const shared = new Int32Array(workerData.progress);
setInterval(() => Atomics.add(shared, 0, 1), 20);
parentPort.on('message', ({ id, task }) => {
  const { recordBatches } = task.batch;
  recordBatches.forEach(({ partition }, index) => {
    Atomics.store(shared, 1, index);
    while (partition === 13);
    if (partition === 14) spawnSync(process.execPath, ['-e', 'setTimeout(() => {}, 5000)']);
  });
  const files = [{ path: task.fileNameStem }];
  const timings = { decodeMs: 0, encodeMs: 0, storeMs: 0 };
  const rowCount = recordBatches.length;
  parentPort.postMessage({ id, ok: true, result: { files, rowCount, recordsWithRows: rowCount, rejects: [], passedOver: {}, unreadMembers: 0, unmet: {}, recordsByTopic: { orders: rowCount }, timings } });
});`;

function taskOf(partitions: readonly number[]): StageTask {
  const { bytes } = encodeRecordBatch({
    topic: 'orders',
    partition: 0,
    records: [{ value: Buffer.from('{}'), timestampMs: toEpochMs(5) }],
  });
  const recordBatches = partitions.map((partition) => ({ topic: 'orders', partition, start: 0, end: bytes.length, fromOffset: 0n }));
  const batch = { table: 't', sequence: 0, bytes: new Uint8Array(bytes).buffer, recordBatches, ranges: [], recordCount: 1 } as const;
  const write = {
    location: 'memory://t',
    schema: { kind: 'struct', fields: [] },
    partitionColumns: [],
    partitionColumnsInFile: true,
    compression: 'zstd',
    partitionPathStyle: 'iceberg',
    statisticsColumns: -1,
  } as const;
  return {
    batch: { ...batch, maxTimestampMs: 0, sealedBy: 'age', openedAtMs: 0 },
    write,
    decode: { sources: [], unknownMembers: 'ignore' },
    fileNameStem: 's',
  };
}

describe('a worker thread that does not come back from a record batch', () => {
  const pools: WorkerPool[] = [];
  const ended: string[] = [];
  const poolOf = (size: number): WorkerPool => {
    const pool = new WorkerPool({
      size,
      workerData: { maxNestingDepth: 8 },
      entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
      idleMs: undefined,
      maxTasksPerThread: 100,
      stuckAfterMs: 1_000,
      onStuck: (kind) => ended.push(kind),
    });
    pools.push(pool);
    return pool;
  };
  afterEach(async () => {
    ended.length = 0;
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });

  it('is ended, and its task fails by name', async () => {
    const pool = poolOf(1);
    const failed = expect(pool.run('stage', taskOf([1, 13]))).rejects.toMatchObject({
      code: 'WORKER_STUCK',
      kind: 'unavailable',
      context: { step: 1 },
    });
    await failed;
    expect(ended).toEqual(['stage']);
    expect((await pool.run('stage', taskOf([1]))).rowCount).toBe(1);
    expect(pool.hungMs).toBe(0);
  });

  it('costs that record batch only: it is tried alone, then refused with its offsets, and the others are staged', async () => {
    const result = await pooledStager(poolOf(1)).stage(taskOf([1, 2, 13, 4]));
    expect(result).toMatchObject({ rowCount: 3, recordsByTopic: { orders: 4 } });
    expect(result.rejects).toMatchObject([{ partition: 13, offset: 0n, reason: 'corrupt-batch', unopened: { until: 1n, records: 1 } }]);
    expect(new Set(result.files.map(({ path }) => path)).size).toBe(2);
    expect(ended).toEqual(['stage', 'stage']);
  });

  it('and cannot be ended fails its task all the same, is told as hung while it runs on, and others take the place of it', async () => {
    const pool = poolOf(1);
    await expect(pool.run('stage', taskOf([14]))).rejects.toMatchObject({ code: 'WORKER_STUCK', context: { step: 0 } });
    expect((await pool.run('stage', taskOf([1]))).rowCount).toBe(1);
    expect(pool.hungMs).toBeGreaterThan(0);
    await expect.poll(() => pool.hungMs, { timeout: 20_000 }).toBe(0);
    expect(ended).toEqual(['stage']);
  });
});

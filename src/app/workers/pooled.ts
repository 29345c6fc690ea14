import type { ChangeEncoder } from '../../protocol/change-event.ts';
import type { BatchStager } from '../../protocol/sealed-batch.ts';
import type { FileRewriter } from '../../table/operations.ts';
import type { WorkerPool } from './worker-pool.ts';

/** The ports of the services, answered by worker threads. */

export function pooledStager(pool: WorkerPool): BatchStager {
  return { stage: (task, signal) => pool.run('stage', task, { transfer: [task.batch.bytes], signal }) };
}

export function pooledEncoder(pool: WorkerPool): ChangeEncoder {
  return { encode: (task, signal) => pool.run('encode', task, { signal }) };
}

export function pooledRewriter(pool: WorkerPool): FileRewriter {
  return { rewrite: (task, signal) => pool.run('rewrite', task, { signal }) };
}

import { parentPort, workerData } from 'node:worker_threads';
import { assert, assertNever } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import { RandomIdSource } from '../../base/ids.ts';
import type { StorageSettings } from '../../base/storage-settings.ts';
import { SystemClock } from '../../base/system-clock.ts';
import { SystemRandom } from '../../base/system-random.ts';
import { ParquetChangeEncoder } from '../../cdf/change-encoder.ts';
import { loadParquet } from '../../codec/parquet/wasm.ts';
import { otherFileRows } from '../../iceberg/pipeline/other-file-rows.ts';
import { ParquetFileRewriter } from '../../maintenance/file-rewriter.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { openObjectStore } from '../../storage/open-object-store.ts';
import { RetryingObjectStore } from '../../storage/retrying-object-store.ts';
import { failpointFromEnv } from '../failpoint-from-env.ts';
import { LazyEngine } from '../lazy-engine.ts';
import { BatchDivider } from './batch-divider.ts';
import { InThreadBatchStager } from './batch-stager.ts';
import { ProgressTeller } from './thread-progress.ts';
import { type TaskKind, toPlainError, type WorkerRequest, type WorkerSetup, type WorkerTasks } from './worker-messages.ts';

// The entry of a worker thread: joins ingest's decoder, commit's file writer, the feed's encoder and maintenance's rewriter.
const { maxNestingDepth, maxUnpackedBytes, maxDecodedBytes, maxFoldedBytes, transformBytes, temporaryDirectory, progress } =
  workerData as WorkerSetup;
const clock = new SystemClock();
const random = new SystemRandom();
const failpoint = failpointFromEnv(process.env['FAILPOINT']);
const openStore = (location: string, settings?: StorageSettings): ObjectStore =>
  new RetryingObjectStore(openObjectStore(location, settings), { clock, random });
const defaultTransformBytes = 256 * 2 ** 20;
const engine = new LazyEngine({
  memoryLimitBytes: transformBytes ?? defaultTransformBytes,
  threads: 1,
  temporaryDirectory,
  ids: new RandomIdSource(random),
});
const stager = new InThreadBatchStager({
  openEngine: () => engine.open(),
  openStore,
  clock,
  failpoint,
  maxNestingDepth,
  maxUnpackedBytes,
  maxDecodedBytes,
  maxFoldedBytes,
  onStep: new ProgressTeller(progress).at,
});
const divider = new BatchDivider({ maxNestingDepth, maxUnpackedBytes, onStep: new ProgressTeller(progress).at });
const encoder = new ParquetChangeEncoder({ openStore, openEngine: () => engine.open(), readOther: otherFileRows });
const rewriter = new ParquetFileRewriter({ openStore });

async function perform(kind: TaskKind, task: unknown): Promise<unknown> {
  switch (kind) {
    case 'stage':
      return stager.stage(task as WorkerTasks['stage']['task']);
    case 'divide':
      return divider.divide(task as WorkerTasks['divide']['task']);
    case 'prepare':
      await stager.prepare(task as WorkerTasks['prepare']['task']);
      return undefined;
    case 'encode':
      return encoder.encode(task as WorkerTasks['encode']['task']);
    case 'rewrite':
      return rewriter.rewrite(task as WorkerTasks['rewrite']['task']);
    case 'warm':
      await loadParquet();
      return undefined;
    default:
      return assertNever(kind);
  }
}

/** Buffers of a result that move instead of being copied. */
function transferable(kind: TaskKind, result: unknown): readonly ArrayBuffer[] {
  const parts =
    kind === 'encode'
      ? (result as WorkerTasks['encode']['result']).batches
      : kind === 'divide'
        ? (result as WorkerTasks['divide']['result']).parts
        : [];
  const buffers = parts.map((part) => part.bytes.buffer);
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

const port = parentPort;
assert(port !== null, 'batch-worker runs as a worker thread');
port.on('message', (request: WorkerRequest) => {
  perform(request.kind, request.task).then(
    (result) => {
      port.postMessage({ id: request.id, ok: true, result }, [...transferable(request.kind, result)]);
    },
    (error: unknown) => {
      if (!isServiceError(error))
        process.stderr.write(`worker: unexpected ${error instanceof Error ? String(error.stack) : String(error)}\n`);
      port.postMessage({ id: request.id, ok: false, error: toPlainError(error) });
    },
  );
});

import { type ServiceError, serviceError } from '../../base/errors.ts';

/** What the parts of a process may take, so that all of it stays within one budget. */
export interface MemoryPlan {
  readonly budgetBytes: number;
  /** Fetched and not in a table yet, as the ledger counts. */
  readonly bufferBytes: number;
  /** Unpacked records that one worker thread holds before it writes their rows. */
  readonly decodedBytes: number;
  /** Rows of a batch of a keyed table that one worker thread holds: of each key the last. */
  readonly foldedBytes: number;
  /** What one record batch may unpack to. */
  readonly unpackedBytes: number;
  /** One answer of a broker. */
  readonly fetchBytes: number;
  /** The heap of JavaScript of one worker thread. */
  readonly workerHeapBytes: number;
  /** The engine of transforms in one worker thread. */
  readonly transformBytes: number;
  /** The engine of maintenance and of keyed tables; `undefined`: it does not run in this process. */
  readonly engineBytes: number | undefined;
}

/** Settings that stay caps beneath the budget, and what the process does. */
export interface MemoryNeeds {
  readonly workers: number;
  /** Of the topics that are read: one process may come to have all of them. */
  readonly partitions: number;
  readonly hasTransforms: boolean;
  /** Of the engine of maintenance and of keyed tables, if it runs in this process. */
  readonly engineLimitBytes: number | undefined;
  readonly maxUnpackedBytes: number;
  readonly maxFetchBytes: number;
}

const MiB = 2 ** 20;

/** Node and the program itself. */
const programBytes = 192 * MiB;
/** A worker thread with its code and its WebAssembly, before it has work. */
const threadBytes = 64 * MiB;
/** What the main thread keeps of a partition that it reads, as measured with 9,000. */
const partitionBytes = 42 * 1024;
/** A batch that is counted once is there twice: with its copy in a worker, or as garbage that is not collected yet. */
const copiesOfBuffered = 2;
/** Rows of many records, with their columns and the file that is written of them, take so many times the bytes of their records. */
const timesDecoded = 12;
/** A single record takes so many times its bytes, as measured with records of 50 MB: each step of its way holds it whole. */
const timesUnpacked = 25;
/** Where of each key the last row is kept: as it was, with what comes to it, what is left of both, and the file that is written of it. */
const timesFolded = 4;
const bufferPart = 1 / 4;
const enginePart = 1 / 4;
const transformPart = 1 / 8;

const mostDecodedBytes = 256 * MiB;
const mostTransformBytes = 256 * MiB;
/** The engine does not start with less. */
const leastEngineBytes = 64 * MiB;
const leastBufferBytes = 16 * MiB;
const leastWorkerBytes = 64 * MiB;
const leastFetchBytes = 64 * 1024;

/** The least that `planMemory` takes. */
export function leastMemoryBytes(needs: MemoryNeeds): number {
  const { workers, hasTransforms, engineLimitBytes } = needs;
  const engine = engineLimitBytes === undefined ? 0 : leastEngineBytes;
  const transforms = hasTransforms ? workers * leastEngineBytes : 0;
  return takenBytes(needs) + workers * leastWorkerBytes + leastBufferBytes * copiesOfBuffered + engine + transforms;
}

/** What is there before any record is read. */
function takenBytes({ workers, partitions }: MemoryNeeds): number {
  return programBytes + workers * threadBytes + partitions * partitionBytes;
}

/**
 * Divides a budget.
 *
 * @throws ServiceError `MEMORY_TOO_SMALL` (kind invalid).
 */
export function planMemory(budgetBytes: number, needs: MemoryNeeds): MemoryPlan {
  const { workers, hasTransforms, engineLimitBytes } = needs;
  const least = leastMemoryBytes(needs);
  if (budgetBytes < least) throw tooSmall(budgetBytes, least, needs);
  const shared = budgetBytes - takenBytes(needs);
  const engineBytes =
    engineLimitBytes === undefined ? undefined : Math.floor(Math.min(engineLimitBytes, Math.max(leastEngineBytes, shared * enginePart)));
  const transformBytes = hasTransforms
    ? Math.min(mostTransformBytes, Math.max(leastEngineBytes, (shared * transformPart) / workers))
    : leastEngineBytes;
  const rest = shared - (engineBytes ?? 0) - (hasTransforms ? transformBytes * workers : 0);
  const bufferBytes = Math.max(leastBufferBytes, (rest * bufferPart) / copiesOfBuffered);
  const workerBytes = (rest - bufferBytes * copiesOfBuffered) / workers;
  return {
    budgetBytes,
    bufferBytes: Math.floor(bufferBytes),
    decodedBytes: Math.floor(Math.min(mostDecodedBytes, workerBytes / timesDecoded)),
    foldedBytes: Math.floor(workerBytes / timesFolded),
    unpackedBytes: Math.floor(Math.min(needs.maxUnpackedBytes, workerBytes / timesUnpacked)),
    fetchBytes: Math.floor(Math.min(needs.maxFetchBytes, Math.max(leastFetchBytes, bufferBytes / 4))),
    workerHeapBytes: Math.floor(workerBytes),
    transformBytes: Math.floor(transformBytes),
    engineBytes,
  };
}

function tooSmall(budgetBytes: number, least: number, { workers, partitions }: MemoryNeeds): ServiceError {
  const [given, needed, byPartitions] = [budgetBytes, least, partitions * partitionBytes].map((bytes) => Math.ceil(bytes / MiB));
  const of = partitions === 0 ? '' : ` and ${partitions} partitions`;
  const part = partitions === 0 ? '' : `, ${byPartitions} of them for the partitions`;
  return serviceError.invalid(
    'MEMORY_TOO_SMALL',
    `ingest.memory of ${given} MiB is too little for ${workers} workers${of}: ${needed} MiB are needed${part}`,
    {
      hint:
        partitions === 0
          ? 'raise ingest.memory and the limit of the container, or set ingest.workers lower'
          : 'raise ingest.memory and the limit of the container, set ingest.workers lower, or divide the routes among several pipelines',
    },
  );
}

/** What a process may use when the configuration does not say. */
export interface DefaultMemory {
  readonly bytes: number;
  /** What it is a part of, as people say it. */
  readonly of: string;
}

const partOfLimit = 3 / 4;
const partOfMachine = 1 / 4;

/** Three quarters of what the container may use; without a limit a quarter of the machine's memory. Never less than what is needed. */
export function defaultMemory(
  machine: { readonly limitBytes: number | undefined; readonly totalBytes: number },
  leastBytes: number,
): DefaultMemory {
  const { limitBytes, totalBytes } = machine;
  const hasLimit = limitBytes !== undefined && limitBytes > 0 && limitBytes < totalBytes;
  const part = hasLimit ? limitBytes * partOfLimit : totalBytes * partOfMachine;
  if (part < leastBytes) return { bytes: leastBytes, of: 'the least that this configuration needs' };
  return { bytes: Math.floor(part), of: hasLimit ? 'three quarters of the container’s limit' : 'a quarter of the machine’s memory' };
}

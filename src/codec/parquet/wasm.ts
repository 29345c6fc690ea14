import { createRequire } from 'node:module';
import type * as parquetWasm from 'parquet-wasm';
import { ServiceError, serviceError } from '../../base/errors.ts';

export type ParquetModule = typeof parquetWasm;

interface Failure {
  readonly code: string;
  readonly kind: 'corrupt' | 'invalid';
}

let loading: Promise<ParquetModule> | undefined;
let trapped = false;
let reader: ParquetModule | undefined;

/** The Parquet library, loaded on first use: one WebAssembly instance per thread. */
export function loadParquet(): Promise<ParquetModule> {
  loading ??= import('parquet-wasm');
  return loading;
}

/**
 * Runs one synchronous piece of work inside the library.
 *
 * @throws ServiceError `PARQUET_WRITER_TRAPPED` (kind internal) when WebAssembly trapped, and for every call after that: recycle the thread.
 * @throws ServiceError `code` (kind `kind`) for an error that the library reported.
 */
export function insideParquet<T>(failure: Failure, work: () => T): T {
  if (trapped) throw trappedError(undefined);
  try {
    return work();
  } catch (cause) {
    throw parquetFailure(failure, cause);
  }
}

/**
 * Runs one synchronous read. Reading has an instance of its own, which is replaced when it traps: the bytes of one file, whoever wrote them,
 * must not end the reading of others, nor the writing.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (kind corrupt) for an error that the library reported, and when it trapped.
 */
export function readingParquet<T>(work: (parquet: ParquetModule) => T): T {
  const used = (reader ??= freshInstance());
  try {
    return work(used);
  } catch (cause) {
    if (!isTrap(cause)) throw parquetFailure(corrupt, cause);
    reader = undefined;
    throw new ServiceError({ ...corrupt, message: `the parquet library gave up on the file: ${cause.message}`, cause });
  } finally {
    if (memoryBytes(used) > maxKeptBytes) reader = undefined;
  }
}

/** What an instance may have taken and still be used for the next file: its memory never shrinks. */
const maxKeptBytes = 512 * 1024 * 1024;

function memoryBytes(parquet: ParquetModule): number {
  const { buffer } = parquet.wasmMemory() as { readonly buffer: ArrayBuffer };
  return buffer.byteLength;
}

/** The error for what the library threw, also asynchronously; remembers a trap. */
export function parquetFailure(failure: Failure, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (isTrap(cause)) {
    trapped = true;
    return trappedError(cause);
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new ServiceError({ ...failure, message: `the parquet library refused: ${detail}`, cause });
}

const corrupt = { code: 'PARQUET_CORRUPT', kind: 'corrupt' } as const;

function isTrap(cause: unknown): cause is Error {
  return cause instanceof Error && cause.name === 'RuntimeError';
}

/** The package holds one instance for all who load it: out of the cache of modules it makes another. */
function freshInstance(): ParquetModule {
  const require = createRequire(import.meta.url);
  const path = require.resolve('parquet-wasm');
  const shared = require.cache[path];
  Reflect.deleteProperty(require.cache, path);
  try {
    return require(path) as ParquetModule;
  } finally {
    if (shared === undefined) Reflect.deleteProperty(require.cache, path);
    else require.cache[path] = shared;
  }
}

function trappedError(cause: unknown): ServiceError {
  return serviceError.internal('PARQUET_WRITER_TRAPPED', 'the parquet library trapped; its memory in this thread cannot be trusted', {
    hint: 'replace the worker thread and try the batch again; report the batch if it happens twice',
    cause,
  });
}

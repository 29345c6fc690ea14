import type * as parquetWasm from 'parquet-wasm';
import { ServiceError } from '../../base/errors.ts';

export type ParquetModule = typeof parquetWasm;

interface Failure {
  readonly code: string;
  readonly kind: 'corrupt' | 'invalid';
}

let loading: Promise<ParquetModule> | undefined;
let trapped = false;

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

/** The error for what the library threw, also asynchronously; remembers a trap. */
export function parquetFailure(failure: Failure, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (cause instanceof Error && cause.name === 'RuntimeError') {
    trapped = true;
    return trappedError(cause);
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new ServiceError({ ...failure, message: `the parquet library refused: ${detail}`, cause });
}

function trappedError(cause: unknown): ServiceError {
  return new ServiceError({
    code: 'PARQUET_WRITER_TRAPPED',
    kind: 'internal',
    message: 'the parquet library trapped; its memory in this thread cannot be trusted',
    hint: 'replace the worker thread and try the batch again; report the batch if it happens twice',
    cause,
  });
}

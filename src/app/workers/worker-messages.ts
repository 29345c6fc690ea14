import { type ErrorContext, type ErrorKind, isServiceError, ServiceError } from '../../base/errors.ts';
import type { EncodedChanges, EncodeTask } from '../../protocol/change-event.ts';
import type { DivideResult, DivideTask } from '../../protocol/division.ts';
import type { StageResult, StageTask } from '../../protocol/sealed-batch.ts';
import type { RewriteTask } from '../../table/operations.ts';
import type { StagedFile } from '../../table/staged-file.ts';

/** What a worker thread can be asked for, and what it answers. */
export interface WorkerTasks {
  readonly stage: { readonly task: StageTask; readonly result: StageResult };
  readonly divide: { readonly task: DivideTask; readonly result: DivideResult };
  /** Refuses what batches of a table could not be staged by. */
  readonly prepare: { readonly task: Pick<StageTask, 'write' | 'decode'>; readonly result: undefined };
  readonly encode: { readonly task: EncodeTask; readonly result: EncodedChanges };
  readonly rewrite: { readonly task: RewriteTask; readonly result: StagedFile };
  /** Loads what the first task would otherwise wait for. */
  readonly warm: { readonly task: undefined; readonly result: undefined };
}

export type TaskKind = keyof WorkerTasks;

/** What the pool tells a thread at its start. */
export interface WorkerSetup {
  readonly maxNestingDepth: number;
  /** Of threads that stage batches: what one record batch may unpack to. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Of threads that stage batches: rows of so many bytes of unpacked records are written before more are decoded. */
  readonly maxDecodedBytes?: number | undefined;
  readonly maxFoldedBytes?: number | undefined;
  /** What the engine of transforms and of large change files holds; beyond it it spills. */
  readonly transformBytes?: number | undefined;
  /** Where the engine spills. */
  readonly temporaryDirectory?: string | undefined;
  /** Where it says that it goes on (`thread-progress.ts`). */
  readonly progress: SharedArrayBuffer;
}

export interface WorkerRequest {
  readonly id: number;
  readonly kind: TaskKind;
  readonly task: unknown;
}

export type WorkerResponse =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly error: PlainError };

/** An error as it crosses the thread boundary. */
export interface PlainError {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly context: ErrorContext;
  readonly stack: string | undefined;
}

export function toPlainError(error: unknown): PlainError {
  if (isServiceError(error)) {
    const { code, kind, message, retryable, hint, context, stack } = error;
    return { code, kind, message, retryable, hint, context, stack };
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return { code: 'WORKER_FAILED', kind: 'internal', message, retryable: false, hint: undefined, context: {}, stack };
}

export function fromPlainError(plain: PlainError): ServiceError {
  const { code, kind, message, retryable, hint, context, stack } = plain;
  const error = new ServiceError({ code, kind, message, retryable, hint, context });
  if (stack !== undefined) error.stack = stack;
  return error;
}

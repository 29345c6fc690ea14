import type { JsonObject } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { RowWork } from '../../rows/row-work.ts';
import type { CommitOptions, RowOperationResult } from '../../table/row-operations.ts';
import type { Action, AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { discardStaged } from '../files/stage-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { commitTransaction, type TransactionReads } from '../transaction/commit-transaction.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { checkRowOperation } from './row-operation-checks.ts';
import { deltaRowTarget } from './row-target.ts';

/** A file that is written and not yet part of any version. */
interface Staged {
  readonly storedPath: string;
}

/** A row operation on a Delta table: the version it looks at, and the files it has written. */
export class DeltaRowWork extends RowWork<AddFile> {
  readonly context: OperationContext;
  readonly snapshot: DeltaSnapshot;
  readonly #staged: Staged[] = [];

  constructor(
    context: OperationContext,
    parts: { readonly snapshot: DeltaSnapshot; readonly engine: Engine; readonly signal: AbortSignal | undefined },
  ) {
    const { snapshot, engine, signal } = parts;
    super({
      target: deltaRowTarget(context.name),
      engine,
      signal,
      nowMicros: BigInt(context.clock.now()) * 1000n,
      scan: (files, options) => engine.scan(fileScanOf(context, snapshot, files), options, signal),
    });
    this.context = context;
    this.snapshot = snapshot;
  }

  get staged(): readonly Staged[] {
    return this.#staged;
  }

  /** Remembers files that must go when the operation fails. */
  async staging<File extends Staged>(files: Promise<readonly File[]>): Promise<readonly File[]> {
    const written = await files;
    this.#staged.push(...written);
    return written;
  }
}

/** What an operation wants to commit. */
export interface PlannedCommit {
  readonly operation: string;
  readonly operationParameters: JsonObject;
  /** Without `executionTimeMs`. */
  readonly operationMetrics: Readonly<Record<string, string>>;
  readonly actions: readonly Action[];
  readonly reads: TransactionReads;
  readonly updatedRows: bigint;
  readonly deletedRows: bigint;
  readonly insertedRows: bigint;
}

/**
 * Runs a row operation on the newest version and commits what it plans; nothing planned, nothing committed. Files of an operation that
 * certainly failed are deleted.
 *
 * @throws AnalysisException when the table refuses the operation, whatever `plan` throws, and the errors of `commitTransaction`.
 */
export async function runRowOperation(
  context: OperationContext,
  request: CommitOptions,
  plan: (work: DeltaRowWork) => Promise<PlannedCommit | undefined>,
): Promise<RowOperationResult> {
  const { signal, idempotency, userMetadata } = request;
  const startedMs = context.clock.now();
  const snapshot = await context.refresh(signal);
  checkRowOperation(context, snapshot);
  if (isAlreadyWritten(snapshot, request)) return nothingDone;
  const work = new DeltaRowWork(context, { snapshot, engine: await context.engine(), signal });
  try {
    const planned = await plan(work);
    if (planned === undefined) return nothingDone;
    const { updatedRows, deletedRows, insertedRows, operationMetrics, ...commit } = planned;
    const executionTimeMs = String(context.clock.now() - startedMs);
    const version = await commitTransaction(context, {
      ...commit,
      operationMetrics: { ...operationMetrics, executionTimeMs },
      base: snapshot,
      userMetadata,
      idempotency,
      signal,
    });
    return { version, affectedRows: updatedRows + deletedRows + insertedRows, updatedRows, deletedRows, insertedRows };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardStaged(context, work.staged);
    throw error;
  } finally {
    await work.release();
  }
}

const nothingDone: RowOperationResult = { version: undefined, affectedRows: 0n, updatedRows: 0n, deletedRows: 0n, insertedRows: 0n };

import { isServiceError } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { RowWork } from '../../rows/row-work.ts';
import type { CommitOptions, RowOperationResult } from '../../table/row-operations.ts';
import { discardFiles } from '../files/discard-files.ts';
import type { IcebergView } from '../iceberg-view.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { ContentFile } from '../spec/content-file.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import { icebergRowTarget } from './row-target.ts';

/** A row operation on an Iceberg table: the snapshot it looks at, and the files it has written. */
export class IcebergRowWork extends RowWork<LiveFile> {
  readonly context: TableContext;
  readonly view: IcebergView;
  readonly #staged: ContentFile[] = [];

  constructor(
    context: TableContext,
    parts: { readonly view: IcebergView; readonly engine: Engine; readonly signal: AbortSignal | undefined },
  ) {
    const { view, engine, signal } = parts;
    super({
      target: icebergRowTarget(context.name),
      engine,
      signal,
      nowMicros: BigInt(context.clock.now()) * 1000n,
      scan: async (files, options) => engine.scan(await fileScanOf(context, view, files, {}, signal), options, signal),
    });
    this.context = context;
    this.view = view;
  }

  get staged(): readonly ContentFile[] {
    return this.#staged;
  }

  /** Remembers files that must go when the operation fails. */
  async staging(files: Promise<readonly ContentFile[]>): Promise<readonly ContentFile[]> {
    const written = await files;
    this.#staged.push(...written);
    return written;
  }
}

/** What an operation wants to commit. */
export interface PlannedChange {
  readonly change: Omit<SnapshotChange, 'summary'>;
  readonly updatedRows: bigint;
  readonly deletedRows: bigint;
  readonly insertedRows: bigint;
}

export const nothingDone: RowOperationResult = {
  version: undefined,
  affectedRows: 0n,
  updatedRows: 0n,
  deletedRows: 0n,
  insertedRows: 0n,
};

/**
 * Runs a row operation on the newest snapshot and commits what it plans; nothing planned, nothing committed. Files of an operation that
 * certainly failed are deleted.
 *
 * @throws AnalysisException whatever `plan` throws, and the errors of `commitSnapshot`.
 */
export async function runRowOperation(
  context: TableContext,
  request: CommitOptions,
  plan: (work: IcebergRowWork) => Promise<PlannedChange | undefined>,
): Promise<RowOperationResult> {
  const { signal } = request;
  const view = await context.refresh(signal);
  const work = new IcebergRowWork(context, { view, engine: await context.engine(), signal });
  try {
    const planned = await plan(work);
    if (planned === undefined) return nothingDone;
    const { change, updatedRows, deletedRows, insertedRows } = planned;
    const committed = await commitSnapshot(context, view, { ...change, summary: request.summary ?? {} }, request);
    const affectedRows = updatedRows + deletedRows + insertedRows;
    return { version: committed.version, affectedRows, updatedRows, deletedRows, insertedRows };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, work.staged);
    throw error;
  } finally {
    await work.release();
  }
}

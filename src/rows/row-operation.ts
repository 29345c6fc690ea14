import { isServiceError } from '../base/errors.ts';
import type { RowOperationResult } from '../table/row-operations.ts';
import type { RowChange, RowTable } from './row-table.ts';

/** No row was concerned. */
const nothingDone: RowOperationResult = {
  version: undefined,
  affectedRows: 0n,
  updatedRows: 0n,
  deletedRows: 0n,
  insertedRows: 0n,
};

/**
 * Runs a row operation and commits what it did; nothing done, nothing committed, unless the format makes versions of that too. Without a table there is nothing to do. Files of an
 * operation that certainly failed are deleted.
 *
 * @throws AnalysisException whatever `plan` throws, and the errors of the table's commit.
 */
export async function runRowOperation<File>(
  table: RowTable<File> | undefined,
  plan: (table: RowTable<File>) => Promise<RowChange<File> | undefined>,
  onlyAdds = false,
): Promise<RowOperationResult> {
  if (table === undefined) return nothingDone;
  try {
    const change = await plan(table);
    if (change === undefined) return { ...nothingDone, version: await table.commitUnchanged?.(onlyAdds) };
    const { updatedRows, deletedRows, insertedRows } = change;
    const version = await table.commit(change);
    return { version, affectedRows: updatedRows + deletedRows + insertedRows, updatedRows, deletedRows, insertedRows };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await table.discard();
    throw error;
  } finally {
    await table.work.release();
  }
}

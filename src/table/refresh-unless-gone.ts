import { isServiceError } from '../base/errors.ts';
import type { QueryableTable, Snapshot } from './table.ts';

/** The newest version of a table that was opened before; `undefined`: it is no longer where it was. */
export async function refreshUnlessGone(table: QueryableTable, signal: AbortSignal | undefined): Promise<Snapshot | undefined> {
  try {
    return await table.refresh(signal);
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

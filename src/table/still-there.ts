import { isServiceError } from '../base/errors.ts';
import type { QueryableTable } from './table.ts';

/** Whether a table that was opened before is where it was. */
export async function stillThere(table: QueryableTable, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await table.refresh(signal);
    return true;
  } catch (error) {
    if (isServiceError(error, 'not-found')) return false;
    throw error;
  }
}

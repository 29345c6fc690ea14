import { columnBytes } from '../../schema/column-bytes.ts';
import type { ColumnBatch } from '../../schema/columns.ts';

/** Bytes that the rows take in memory, about. */
export function batchBytes(batch: ColumnBatch): number {
  return batch.columns.reduce((sum, column) => sum + columnBytes(column), 0);
}

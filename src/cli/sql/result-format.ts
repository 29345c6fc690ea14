import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';

/** How results are printed. */
export type ResultFormat = 'table' | 'json' | 'csv';

export const resultFormats: readonly ResultFormat[] = ['table', 'json', 'csv'];

export function isResultFormat(text: string): text is ResultFormat {
  return (resultFormats as readonly string[]).includes(text);
}

/** Prints one result, batch by batch: memory is bounded by a batch. The text of each call is to be written before the next. */
export interface ResultPrinter {
  /** What stands before the rows. */
  begin(schema: StructType): string;
  rows(batch: ColumnBatch): string;
  /** What stands after all rows. */
  end(rowCount: number): string;
}

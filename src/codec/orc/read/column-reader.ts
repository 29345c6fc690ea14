import type { Column } from '../../../schema/columns.ts';

/** Reads a column of a stripe from front to back. */
export interface ColumnReader {
  /**
   * The next `length` values. `parent`: bits of the structs around that are there, `undefined` for all; where they are not, the value is
   * null and nothing is stored for it.
   *
   * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt).
   */
  readonly read: (length: number, parent: Uint8Array | undefined) => Column;
  /** No more values than this can follow: checked before memory is taken for the elements of lists and maps. */
  readonly capacity: () => number;
}

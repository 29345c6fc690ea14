import type { RejectReason } from '../../protocol/sealed-batch.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';

/** A record that is no row, by its place in the batch. */
export interface FailedRecord {
  readonly row: number;
  readonly reason: RejectReason;
  readonly message: string;
  /** The table is to stand still at it. */
  readonly suspends: boolean;
}

/** What came of the records of a batch. */
export interface TransformedRows {
  /** Of the table. */
  readonly rows: ColumnBatch;
  /** How many records have rows. */
  readonly records: number;
  readonly failed: readonly FailedRecord[];
  /** Records of which `where` is not true. */
  readonly filtered: number;
  /** Records that a generator makes no row of. */
  readonly empty: number;
  /** Records that do not meet an expectation, by its name. */
  readonly unmet: ReadonlyMap<string, number>;
}

export interface TransformTarget {
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
}

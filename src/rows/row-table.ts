import type { HeldRelation, ScanOptions } from '../engine/engine.ts';
import type { Expression } from '../expr/expression.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { Relation } from '../table/relation.ts';
import type { RowTrackingColumns } from '../table/scan.ts';
import type { Version } from '../table/version.ts';
import type { FilePlace } from './change/file-groups.ts';
import type { DerivedColumn } from './change/rewrite-sql.ts';
import type { RowPositions } from './change/touched-file.ts';
import type { MergeOutcome } from './merge/merge-outcome.ts';
import type { RowWork } from './row-work.ts';
import type { MemberDifference } from './values/convert-value.ts';

/**
 * A table under one UPDATE, DELETE or MERGE: everything the verbs ask of its format. It stands for one version, remembers what is written for
 * the operation, and commits or discards it at the end. `File`: a data file as the format knows it.
 */
export interface RowTable<File> {
  readonly work: RowWork;
  /** The snapshot it stands for, where the format names snapshots. */
  readonly snapshotId: bigint | undefined;
  /** The columns that the statement finds. */
  readonly schema: StructType;
  /** The columns of the rows that are written: the same, unless a MERGE adds some. */
  readonly writtenSchema: StructType;
  /** Rows are marked as deleted where they are, in place of rewriting their files. */
  readonly marksRows: boolean;
  /** Images of changed rows are written beside the files. */
  readonly recordsChanges: boolean;
  /** Columns of written rows that follow from others. @throws AnalysisException for such as cannot be computed here. */
  derivedColumns(): readonly DerivedColumn[];
  /** Columns in which rows that come from other files keep who they are; `undefined`: they need not. */
  trackedColumns(): RowTrackingColumns | undefined;

  /** Live files that may hold rows of a bound condition; all without one. */
  filesFor(condition: Expression | undefined): Promise<readonly File[]>;
  placeOf(file: File): FilePlace;
  /** Higher for files that were added later; the same for all where the format does not tell. */
  addedOrder(file: File): number;
  /** Rows of the file that a reader gets, where the metadata say so. */
  liveRows(file: File): number | undefined;
  /** The values that all rows of a file have in the columns, as `filesOfPartitions` takes them; `undefined`: rows may differ in them. */
  partitionTexts(file: File, fields: readonly Field[]): readonly (string | undefined)[] | undefined;
  /** Reads files with the columns that the statement finds, or with those that are written. */
  scan(files: readonly File[], options?: ScanOptions): Promise<HeldRelation>;
  scanToWrite(files: readonly File[], options?: ScanOptions): Promise<HeldRelation>;

  /** What insert clauses make of their rows as checked rows of the written columns. @throws AnalysisException for rows the table refuses. */
  insertedRows(clauses: readonly GivenRows[], rowCount: bigint): Promise<Relation>;
  /** @throws AnalysisException for updated rows that break what the table asks of every row. */
  checkUpdated(rows: Relation): Promise<void>;
  /** Writes rows of the written columns, with the tracked ones or without. */
  write(rows: Relation): Promise<void>;
  /** Writes images of changed rows; only where changes are recorded. */
  record(changes: Relation): Promise<void>;
  /** Marks rows as deleted; only where rows are marked. */
  mark(rows: RowPositions<File>): Promise<void>;
  /** Takes whole files out of the table. */
  end(files: readonly File[]): void;

  /** Makes a version of what was done. @throws what the format throws when others stand against it. */
  commit(change: RowChange<File>): Promise<Version>;
  /** Makes the version of an operation that found nothing to do, where the format has such versions. @param onlyAdds it could only have added rows. */
  commitUnchanged?(onlyAdds: boolean): Promise<Version | undefined>;
  /** Deletes what was written for an operation that certainly failed. */
  discard(): Promise<void>;
}

/** Rows that an insert clause adds, under names of the table's columns. */
export interface GivenRows {
  readonly rows: Relation;
  /** Told of structs that have other members than their columns. */
  readonly members: (difference: MemberDifference) => void;
}

/** What an operation did and what it rests on, for the commit and its history. */
export interface RowChange<File> {
  /** What rows had to satisfy to matter, bound; `undefined`: all rows mattered. */
  readonly condition: Expression | undefined;
  /** Files whose rows decided what is done. */
  readonly readFiles: readonly File[];
  readonly updatedRows: bigint;
  readonly deletedRows: bigint;
  readonly insertedRows: bigint;
  /** Unchanged rows of rewritten files; of a MERGE only its format knows. */
  readonly copiedRows: bigint;
  /** Monotonic times at which the work began, and at which it was known which rows change. */
  readonly startedMs: number;
  readonly scannedMs: number;
  readonly merge?: MergeOutcome | undefined;
}

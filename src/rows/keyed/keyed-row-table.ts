import type { HeldRelation } from '../../engine/engine.ts';
import type { CommitOutcome } from '../../table/commit.ts';
import type { Relation } from '../../table/relation.ts';
import type { ScanFile } from '../../table/scan.ts';
import type { RowTable } from '../row-table.ts';

/** A table under one upsert of staged files. */
export interface KeyedRowTable<File> extends RowTable<File> {
  /** Another table in its place has another one. */
  readonly tableId: string;
  /** Rows of the file, deleted ones included, where the metadata say so. */
  storedRows(file: File): number | undefined;
  /** Of each file what reads the positions that are deleted, ascending, when there are any. */
  deletedRows(files: readonly File[]): Promise<readonly ScanFile['deletedRows'][]>;
  /** The rows of the staged files. */
  stagedRows(): Promise<HeldRelation>;
  /** Takes so many rows of the written columns in place of the staged files. */
  replaceStaged(rows: Relation, rowCount: number): Promise<void>;
  /** One attempt at a version of the staged files, of what was done since, and of the marks. @throws when certainly nothing was changed. */
  tryCommit(): Promise<CommitOutcome>;
}

import type { Relation } from '../../table/relation.ts';

/** A file with rows that a clause concerns. */
export interface TouchedFile<File> {
  readonly file: File;
  /** No row of the file stays. Only known where it costs nothing to know. */
  readonly wholly: boolean;
  readonly updatedRows: bigint;
}

/** Rows by place: index of the file and position in it, both BIGINT, ordered by both. */
export interface RowPositions<File> {
  readonly files: readonly File[];
  readonly positions: Relation;
}

import { serviceError } from '../base/errors.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile, VersionChanges } from '../table/changes.ts';
import type { FeedFilter } from './feed-filter.ts';
import { isConstant } from './partition-column.ts';
import type { PieceRows } from './piece-rows.ts';
import type { Phase } from './version-segments.ts';

/** Which file of which table, and how its rows are to be seen. */
export interface ChangeFileRequest {
  readonly location: string;
  readonly changes: VersionChanges;
  readonly file: ChangeFile;
  readonly keyColumns: readonly string[];
  /** The columns that are published; default: those of `changes.schema`, all of which are read. */
  readonly published?: StructType | undefined;
  /** Default: all rows are. */
  readonly filter?: FeedFilter | undefined;
}

/** Rows of one phase of a file that follow each other in the order in which they are published (docs/spec/change-event.md, "Order"). */
export interface ChangePiece {
  readonly rows: PieceRows;
  /** Change code by row. */
  readonly codes: Uint8Array;
  /** Rows in the order of publication. */
  readonly order: Uint32Array;
  /** By position in `order`: 1 where an update pair starts. A piece tears none. */
  readonly pairStarts: Uint8Array;
  /** By row: 0 where the feed's condition is not true. Absent: it has none. */
  readonly matches?: Uint8Array | undefined;
}

export type PhaseCounts = Readonly<Record<Phase, number>>;

/** A change file that is being read. */
export interface OpenChangeFile {
  readonly counts: PhaseCounts;
  /** At least one of the rows of a phase from a position below its count on. Positions that ascend cost one reading of the file. */
  pieceAt(phase: Phase, position: number): Promise<ChangePiece>;
  close(): Promise<void>;
}

/** The piece without its first rows. */
export function pieceFrom(piece: ChangePiece, skipped: number): ChangePiece {
  if (skipped === 0) return piece;
  return { ...piece, order: piece.order.subarray(skipped), pairStarts: piece.pairStarts.subarray(skipped) };
}

/** The column of recorded files that tells what happened to a row. */
export const changeTypeName = '_change_type';

/** What is read from a file: not the columns the log gives the value of; last, in recorded files, the change type. */
export function schemaInFile({ changes, file }: ChangeFileRequest): StructType {
  const fields = changes.schema.fields.filter(({ name }) => !isConstant(file, name));
  if (file.kind !== 'recorded') return { kind: 'struct', fields };
  return { kind: 'struct', fields: [...fields, { name: changeTypeName, type: { kind: 'string' }, nullable: true }] };
}

/**
 * Of a file of inserts or deletes that has so many rows, those that are no changes among them.
 *
 * @throws as `checkCount`.
 */
export function plainCounts(request: ChangeFileRequest, stored: number): PhaseCounts {
  const { kind, onlyRows, deletedRows } = request.file;
  const count = onlyRows?.length ?? stored - (deletedRows?.length ?? 0);
  checkCount(request, count);
  return kind === 'insert' ? { removals: 0, additions: count } : { removals: count, additions: 0 };
}

/** @throws ServiceError `CDF_FILE_CORRUPT` (kind corrupt) when the file has not as many changes as the log says. */
export function checkCount({ changes, file }: ChangeFileRequest, rowCount: number): void {
  if (file.rowCount === undefined || file.rowCount === rowCount) return;
  throw serviceError.corrupt(
    'CDF_FILE_CORRUPT',
    `file "${file.path}" of version ${changes.version} holds ${rowCount} rows, the log says ${file.rowCount}`,
  );
}

import { serviceError } from '../base/errors.ts';
import { partitionPoint } from '../base/partition-point.ts';
import { rowsInFooter } from '../codec/parquet/footer.ts';
import { readParquet } from '../codec/parquet/read-parquet.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ChangeFile } from '../table/changes.ts';
import { type ChangeFileRequest, type ChangePiece, type OpenChangeFile, pieceFrom, plainCounts, schemaInFile } from './change-file.ts';
import { plainPiece } from './pieces.ts';
import type { RowMatcher } from './row-matcher.ts';
import { RowSelection } from './row-selection.ts';

/** Rows of a file that are columns at a time: with fewer the reader passes over the same pages more often. */
const sliceRows = 65_536;
/** Feeds take turns: each may be at another place of the file. */
const maxSlices = 2;

/** A change file of inserts or deletes whose bytes are held in memory: some of its rows at a time are columns. */
export async function slicedChangeFile(
  request: ChangeFileRequest,
  { store, matcher }: { readonly store: ObjectStore; readonly matcher: RowMatcher },
  signal: AbortSignal | undefined,
): Promise<OpenChangeFile> {
  const { file } = request;
  const bytes = await store.read(file.path, signal);
  const stored = rowsInFooter(bytes);
  const counts = plainCounts(request, stored);
  const slices: { readonly first: number; readonly piece: ChangePiece }[] = [];
  const sliceAt = async (position: number): Promise<(typeof slices)[number]> => {
    const known = slices.find(({ first, piece }) => position >= first && position < first + piece.order.length);
    if (known !== undefined) return known;
    const from =
      sliceRows * partitionPoint(0, Math.ceil(stored / sliceRows), (slice) => changesBefore(file, (slice + 1) * sliceRows) <= position);
    const first = changesBefore(file, from);
    if (from >= stored) throw notAllThere(request, { from, until: from + sliceRows });
    const rows = { from, until: Math.min(from + sliceRows, stored) };
    const { batches } = await readParquet(bytes, { schema: schemaInFile(request), rows });
    const selection = new RowSelection(file, from);
    const piece = await plainPiece(
      { request, matcher },
      batches.map((batch) => selection.of(batch)),
    );
    if (piece.order.length !== changesBefore(file, rows.until) - first) throw notAllThere(request, rows);
    slices.push({ first, piece });
    if (slices.length > maxSlices) slices.shift();
    return { first, piece };
  };
  return {
    counts,
    pieceAt: async (_phase, position) => {
      const { first, piece } = await sliceAt(position);
      return pieceFrom(piece, position - first);
    },
    close: () => {
      slices.length = 0;
      return Promise.resolve();
    },
  };
}

function notAllThere({ changes, file }: ChangeFileRequest, { from, until }: { readonly from: number; readonly until: number }): Error {
  return serviceError.corrupt(
    'CDF_FILE_CORRUPT',
    `file "${file.path}" of version ${changes.version} does not hold all of the rows ${from} to ${until}, its footer says it does`,
  );
}

/** How many of a file's first rows are changes. */
function changesBefore({ onlyRows, deletedRows }: ChangeFile, row: number): number {
  const listed = onlyRows ?? deletedRows;
  if (listed === undefined) return row;
  const before = partitionPoint(0, listed.length, (index) => Number(listed[index]) < row);
  return onlyRows === undefined ? row - before : before;
}

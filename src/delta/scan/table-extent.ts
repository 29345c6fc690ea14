import { type ExtentColumn, extentOf, type FileExtent, type TableExtent } from '../../table/table-extent.ts';
import { type AddFile, liveRows } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { TableKnowledge } from './select-files.ts';

/** What the log tells of all rows; bounds of files with deletion vectors may be of rows that are gone, and tell nothing. */
export function deltaExtent(snapshot: DeltaSnapshot, columns: readonly ExtentColumn[]): TableExtent | undefined {
  if (columns.length === 0) {
    const { rowCount } = snapshot;
    return rowCount === undefined ? undefined : { rows: BigInt(rowCount), columns: new Map() };
  }
  const knowledge = new TableKnowledge(
    snapshot,
    columns.map(({ field }) => [field.name]),
  );
  return extentOf(fileExtents(snapshot.files(), knowledge), columns);
}

function* fileExtents(files: Iterable<AddFile>, knowledge: TableKnowledge): Generator<FileExtent, void, undefined> {
  for (const file of files) {
    const known = knowledge.of(file);
    yield {
      rows: liveRows(file),
      hasDeletes: (file.deletionVector?.cardinality ?? 0) > 0,
      facts: ({ name }) => known.column([name]),
    };
  }
}

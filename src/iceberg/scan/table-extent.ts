import { type ExtentColumn, extentOf, type FileExtent, type TableExtent } from '../../table/table-extent.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { factsOfMetrics } from './column-facts.ts';
import { type LiveFile, liveFiles } from './live-files.ts';
import { type MetadataSource, manifestsOf } from './manifests.ts';
import { remappedColumns } from './remapped-columns.ts';

/**
 * What the manifest list (the number of rows) or the manifests (bounds and nulls) tell of all rows.
 *
 * @throws as `liveFiles`.
 */
export async function icebergExtent(
  source: MetadataSource,
  state: SnapshotState,
  columns: readonly ExtentColumn[],
  signal?: AbortSignal,
): Promise<TableExtent | undefined> {
  const listed = columns.length === 0 ? await listedRows(source, state, signal) : undefined;
  if (listed !== undefined) return { rows: listed, columns: new Map() };
  const { data } = await liveFiles(source, state, undefined, signal);
  return extentOf(fileExtents(state, data), columns);
}

/** `undefined` where there are deletes, or the list does not have the counts. */
async function listedRows(source: MetadataSource, state: SnapshotState, signal?: AbortSignal): Promise<bigint | undefined> {
  let rows = 0n;
  for (const { content, addedRows, existingRows } of await manifestsOf(source, state.metadata, state.snapshot, signal)) {
    if (content !== 'data' || addedRows === undefined || existingRows === undefined) return undefined;
    rows += addedRows + existingRows;
  }
  return rows;
}

function* fileExtents({ metadata, icebergSchema }: SnapshotState, files: readonly LiveFile[]): Generator<FileExtent, void, undefined> {
  const remapped = remappedColumns(metadata);
  const ids = new Map([...columnsById(icebergSchema).values()].flatMap(({ id, path }) => (path.length === 1 ? [[path[0], id]] : [])));
  for (const file of files) {
    yield {
      rows: liveRows(file),
      hasDeletes: file.deletes.length > 0,
      facts: ({ name, type }) => {
        const id = ids.get(name);
        return id === undefined || remapped.has(id) ? undefined : factsOfMetrics(file.entry.file, { id, type });
      },
    };
  }
}

/** A deletion vector tells how many rows it deletes; of delete files nobody knows how many rows they name twice, or of which file. */
function liveRows({ entry, deletes, attached: { vector } }: LiveFile): number | undefined {
  const deleted = vector?.file.recordCount ?? 0;
  return deletes.length === (vector === undefined ? 0 : 1) ? entry.file.recordCount - deleted : undefined;
}

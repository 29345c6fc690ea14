import { AnalysisException } from '../../base/analysis-exception.ts';
import { mergedPositions } from '../../rows/change/merged-positions.ts';
import { readDeletionVector } from '../deletes/deletion-vector.ts';
import { PositionDeletes } from '../deletes/position-deletes.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { hasDeletionVectors } from '../metadata/format-features.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { DeletionVectorFiles } from './deletion-vector-files.ts';
import { discardFiles } from './discard-files.ts';
import { byPartition, PositionDeleteFiles, type PositionsOfFile } from './position-delete-files.ts';

/** Rows of a live data file that go, by their ascending positions. */
export interface DeletedPositions {
  readonly file: LiveFile;
  readonly positions: BigInt64Array;
}

/** Delete files to be added, and those that they take the place of. */
export interface StagedDeletes {
  readonly added: readonly ContentFile[];
  readonly removed: readonly ContentFile[];
}

/** Positions that are held for one file of deletes. */
const maxHeldPositions = 2 ** 26;

/**
 * Marks rows as deleted without touching their files: position delete files, from format version 3 on deletion vectors. What is of one data
 * file takes in the rows of it that were marked before. Nothing refers to the files yet; when it rejects, nothing it wrote is left.
 *
 * @throws AnalysisException `INVALID_TABLE_PROPERTY`, what reading earlier deletes throws, and what the stores throw.
 */
export async function stageDeletes(
  context: TableContext,
  state: SnapshotState,
  deleted: Deleted,
  signal?: AbortSignal,
): Promise<StagedDeletes> {
  if (hasDeletionVectors(state.metadata)) return stageVectors(context, state, deleted, signal);
  if (granularityOf(state.metadata.properties) === 'file') return stageByFile(context, state, deleted, signal);
  return stageByPartition(context, state, deleted, signal);
}

type Deleted = AsyncIterable<DeletedPositions> | Iterable<DeletedPositions>;

/** A delete file for each partition, as far as its positions fit in memory. */
async function stageByPartition(
  context: TableContext,
  state: SnapshotState,
  deleted: Deleted,
  signal: AbortSignal | undefined,
): Promise<StagedDeletes> {
  const files = new PositionDeleteFiles(context, state, signal);
  let held: PositionsOfFile[] = [];
  let heldPositions = 0;
  const flush = async (): Promise<void> => {
    for (const group of byPartition(held)) await files.write(group);
    held = [];
    heldPositions = 0;
  };
  return orDiscarded(context, files, async () => {
    for await (const { file, positions } of deleted) {
      held.push({ dataFile: file.entry.file, positions });
      heldPositions += positions.length;
      if (heldPositions > maxHeldPositions) await flush();
    }
    await flush();
    return { added: files.staged, removed: [] };
  });
}

/** A delete file for each data file, in place of those it alone had before: however often rows of it are deleted, readers open one. */
async function stageByFile(
  context: TableContext,
  state: SnapshotState,
  deleted: Deleted,
  signal: AbortSignal | undefined,
): Promise<StagedDeletes> {
  const files = new PositionDeleteFiles(context, state, signal);
  const earlier = new PositionDeletes(context, state.metadata, context.engine);
  const removed: ContentFile[] = [];
  return orDiscarded(context, files, async () => {
    for await (const { file, positions } of deleted) {
      const { entry, attached } = file;
      const own = await earlier.of(entry.file.path, { own: attached.own, shared: [] }, signal);
      await files.write([{ dataFile: entry.file, positions: mergedPositions([positions, ...own]) }]);
      removed.push(...attached.own.map((ownDeletes) => ownDeletes.file));
    }
    return { added: files.staged, removed };
  });
}

/** Vectors of all data files, many in one Puffin file. */
async function stageVectors(
  context: TableContext,
  state: SnapshotState,
  deleted: Deleted,
  signal: AbortSignal | undefined,
): Promise<StagedDeletes> {
  const vectors = new DeletionVectorFiles(context, state, signal);
  const earlier = new PositionDeletes(context, state.metadata, context.engine);
  const removed: ContentFile[] = [];
  return orDiscarded(context, vectors, async () => {
    for await (const { file, positions } of deleted) {
      const { entry, attached } = file;
      const lists = [positions, ...(await earlier.of(entry.file.path, attached, signal))];
      if (attached.vector !== undefined) {
        lists.push(await readDeletionVector(context, attached.vector, undefined, signal));
        removed.push(attached.vector.file);
      }
      // What concerns this data file alone ends here; of the others the vector takes precedence.
      removed.push(...attached.own.map((ownDeletes) => ownDeletes.file));
      await vectors.add(entry.file, mergedPositions(lists));
    }
    return { added: await vectors.finish(), removed };
  });
}

async function orDiscarded(
  context: TableContext,
  files: { readonly staged: readonly ContentFile[] },
  write: () => Promise<StagedDeletes>,
): Promise<StagedDeletes> {
  try {
    return await write();
  } catch (error) {
    await discardFiles(context, files.staged);
    throw error;
  }
}

/** `file` as Spark has it, unless the table says otherwise. */
function granularityOf(properties: Readonly<Record<string, string>>): 'file' | 'partition' {
  const key = 'write.delete.granularity';
  const text = (properties[key] ?? 'file').toLowerCase();
  if (text === 'file' || text === 'partition') return text;
  throw new AnalysisException({
    errorClass: 'INVALID_TABLE_PROPERTY',
    message: `table property ${key} is "${text}"`,
    hint: 'set it to file or partition',
  });
}

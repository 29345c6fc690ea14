import { assert, present } from '../../base/assert.ts';
import { mergedPositions } from '../../rows/change/merged-positions.ts';
import { positionsByFile } from '../../rows/change/positions-by-file.ts';
import type { RowPositions } from '../../rows/change/touched-file.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { deletionVectorPath } from '../deletion-vectors/deletion-vector-path.ts';
import { readDeletionVector } from '../deletion-vectors/read-deletion-vector.ts';
import { writeDeletionVectors } from '../deletion-vectors/write-deletion-vectors.ts';
import type { FileChanges } from './file-changes.ts';
import { looseStatistics } from './loose-statistics.ts';
import type { DeltaRowWork } from './row-work.ts';
import { countPhysicalRows } from './target-scan.ts';

/** Vectors wait to be written together until they hold this many positions. */
const maxPendingPositions = 4_000_000;

/** A file whose vector is known and not yet written. */
interface Pending {
  readonly file: AddFile;
  readonly positions: BigInt64Array;
  readonly rows: number;
}

/**
 * Deletes rows by deletion vectors: what a file's present vector deletes stays deleted; a file without a row left ends.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_*` when a present vector cannot be read.
 */
export async function markDeletedRows(
  work: DeltaRowWork,
  deleted: RowPositions<AddFile>,
): Promise<Pick<FileChanges, 'marked' | 'removed'>> {
  const removed: AddFile[] = [];
  const marked: { readonly before: AddFile; readonly after: AddFile }[] = [];
  let pending: Pending[] = [];
  let pendingPositions = 0;
  const flush = async (): Promise<void> => {
    marked.push(...(await writeVectors(work, pending)));
    pending = [];
    pendingPositions = 0;
  };
  for await (const { index, positions } of positionsByFile(work, deleted.positions)) {
    const file = present(deleted.files[index], 'a deleted position must be of one of the files');
    const rows = physicalRows(file.stats) ?? present((await countPhysicalRows(work, [file]))[0], 'every file has a count');
    const vector = file.deletionVector;
    const before = vector === undefined ? undefined : await readDeletionVector(work.context, { vector, rows }, work.signal);
    const all = before === undefined ? positions : mergedPositions([before, positions]);
    assert(all.length <= rows, 'no more rows can be deleted than the file has');
    if (all.length === rows) {
      removed.push(file);
      continue;
    }
    pending.push({ file, positions: all, rows });
    pendingPositions += all.length;
    if (pendingPositions >= maxPendingPositions) await flush();
  }
  if (pending.length > 0) await flush();
  return { marked, removed };
}

async function writeVectors(work: DeltaRowWork, pending: readonly Pending[]): Promise<FileChanges['marked']> {
  const vectors = await writeDeletionVectors(work.context, pending, work.signal);
  const paths = new Set(vectors.map(deletionVectorPath).filter((path) => path !== undefined));
  await work.staging(Promise.resolve([...paths].map((storedPath) => ({ storedPath }))));
  return pending.map(({ file, rows }, index) => ({
    before: file,
    after: {
      ...file,
      dataChange: true,
      stats: looseStatistics(file.stats, rows),
      deletionVector: present(vectors[index], 'every file has its vector'),
    },
  }));
}

import { throwIfAborted } from '../../base/abort.ts';
import { assert, present } from '../../base/assert.ts';
import type { Column } from '../../schema/columns.ts';
import type { Relation } from '../../table/relation.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { deletionVectorPath } from '../deletion-vectors/deletion-vector-path.ts';
import { readDeletionVector } from '../deletion-vectors/read-deletion-vector.ts';
import { writeDeletionVectors } from '../deletion-vectors/write-deletion-vectors.ts';
import type { FileChanges } from './file-changes.ts';
import { looseStatistics } from './loose-statistics.ts';
import type { RowWork } from './row-work.ts';
import { countPhysicalRows } from './target-scan.ts';

/** Vectors wait to be written together until they hold this many positions. */
const maxPendingPositions = 4_000_000;

/** A file whose vector is known and not yet written. */
interface Pending {
  readonly file: AddFile;
  readonly positions: BigInt64Array;
  readonly rows: number;
}

/** Rows to delete: index of the file and position in it, both BIGINT, ordered by both. */
export interface DeletedPositions {
  readonly files: readonly AddFile[];
  readonly positions: Relation;
}

/**
 * Deletes rows by deletion vectors: what a file's present vector deletes stays deleted; a file without a row left ends.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_*` when a present vector cannot be read.
 */
export async function markDeletedRows(work: RowWork, deleted: DeletedPositions): Promise<Pick<FileChanges, 'marked' | 'removed'>> {
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
    const before = vector === undefined ? undefined : await readDeletionVector(work.context, vector, work.signal);
    const all = before === undefined ? positions : merged(before, positions);
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

async function writeVectors(work: RowWork, pending: readonly Pending[]): Promise<FileChanges['marked']> {
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

/** Collects the ordered pairs of a relation into one list for each file. */
async function* positionsByFile(
  work: RowWork,
  relation: Relation,
): AsyncGenerator<{ readonly index: number; readonly positions: BigInt64Array }> {
  let current: { readonly index: number; readonly chunks: BigInt64Array[] } | undefined;
  for await (const batch of work.engine.read(relation, work.signal)) {
    throwIfAborted(work.signal);
    const indexes = longs(batch.columns[0]);
    const positions = longs(batch.columns[1]);
    for (let from = 0; from < batch.rowCount; ) {
      const value = indexes[from] ?? 0n;
      let until = from + 1;
      while (until < batch.rowCount && indexes[until] === value) until += 1;
      const index = Number(value);
      if (current !== undefined && current.index !== index) {
        yield { index: current.index, positions: joined(current.chunks) };
        current = undefined;
      }
      current ??= { index, chunks: [] };
      // A batch may be a view of memory that is used again.
      current.chunks.push(positions.slice(from, until));
      from = until;
    }
  }
  if (current !== undefined) yield { index: current.index, positions: joined(current.chunks) };
}

function longs(column: Column | undefined): BigInt64Array {
  const values = column?.layout === 'fixed' && column.nullCount === 0 ? column.values : undefined;
  return present(values instanceof BigInt64Array ? values : undefined, 'positions must be 64-bit numbers without nulls');
}

function joined(chunks: readonly BigInt64Array[]): BigInt64Array {
  const all = new BigInt64Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Both ascending and distinct; a position in both counts once. */
function merged(left: BigInt64Array, right: BigInt64Array): BigInt64Array {
  const all = new BigInt64Array(left.length + right.length);
  let [l, r, count] = [0, 0, 0];
  while (l < left.length || r < right.length) {
    const a = left[l];
    const b = right[r];
    const takeLeft = b === undefined || (a !== undefined && a <= b);
    const value = takeLeft ? a : b;
    if (takeLeft) l += 1;
    if (value === b) r += 1;
    all[count] = value ?? 0n;
    count += 1;
  }
  return all.slice(0, count);
}

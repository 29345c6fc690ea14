import { assert, present } from '../../base/assert.ts';
import { countRows } from '../../rows/change/engine-counts.ts';
import { mergedPositions } from '../../rows/change/merged-positions.ts';
import { positionsByFile } from '../../rows/change/positions-by-file.ts';
import { withScan } from '../../rows/change/target-scan.ts';
import type { RowPositions } from '../../rows/change/touched-file.ts';
import type { RowTable } from '../../rows/row-table.ts';
import type { Range } from '../../schema/slice.ts';
import { type AddFile, type DeletionVector, physicalRows } from '../actions.ts';
import { deletionVectorPath } from '../deletion-vectors/deletion-vector-path.ts';
import { readDeletionVector } from '../deletion-vectors/read-deletion-vector.ts';
import { writeDeletionVectors } from '../deletion-vectors/write-deletion-vectors.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { FileChanges, MarkedFile } from './file-changes.ts';

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
 * @param staged told of every file that is written.
 * @throws ServiceError `DELTA_DELETION_VECTOR_*` when a present vector cannot be read.
 */
export async function markDeletedRows(
  context: OperationContext,
  table: Pick<RowTable<AddFile>, 'work' | 'scan'>,
  deleted: RowPositions<AddFile>,
  staged: (storedPath: string) => void,
): Promise<Pick<FileChanges, 'marked' | 'removed'>> {
  const removed: AddFile[] = [];
  const marked: MarkedFile[] = [];
  let pending: Pending[] = [];
  let pendingPositions = 0;
  const flush = async (): Promise<void> => {
    const vectors = await writeDeletionVectors(context, pending, table.work.signal);
    for (const path of new Set(vectors.map((vector) => deletionVectorPath(vector)))) if (path !== undefined) staged(path);
    marked.push(...pending.map((file, index) => markedFile(file, present(vectors[index], 'every file has its vector'))));
    pending = [];
    pendingPositions = 0;
  };
  for await (const { index, positions } of positionsByFile(table.work, deleted.positions)) {
    const file = present(deleted.files[index], 'a deleted position must be of one of the files');
    const rows = physicalRows(file.stats) ?? (await countPhysicalRows(table, file));
    const vector = file.deletionVector;
    const before = vector === undefined ? undefined : await readDeletionVector(context, { vector, rows }, table.work.signal);
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

function markedFile({ file, rows }: Pending, deletionVector: DeletionVector): MarkedFile {
  return { before: file, after: { ...file, dataChange: true, stats: looseStatistics(file.stats, rows), deletionVector } };
}

/** Rows the file holds for a reader, and those that its vector deletes. */
function countPhysicalRows(table: Pick<RowTable<AddFile>, 'work' | 'scan'>, file: AddFile): Promise<number> {
  const scanning = table.scan([file], { withPositions: true, withDeletedRows: true });
  return withScan(scanning, async (scan) => Number(await countRows(table.work, scan)));
}

/**
 * Statistics of a file some of whose rows are deleted by a vector: the row count stays physical, and bounds and counts are no longer
 * tight. The rest of the text is kept as it is, so that no number in it changes.
 */
export function looseStatistics(stats: string | undefined, physicalRows: number): string {
  const text = stats?.trim() ?? '';
  if (!text.startsWith('{') || !text.endsWith('}')) return `{"numRecords":${physicalRows},"tightBounds":false}`;
  const tight = memberValue(text, 'tightBounds');
  const loose =
    tight === undefined
      ? `${text.slice(0, -1).trimEnd()}${/\{\s*\}$/.test(text) ? '' : ','}"tightBounds":false}`
      : `${text.slice(0, tight.from)}false${text.slice(tight.until)}`;
  return memberValue(loose, 'numRecords') === undefined ? `{"numRecords":${physicalRows},${loose.slice(1)}` : loose;
}

/** Strings, brackets, and everything between them that is neither space nor punctuation. */
const lexeme = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Where the plain value of a member of the outermost object stands. */
function memberValue(text: string, name: string): Range | undefined {
  let depth = 0;
  let seen: 'nothing' | 'name' | 'colon' = 'nothing';
  for (const match of text.matchAll(lexeme)) {
    const [token] = match;
    if (seen === 'colon') return { from: match.index, until: match.index + token.length };
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth !== 1) seen = 'nothing';
    else if (seen === 'name') seen = token === ':' ? 'colon' : 'nothing';
    else if (token === `"${name}"`) seen = 'name';
  }
  return undefined;
}

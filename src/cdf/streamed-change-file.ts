import { inspectFile } from '../codec/inspect-file.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { OtherFile } from '../table/changes.ts';
import { type ChangeFileRequest, type OpenChangeFile, plainCounts, schemaInFile } from './change-file.ts';
import { PiecedChangeFile } from './pieced-change-file.ts';
import { plainPieces } from './pieces.ts';
import type { RowMatcher } from './row-matcher.ts';
import { keyPositions } from './row-writers.ts';

/** Reads the rows of a change file that has a reader of its own, in the order of the file, each time the same: columns of the schema. */
export type ReadOtherFile = (
  request: {
    readonly store: ObjectStore;
    readonly path: string;
    readonly sizeBytes: number;
    readonly other: OtherFile;
    readonly schema: StructType;
  },
  signal?: AbortSignal,
) => AsyncIterable<ColumnBatch>;

/** A change file of inserts or deletes that is neither held nor read by the engine: a batch of its rows is in memory. */
export async function streamedChangeFile(
  request: ChangeFileRequest,
  parts: { readonly other: OtherFile; readonly store: ObjectStore; readonly matcher: RowMatcher; readonly readOther: ReadOtherFile },
  signal: AbortSignal | undefined,
): Promise<OpenChangeFile> {
  const { other, store, matcher, readOther } = parts;
  const { path, sizeBytes } = request.file;
  keyPositions(request.changes.schema, request.keyColumns);
  const stored = await inspectFile(other.format, { name: path, sizeBytes, read: (range) => store.readRange(path, range, signal) });
  const schema = schemaInFile(request);
  return new PiecedChangeFile({
    counts: plainCounts(request, stored),
    pieces: () => plainPieces({ request, matcher }, readOther({ store, path, sizeBytes, other, schema })),
  });
}

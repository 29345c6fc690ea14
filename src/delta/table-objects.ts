import { inspectFile } from '../codec/inspect-file.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { TableObject } from '../table/table-object.ts';
import { type AddFile, type DeletionVector, physicalRows } from './actions.ts';
import { readDeletionVector, vectorFileOf } from './deletion-vectors/read-deletion-vector.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';
import type { OperationContext } from './operations/operation-context.ts';
import { absolutePathOf } from './scan/file-location.ts';

/** The live data files of a snapshot, each followed by its deletion vector. The log itself was read to know them. */
export async function* tableObjects(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  signal?: AbortSignal,
): AsyncGenerator<TableObject, void, undefined> {
  for (const file of snapshot.files()) {
    signal?.throwIfAborted();
    yield await Promise.resolve(dataObject(context, file));
    if (file.deletionVector !== undefined) yield vectorObject(context, file, file.deletionVector);
  }
}

function dataObject(context: OperationContext, file: AddFile): TableObject {
  const placed = (): PlacedObject => placeOf(context, file);
  return {
    noun: 'data file',
    path: file.path,
    sizeBytes: file.sizeBytes,
    count: physicalRows(file.stats),
    head: (signal) => sizeOf(placed(), signal),
    inspect: (sizeBytes, signal) => {
      const { store, path } = placed();
      return inspectFile('parquet', { name: file.path, sizeBytes, read: (range) => store.readRange(path, range, signal) });
    },
  };
}

/** A file may hold several vectors: its size tells nothing. Reading one checks size, checksum and number of positions. */
function vectorObject(context: OperationContext, file: AddFile, vector: DeletionVector): TableObject {
  return {
    noun: 'deletion vector',
    path: `of ${file.path}`,
    sizeBytes: undefined,
    count: vector.cardinality,
    head: async (signal) => {
      const place = vectorFileOf(context, vector);
      return place === undefined ? vector.pathOrInlineDv.length : sizeOf(place, signal);
    },
    inspect: async (_sizeBytes, signal) => (await readDeletionVector(context, { vector, rows: physicalRows(file.stats) }, signal)).length,
  };
}

interface PlacedObject {
  readonly store: ObjectStore;
  readonly path: string;
}

/** Files of shallow clones lie in other tables. */
function placeOf({ place, name }: OperationContext, file: AddFile): PlacedObject {
  return place.locate(absolutePathOf(file, place, name));
}

async function sizeOf({ store, path }: PlacedObject, signal: AbortSignal | undefined): Promise<number | undefined> {
  return (await store.head(path, signal))?.sizeBytes;
}

import { fileURLToPath } from 'node:url';
import { isServiceError, serviceError } from '../../base/errors.ts';
import { plainLocation } from '../../storage/allowed-locations.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { DeletionVector } from '../actions.ts';
import type { TablePlace } from '../files/table-place.ts';
import { decodePath } from '../paths.ts';
import { deletionVectorPath } from './deletion-vector-path.ts';
import { decodeVector, framingBytes, unframed, vectorCorrupt } from './vector-bytes.ts';
import { decodeZ85 } from './z85.ts';

/** Largest vector that is read. */
const maxVectorBytes = 1024 * 1024 * 1024;
/** Where the first vector of a file begins. */
const firstOffset = 1;

/** The table a vector belongs to. */
export interface VectorSource {
  /** For messages. */
  readonly name: string;
  readonly store: ObjectStore;
  /** For vectors of other tables, as a clone refers to. */
  readonly place: Pick<TablePlace, 'locate' | 'isLocal'>;
}

/** A vector is read for a file with this many rows; `undefined`: they are not known. */
export interface VectorOfFile {
  readonly vector: DeletionVector;
  readonly rows: number | undefined;
}

/**
 * The ascending physical row positions a vector deletes, all of them in its file. Whatever is wrong with it is an error: rows that may be deleted are not shown.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_MISSING` (not-found) when its file is gone; `DELTA_DELETION_VECTOR_CORRUPT`, `…_SIZE_MISMATCH`,
 * `…_CHECKSUM_MISMATCH`, `…_CARDINALITY_MISMATCH` (corrupt); `DELTA_DELETION_VECTOR_UNSUPPORTED` (unsupported).
 */
export async function readDeletionVector(
  source: VectorSource,
  { vector, rows }: VectorOfFile,
  signal?: AbortSignal,
): Promise<BigInt64Array> {
  const where = whereOf(source, vector);
  const bounds = { cardinality: vector.cardinality, rows };
  if (vector.sizeInBytes < 0 || vector.sizeInBytes > maxVectorBytes) {
    throw vectorCorrupt('SIZE_MISMATCH', `${where}: ${vector.sizeInBytes} bytes, at most ${maxVectorBytes} are read`);
  }
  if (vector.storageType === 'i') {
    const bytes = decodeZ85(vector.pathOrInlineDv, where);
    if (bytes.byteLength < vector.sizeInBytes) {
      throw vectorCorrupt('SIZE_MISMATCH', `${where}: ${bytes.byteLength} bytes, the log says ${vector.sizeInBytes}`);
    }
    return decodeVector(bytes.subarray(0, vector.sizeInBytes), where, bounds);
  }
  const file = fileOf(source, vector, where);
  const from = vector.offset ?? firstOffset;
  try {
    const bytes = await file.store.readRange(file.path, { from, until: from + vector.sizeInBytes + framingBytes }, signal);
    return decodeVector(unframed(bytes, where, vector.sizeInBytes), where, bounds);
  } catch (cause) {
    if (!isServiceError(cause, 'not-found')) throw cause;
    throw serviceError.notFound('DELTA_DELETION_VECTOR_MISSING', `deletion vector ${where}: its file "${file.path}" is gone`, {
      hint: 'restore the file from a copy, or read a version whose files are all there; the deleted rows are never shown',
      cause,
    });
  }
}

/** Where the file of a vector lies; `undefined`: it is in the log. @throws as `readDeletionVector` for a place that is not read. */
export function vectorFileOf(
  source: VectorSource,
  vector: DeletionVector,
): { readonly store: ObjectStore; readonly path: string } | undefined {
  return vector.storageType === 'i' ? undefined : fileOf(source, vector, whereOf(source, vector));
}

function whereOf({ name }: VectorSource, { storageType, pathOrInlineDv }: DeletionVector): string {
  return `of table "${name}", ${storageType} "${pathOrInlineDv.slice(0, 200)}"`;
}

function fileOf(source: VectorSource, vector: DeletionVector, where: string): { readonly store: ObjectStore; readonly path: string } {
  const path = deletionVectorPath(vector, where);
  if (path !== undefined) return { store: source.store, path };
  const absolute = vector.storageType === 'p' ? absolutePlaceOf(vector.pathOrInlineDv, source.place.isLocal) : undefined;
  if (absolute !== undefined) return source.place.locate(absolute);
  throw serviceError.unsupported(
    'DELTA_DELETION_VECTOR_UNSUPPORTED',
    `deletion vector ${where} is not stored in a way this version can read`,
    { hint: 'purge the table with an engine that can (REORG TABLE … APPLY (PURGE))' },
  );
}

/** `undefined` for a place that is none in an object store, and no local file of a local table. */
function absolutePlaceOf(uri: string, isLocal: boolean): string | undefined {
  if (/^s3[an]?:\/\//i.test(uri)) return plainLocation(decodePath(uri, ''));
  return isLocal ? localPathOf(uri) : undefined;
}

/** `undefined` for a place that is not a local file given absolutely. */
function localPathOf(uri: string): string | undefined {
  try {
    return /^file:\/*/i.test(uri) ? fileURLToPath(uri.replace(/^file:\/*/i, 'file:///')) : undefined;
  } catch {
    return undefined;
  }
}

import { crc32 } from 'node:zlib';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import { type BitmapHeaders, decodeRoaring64 } from '../../codec/roaring/decode-roaring.ts';
import { encodeRoaring64 } from '../../codec/roaring/encode-roaring.ts';

/** Bytes around a vector in a file: its size before it, its checksum behind it. */
export const framingBytes = 8;
/** First byte of a file of vectors. */
export const fileFormatVersion = 1;
/** In front of a bitmap in the portable format. */
const portableMagic = 1_681_511_377;

/** A vector as it lies in a file or inline: magic number and bitmap. */
export function encodeVector(positions: BigInt64Array): Uint8Array {
  const bitmap = encodeRoaring64(positions);
  const bytes = new Uint8Array(4 + bitmap.byteLength);
  new DataView(bytes.buffer).setUint32(0, portableMagic, true);
  bytes.set(bitmap, 4);
  return bytes;
}

/** What a vector must fit: the log's count of its positions, and the rows of its file where they are known. */
export interface VectorBounds {
  readonly cardinality: number;
  readonly rows: number | undefined;
}

/**
 * The ascending positions of a vector. Its headers are held against the bounds before memory is taken for its positions.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_CORRUPT` (corrupt), `DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH` (corrupt).
 */
export function decodeVector(bytes: Uint8Array, where: string, bounds: VectorBounds): BigInt64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = bytes.byteLength < 4 ? undefined : view.getUint32(0, true);
  if (magic !== portableMagic) throw vectorCorrupt('CORRUPT', `${where}: ${magic ?? 'nothing'} where its magic number should be`);
  const { cardinality, rows } = bounds;
  const positions = decoded(bytes.subarray(4), where, (headers) => {
    if (headers.positions !== cardinality) {
      throw vectorCorrupt('CARDINALITY_MISMATCH', `${where}: ${headers.positions} positions, the log says ${cardinality}`);
    }
    if (rows !== undefined && Math.max(cardinality, headers.lastFrom + 1) > rows) throw beyondRows(where, bounds);
  });
  if (rows !== undefined && (positions.at(-1) ?? -1n) >= rows) throw beyondRows(where, bounds);
  return positions;
}

function beyondRows(where: string, { cardinality, rows }: VectorBounds): ServiceError {
  return vectorCorrupt('CARDINALITY_MISMATCH', `${where}: ${cardinality} positions reach beyond the ${rows} rows of its file`);
}

/** A vector with its size and checksum around it. */
export function framed(vector: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(vector.byteLength + framingBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, vector.byteLength);
  bytes.set(vector, 4);
  view.setUint32(4 + vector.byteLength, crc32(vector));
  return bytes;
}

/**
 * The vector in its frame.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_SIZE_MISMATCH`, `DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH` (corrupt).
 */
export function unframed(bytes: Uint8Array, where: string, sizeBytes: number): Uint8Array {
  if (bytes.byteLength < sizeBytes + framingBytes) {
    throw vectorCorrupt('SIZE_MISMATCH', `${where}: the file ends ${sizeBytes + framingBytes - bytes.byteLength} bytes too early`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = view.getUint32(0);
  if (size !== sizeBytes) throw vectorCorrupt('SIZE_MISMATCH', `${where}: ${size} bytes, the log says ${sizeBytes}`);
  const vector = bytes.subarray(4, 4 + sizeBytes);
  if (crc32(vector) === view.getUint32(4 + sizeBytes)) return vector;
  throw vectorCorrupt('CHECKSUM_MISMATCH', `${where}: the checksum does not fit the bytes`);
}

export function vectorCorrupt(what: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError({
    code: `DELTA_DELETION_VECTOR_${what}`,
    kind: 'corrupt',
    message: `deletion vector ${message}`,
    hint: 'the deleted rows cannot be told from the others: nothing is read; restore the vector from a copy',
    cause,
  });
}

function decoded(bytes: Uint8Array, where: string, check: (headers: BitmapHeaders) => void): BigInt64Array {
  try {
    return decodeRoaring64(bytes, check);
  } catch (cause) {
    if (isServiceError(cause) && cause.code === 'DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH') throw cause;
    throw vectorCorrupt('CORRUPT', `${where}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

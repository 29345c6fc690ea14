import { crc32 } from 'node:zlib';
import { ServiceError } from '../../base/errors.ts';
import { decodeRoaring64 } from '../../codec/roaring/decode-roaring.ts';
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

/**
 * The ascending positions of a vector.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_CORRUPT` (corrupt), `DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH` (corrupt).
 */
export function decodeVector(bytes: Uint8Array, where: string, cardinality: number): BigInt64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = bytes.byteLength < 4 ? undefined : view.getUint32(0, true);
  if (magic !== portableMagic) throw vectorCorrupt('CORRUPT', `${where}: ${magic ?? 'nothing'} where its magic number should be`);
  const positions = decoded(bytes.subarray(4), where);
  if (positions.length === cardinality) return positions;
  throw vectorCorrupt('CARDINALITY_MISMATCH', `${where}: ${positions.length} positions, the log says ${cardinality}`);
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

function decoded(bytes: Uint8Array, where: string): BigInt64Array {
  try {
    return decodeRoaring64(bytes);
  } catch (cause) {
    throw vectorCorrupt('CORRUPT', `${where}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

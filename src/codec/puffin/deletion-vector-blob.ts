import { crc32 } from 'node:zlib';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { type BitmapHeaders, decodeRoaring64 } from '../roaring/decode-roaring.ts';
import { encodeRoaring64 } from '../roaring/encode-roaring.ts';

/** Type of the blobs that hold deleted positions. */
export const deletionVectorType = 'deletion-vector-v1';

/** In front of the bitmap. */
const magic = Uint8Array.of(0xd1, 0xd3, 0x39, 0x64);
const sizeBytes = 4;
const checksumBytes = 4;

/** The blob of ascending positions (https://iceberg.apache.org/puffin-spec/#deletion-vector-v1-blob-type). */
export function encodeDeletionVector(positions: BigInt64Array): Uint8Array {
  const bitmap = encodeRoaring64(positions);
  const size = magic.byteLength + bitmap.byteLength;
  const blob = new Uint8Array(sizeBytes + size + checksumBytes);
  const view = new DataView(blob.buffer);
  view.setUint32(0, size);
  blob.set(magic, sizeBytes);
  blob.set(bitmap, sizeBytes + magic.byteLength);
  view.setUint32(sizeBytes + size, crc32(blob.subarray(sizeBytes, sizeBytes + size)));
  return blob;
}

/**
 * The ascending positions of a blob. `where` names it in errors; `check` as of `decodeRoaring64`.
 *
 * @throws ServiceError `DELETION_VECTOR_CORRUPT` (kind corrupt): size, magic, checksum or bitmap do not fit.
 */
export function decodeDeletionVector(blob: Uint8Array, where: string, check?: (headers: BitmapHeaders) => void): BigInt64Array {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const size = blob.byteLength - sizeBytes - checksumBytes;
  if (size < magic.byteLength || view.getUint32(0) !== size) throw corrupt(where, `${blob.byteLength} bytes are not what it says it has`);
  const vector = blob.subarray(sizeBytes, sizeBytes + size);
  if (!magic.every((byte, index) => vector[index] === byte)) throw corrupt(where, 'does not begin with its magic number');
  if (crc32(vector) !== view.getUint32(sizeBytes + size)) throw corrupt(where, 'the checksum does not fit the bytes');
  try {
    return decodeRoaring64(vector.subarray(magic.byteLength), check);
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt')) throw cause;
    throw corrupt(where, cause.message, cause);
  }
}

function corrupt(where: string, detail: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('DELETION_VECTOR_CORRUPT', `deletion vector ${where}: ${detail}`, {
    hint: 'the deleted rows cannot be told from the others: nothing is read; restore the vector from a copy',
    cause,
  });
}

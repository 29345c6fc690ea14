import type { DeletionVector } from '../actions.ts';
import { decodeZ85, encodeZ85 } from './z85.ts';

/** Digits of a UUID in Z85. */
const encodedUuidLength = 20;

/**
 * The stored path of the file that holds a deletion vector; `undefined` for one that is inline or lies at an absolute place outside the
 * table's own naming, which nothing here ever deletes.
 *
 * @throws ServiceError `DELTA_DELETION_VECTOR_CORRUPT` (corrupt) when the descriptor cannot be read.
 */
export function deletionVectorPath(vector: DeletionVector, where?: string): string | undefined {
  if (vector.storageType !== 'u') return undefined;
  const prefix = vector.pathOrInlineDv.slice(0, -encodedUuidLength);
  const uuid = uuidOf(decodeZ85(vector.pathOrInlineDv.slice(-encodedUuidLength).padEnd(encodedUuidLength), where));
  return vectorFilePath(uuid, prefix);
}

/** The file of a UUID, under a directory of the table (default: the table's own). */
export function vectorFilePath(uuid: string, prefix = ''): string {
  return `${prefix === '' ? '' : `${prefix}/`}deletion_vector_${uuid}.bin`;
}

/** What the log says for the file of a UUID. */
export function encodedUuid(uuid: string): string {
  return encodeZ85(Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

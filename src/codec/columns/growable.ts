import { serviceError } from '../../base/errors.ts';

/** Arrow's 32-bit offsets end here; no buffer of a batch grows past it. */
export const maxBufferBytes = 0x7fff_ffff;
const minimumCapacity = 1024;

/**
 * The capacity that holds `needed` items: at least double the present one, so that appending is linear over all.
 *
 * @throws ServiceError `DECODE_BATCH_TOO_LARGE` (kind invalid) when the items do not fit 32-bit offsets.
 */
export function grownCapacity(capacity: number, needed: number, bytesPerItem: number): number {
  const most = Math.floor(maxBufferBytes / bytesPerItem);
  if (needed > most) {
    throw serviceError.invalid('DECODE_BATCH_TOO_LARGE', `a column needs ${needed} items of ${bytesPerItem} bytes, at most ${most} fit`, {
      hint: 'lower the batch limits of the pipeline (rows or bytes)',
    });
  }
  return Math.min(most, Math.max(needed, capacity * 2, minimumCapacity));
}

export function grownBytes(old: Uint8Array, needed: number): Uint8Array {
  const grown = new Uint8Array(grownCapacity(old.length, needed, 1));
  grown.set(old);
  return grown;
}

export function grownInt32(old: Int32Array, needed: number): Int32Array {
  const grown = new Int32Array(grownCapacity(old.length, needed, 4));
  grown.set(old);
  return grown;
}

export function grownFloat64(old: Float64Array, needed: number): Float64Array {
  const grown = new Float64Array(grownCapacity(old.length, needed, 8));
  grown.set(old);
  return grown;
}

export function grownInt64(old: BigInt64Array, needed: number): BigInt64Array {
  const grown = new BigInt64Array(grownCapacity(old.length, needed, 8));
  grown.set(old);
  return grown;
}

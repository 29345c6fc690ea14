import { copyBytes } from '../../schema/bitmap.ts';
import { type BytesColumn, isValid } from '../../schema/columns.ts';
import type { Bindings, RawVector } from '../duckdb-modules.ts';
import { entryBytes, inlineBytes } from './string-entry.ts';

/**
 * Copies strings (or blobs) into a fresh vector. All that do not fit their entries are given to the engine in one call, as one string of the first
 * row: the vector keeps it for as long as it lives, and the entries point into it.
 */
export function writeStrings(bindings: Bindings, vector: RawVector, column: BytesColumn): void {
  const { length, offsets, data } = column;
  const entries = new Uint8Array(length * entryBytes);
  const words = new Int32Array(entries.buffer);
  const from = offsets[0] ?? 0;
  const kept = hasLong(column) ? keep(bindings, vector, data.subarray(from, offsets[length])) : undefined;
  for (let row = 0; row < length; row++) {
    if (!isValid(column, row)) continue;
    const start = offsets[row] ?? 0;
    const end = offsets[row + 1] ?? 0;
    const size = end - start;
    words[4 * row] = size;
    if (size <= inlineBytes || kept === undefined) {
      copyBytes(data, start, end, entries, row * entryBytes + 4);
      continue;
    }
    copyBytes(data, start, start + 4, entries, row * entryBytes + 4);
    // Addresses have 48 bits: exact as a number.
    const pointer = kept + start - from;
    words[4 * row + 2] = (pointer % 2 ** 32) | 0;
    words[4 * row + 3] = Math.floor(pointer / 2 ** 32);
  }
  bindings.copy_data_to_vector(vector, 0, entries.buffer, 0, entries.byteLength);
}

function hasLong({ length, offsets }: BytesColumn): boolean {
  for (let row = 0; row < length; row++) if ((offsets[row + 1] ?? 0) - (offsets[row] ?? 0) > inlineBytes) return true;
  return false;
}

/** Where the engine has a copy of the bytes, which are more than fit an entry. */
function keep(bindings: Bindings, vector: RawVector, bytes: Uint8Array): number {
  bindings.vector_assign_string_element_len(vector, 0, bytes);
  const entry = bindings.vector_get_data(vector, entryBytes);
  const words = new Uint32Array(entry.slice().buffer);
  return (words[3] ?? 0) * 2 ** 32 + (words[2] ?? 0);
}

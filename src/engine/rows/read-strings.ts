import { type ServiceError, serviceError } from '../../base/errors.ts';
import { copyBytes } from '../../schema/bitmap.ts';
import type { Bindings, RawVector } from '../duckdb-modules.ts';
import { entryBytes, inlineBytes } from './string-entry.ts';

// Strings this near to each other are fetched in one call. The gap must stay below a memory page: then each byte of it lies on a page
// of one of its neighbours, and can be read.
const maxGapBytes = 64;
const maxRunBytes = 64 * 2 ** 20;

interface Rows {
  readonly length: number;
  readonly validity: Uint8Array | undefined;
}

/** Strings that lie one behind the other in the engine's memory. */
interface Run {
  readonly firstRow: number;
  readonly start: number;
  readonly end: number;
}

/** Copies the strings (or blobs) of a flat vector, null ones as empty. */
export function readStrings(
  bindings: Bindings,
  vector: RawVector,
  rows: Rows,
): { readonly offsets: Int32Array; readonly data: Uint8Array } {
  const { length } = rows;
  const offsets = new Int32Array(length + 1);
  if (length === 0) return { offsets, data: new Uint8Array(0) };
  const entries = bindings.vector_get_data(vector, length * entryBytes);
  const words = new Int32Array(entries.buffer, entries.byteOffset, length * 4);
  fillOffsets(words, rows, offsets);
  const data = new Uint8Array(offsets[length] ?? 0);
  let run: Run | undefined;
  for (let row = 0; row < length; row++) {
    const at = offsets[row] ?? 0;
    const size = (offsets[row + 1] ?? 0) - at;
    if (size === 0) continue;
    if (size <= inlineBytes) {
      copyBytes(entries, row * entryBytes + 4, row * entryBytes + 4 + size, data, at);
      continue;
    }
    const pointer = pointerOf(words, row);
    if (run !== undefined && pointer >= run.end && pointer - run.end <= maxGapBytes && pointer + size - run.start <= maxRunBytes) {
      run = { firstRow: run.firstRow, start: run.start, end: pointer + size };
      continue;
    }
    if (run !== undefined) copyRun(bindings, { entries, words, offsets, data }, run, row);
    run = { firstRow: row, start: pointer, end: pointer + size };
  }
  if (run !== undefined) copyRun(bindings, { entries, words, offsets, data }, run, length);
  return { offsets, data };
}

/** Bytes of the texts of one column that are read at a time: what is longer does not fit its offsets, and many of them not into memory. */
const maxColumnBytes = 2 ** 30;

function tooLong(bytes: number, rows: number): ServiceError {
  return serviceError.invalid(
    'ENGINE_RESULT_TOO_LARGE',
    `a column of a result has ${bytes} bytes or more in ${rows} rows, at most ${maxColumnBytes} are read at a time`,
    { hint: 'select shorter values, or fewer rows of them (LIMIT)' },
  );
}

function fillOffsets(words: Int32Array, { length, validity }: Rows, offsets: Int32Array): void {
  let end = 0;
  for (let row = 0; row < length; row++) {
    if (validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0) end += words[4 * row] ?? 0;
    if (end > maxColumnBytes) throw tooLong(end, row + 1);
    offsets[row + 1] = end;
  }
}

interface Copying {
  readonly entries: Uint8Array;
  readonly words: Int32Array;
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

function copyRun(bindings: Bindings, { entries, words, offsets, data }: Copying, run: Run, untilRow: number): void {
  const pointerOffset = entries.byteOffset + run.firstRow * entryBytes + 8;
  const bytes = bindings.get_data_from_pointer(entries.buffer as ArrayBuffer, pointerOffset, run.end - run.start);
  for (let row = run.firstRow; row < untilRow; row++) {
    const at = offsets[row] ?? 0;
    const size = (offsets[row + 1] ?? 0) - at;
    if (size <= inlineBytes) continue;
    const from = pointerOf(words, row) - run.start;
    copyBytes(bytes, from, from + size, data, at);
  }
}

// Addresses have 48 bits: exact as a number.
function pointerOf(words: Int32Array, row: number): number {
  return ((words[4 * row + 3] ?? 0) >>> 0) * 2 ** 32 + ((words[4 * row + 2] ?? 0) >>> 0);
}

import { assertNever } from '../../base/assert.ts';
import type { Column, ColumnBatch, DecimalColumn } from '../../schema/columns.ts';
import { sliceColumn } from '../../schema/slice.ts';
import type { Bindings, RawVector } from '../duckdb-modules.ts';
import { writeStrings } from './write-strings.ts';

/** Copies a whole column into a fresh vector of the same type, which has room for it. */
export function writeVector(bindings: Bindings, vector: RawVector, column: Column): void {
  if (column.length === 0) return;
  writeValidity(bindings, vector, column);
  switch (column.layout) {
    case 'fixed':
      copyInto(bindings, vector, bytesOf(column.values.subarray(0, column.length)));
      return;
    case 'boolean':
      copyInto(bindings, vector, booleanBytes(column.bits, column.length));
      return;
    case 'decimal':
      copyInto(bindings, vector, decimalBytes(column));
      return;
    case 'bytes':
      writeStrings(bindings, vector, column);
      return;
    case 'struct':
      for (const [index, child] of column.children.entries()) {
        writeVector(bindings, bindings.struct_vector_get_child(vector, index), maskedBy(child, column));
      }
      return;
    case 'list':
      writeEntries(bindings, vector, column.offsets, column.length);
      writeVector(bindings, bindings.list_vector_get_child(vector), withinOffsets(column.element, column.offsets, column.length));
      return;
    case 'map': {
      writeEntries(bindings, vector, column.offsets, column.length);
      const child = bindings.list_vector_get_child(vector);
      writeVector(bindings, bindings.struct_vector_get_child(child, 0), withinOffsets(column.keys, column.offsets, column.length));
      writeVector(bindings, bindings.struct_vector_get_child(child, 1), withinOffsets(column.values, column.offsets, column.length));
      return;
    }
    default:
      assertNever(column);
  }
}

/** Copies a batch into a chunk that has one vector for each column. */
export function writeChunk(bindings: Bindings, vectorOf: (index: number) => RawVector, batch: ColumnBatch): void {
  for (const [index, column] of batch.columns.entries()) writeVector(bindings, vectorOf(index), column);
}

function writeValidity(bindings: Bindings, vector: RawVector, column: Column): void {
  if (column.validity === undefined || column.nullCount === 0) return;
  bindings.vector_ensure_validity_writable(vector);
  const bits = new Uint8Array(Math.ceil(column.length / 64) * 8);
  bits.set(column.validity.subarray(0, (column.length + 7) >> 3));
  bindings.copy_data_to_vector_validity(vector, 0, bits.buffer, 0, bits.byteLength);
}

/** A child of a null struct is null in the engine, whatever the column says. */
function maskedBy(child: Column, parent: Column): Column {
  if (parent.validity === undefined || parent.nullCount === 0) return child;
  const bits = new Uint8Array((child.length + 7) >> 3);
  for (let index = 0; index < bits.length; index++) bits[index] = (parent.validity[index] ?? 0) & (child.validity?.[index] ?? 0xff);
  return { ...child, validity: bits, nullCount: Math.max(1, child.nullCount) };
}

function withinOffsets(child: Column, offsets: Int32Array, length: number): Column {
  const from = offsets[0] ?? 0;
  const until = offsets[length] ?? 0;
  return from === 0 && until === child.length ? child : sliceColumn(child, { from, until });
}

function writeEntries(bindings: Bindings, vector: RawVector, offsets: Int32Array, length: number): void {
  const first = offsets[0] ?? 0;
  const total = (offsets[length] ?? 0) - first;
  bindings.list_vector_reserve(vector, total);
  bindings.list_vector_set_size(vector, total);
  const halves = new Int32Array(4 * length);
  for (let row = 0; row < length; row++) {
    const from = offsets[row] ?? 0;
    halves[4 * row] = from - first;
    halves[4 * row + 2] = (offsets[row + 1] ?? 0) - from;
  }
  copyInto(bindings, vector, bytesOf(halves));
}

function copyInto(bindings: Bindings, vector: RawVector, bytes: Uint8Array): void {
  bindings.copy_data_to_vector(vector, 0, bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

function bytesOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function booleanBytes(bits: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let row = 0; row < length; row++) bytes[row] = ((bits[row >> 3] ?? 0) >> (row & 7)) & 1;
  return bytes;
}

function decimalBytes(column: DecimalColumn): Uint8Array {
  const { length, words, type } = column;
  const precision = type.kind === 'decimal' ? type.precision : 38;
  if (precision > 18) return bytesOf(words.subarray(0, 2 * length));
  const halves = new Int32Array(words.buffer, words.byteOffset, words.length * 2);
  if (precision > 9) return bytesOf(lowWords(halves, length));
  const low = { length };
  const value = (_: unknown, row: number): number => halves[4 * row] ?? 0;
  return bytesOf(precision > 4 ? Int32Array.from(low, value) : Int16Array.from(low, value));
}

/** The lower 64 bits of each value, as halves of 32: whole words would be an object each. */
function lowWords(halves: Int32Array, length: number): Int32Array {
  const low = new Int32Array(2 * length);
  for (let row = 0; row < length; row++) {
    low[2 * row] = halves[4 * row] ?? 0;
    low[2 * row + 1] = halves[4 * row + 1] ?? 0;
  }
  return low;
}

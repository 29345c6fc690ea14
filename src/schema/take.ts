import { assertNever } from '../base/assert.ts';
import { copyBytes } from './bitmap.ts';
import type { BytesColumn, Column, ColumnBatch, FixedValues } from './columns.ts';

/**
 * The rows of `batch` at `indices`, in their order; an index may repeat. An index of -1 gives a row of nulls.
 * Buffers are fresh, also where the result equals the batch.
 */
export function takeRows(batch: ColumnBatch, indices: Int32Array): ColumnBatch {
  return { schema: batch.schema, rowCount: indices.length, columns: batch.columns.map((column) => takeColumn(column, indices)) };
}

/** The values of `column` at `indices`; -1 gives null. */
export function takeColumn(column: Column, indices: Int32Array): Column {
  const base = { type: column.type, length: indices.length, ...takeValidity(column, indices) };
  switch (column.layout) {
    case 'fixed':
      return { ...base, layout: 'fixed', values: takeValues(column.values, indices) };
    case 'boolean':
      return { ...base, layout: 'boolean', bits: takeBits(column.bits, indices) };
    case 'decimal':
      return { ...base, layout: 'decimal', words: takeWords(column.words, indices) };
    case 'bytes':
      return { ...base, layout: 'bytes', ...takeBytes(column, indices) };
    case 'struct':
      return { ...base, layout: 'struct', children: column.children.map((child) => takeColumn(child, indices)) };
    case 'list': {
      const { offsets, entries } = takeRanges(column.offsets, indices);
      return { ...base, layout: 'list', offsets, element: takeColumn(column.element, entries) };
    }
    case 'map': {
      const { offsets, entries } = takeRanges(column.offsets, indices);
      return { ...base, layout: 'map', offsets, keys: takeColumn(column.keys, entries), values: takeColumn(column.values, entries) };
    }
    default:
      return assertNever(column);
  }
}

function takeValidity(column: Column, indices: Int32Array): { validity: Uint8Array | undefined; nullCount: number } {
  const source = column.validity;
  const target = new Uint8Array((indices.length + 7) >> 3);
  let validCount = 0;
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index < 0 || (source !== undefined && ((source[index >> 3] ?? 0) & (1 << (index & 7))) === 0)) continue;
    target[row >> 3] = (target[row >> 3] ?? 0) | (1 << (row & 7));
    validCount++;
  }
  const nullCount = indices.length - validCount;
  return { nullCount, validity: nullCount === 0 ? undefined : target };
}

function takeBits(source: Uint8Array, indices: Int32Array): Uint8Array {
  const target = new Uint8Array((indices.length + 7) >> 3);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0 && ((source[index >> 3] ?? 0) & (1 << (index & 7))) !== 0) target[row >> 3] = (target[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return target;
}

// One loop per array type keeps each monomorphic; a shared one runs several times slower.
function takeValues(source: FixedValues, indices: Int32Array): FixedValues {
  if (source instanceof BigInt64Array) return takeLongs(source, indices);
  if (source instanceof Float64Array) return takeDoubles(source, indices);
  if (source instanceof Int32Array) return takeIntegers(source, indices);
  const target = new (source.constructor as Int8ArrayConstructor)(indices.length);
  for (let row = 0; row < indices.length; row++) target[row] = source[indices[row] ?? -1] ?? 0;
  return target;
}

function takeLongs(source: BigInt64Array, indices: Int32Array): BigInt64Array {
  // Moved as pairs of 32-bit halves: a bigint element would be allocated for every value.
  const halves = new Int32Array(source.buffer, source.byteOffset, source.length * 2);
  const target = new BigInt64Array(indices.length);
  const targetHalves = new Int32Array(target.buffer);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index < 0) continue;
    targetHalves[2 * row] = halves[2 * index] ?? 0;
    targetHalves[2 * row + 1] = halves[2 * index + 1] ?? 0;
  }
  return target;
}

function takeDoubles(source: Float64Array, indices: Int32Array): Float64Array {
  const target = new Float64Array(indices.length);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0) target[row] = source[index] ?? 0;
  }
  return target;
}

function takeIntegers(source: Int32Array, indices: Int32Array): Int32Array {
  const target = new Int32Array(indices.length);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0) target[row] = source[index] ?? 0;
  }
  return target;
}

function takeWords(source: BigInt64Array, indices: Int32Array): BigInt64Array {
  const parts = new Int32Array(source.buffer, source.byteOffset, source.length * 2);
  const target = new BigInt64Array(indices.length * 2);
  const targetParts = new Int32Array(target.buffer);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index < 0) continue;
    for (let part = 0; part < 4; part++) targetParts[4 * row + part] = parts[4 * index + part] ?? 0;
  }
  return target;
}

function takeBytes(column: BytesColumn, indices: Int32Array): { offsets: Int32Array; data: Uint8Array } {
  const source = column.offsets;
  const offsets = new Int32Array(indices.length + 1);
  let end = 0;
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0) end += (source[index + 1] ?? 0) - (source[index] ?? 0);
    offsets[row + 1] = end;
  }
  const data = new Uint8Array(end);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0) copyBytes(column.data, source[index] ?? 0, source[index + 1] ?? 0, data, offsets[row] ?? 0);
  }
  return { offsets, data };
}

function takeRanges(source: Int32Array, indices: Int32Array): { offsets: Int32Array; entries: Int32Array } {
  const offsets = new Int32Array(indices.length + 1);
  let end = 0;
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index >= 0) end += (source[index + 1] ?? 0) - (source[index] ?? 0);
    offsets[row + 1] = end;
  }
  const entries = new Int32Array(end);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row] ?? -1;
    if (index < 0) continue;
    let at = offsets[row] ?? 0;
    for (let entry = source[index] ?? 0; entry < (source[index + 1] ?? 0); entry++) entries[at++] = entry;
  }
  return { offsets, entries };
}

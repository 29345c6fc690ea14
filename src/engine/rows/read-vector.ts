import { assertNever } from '../../base/assert.ts';
import { andBits, countOnes } from '../../schema/bitmap.ts';
import type { Column, FixedValues } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import { takeColumn } from '../../schema/take.ts';
import type { DataType, ListType, MapType, StructType } from '../../schema/types.ts';
import { variantStruct } from '../../schema/variant-type.ts';
import type { Bindings, RawVector } from '../duckdb-modules.ts';
import { readStrings } from './read-strings.ts';

/** A flat vector's values to copy out: `mask` has a 0 for values whose enclosing struct is null. */
interface Source {
  readonly bindings: Bindings;
  readonly vector: RawVector;
  readonly length: number;
  readonly mask?: Uint8Array | undefined;
}

interface Nulls {
  readonly length: number;
  readonly nullCount: number;
  readonly validity: Uint8Array | undefined;
}

/** Copies the first `length` values of a flat vector of the engine, which holds exactly `type`. The column owns its buffers. */
export function readVector(bindings: Bindings, vector: RawVector, type: DataType, length: number): Column {
  return readColumn({ bindings, vector, length }, type);
}

function readColumn(source: Source, type: DataType): Column {
  const nulls = nullsOf(source);
  switch (type.kind) {
    case 'boolean':
      return { type, ...nulls, layout: 'boolean', bits: readBits(source, nulls) };
    case 'decimal':
      return { type, ...nulls, layout: 'decimal', words: readDecimals(source, nulls, type.precision) };
    case 'string':
    case 'binary':
      return { type, ...nulls, layout: 'bytes', ...readStrings(source.bindings, source.vector, nulls) };
    case 'void':
      return nullColumn(type, source.length);
    case 'variant':
      return { ...readStruct(source, variantStruct, nulls), type };
    case 'struct':
      return readStruct(source, type, nulls);
    case 'list':
      return readList(source, type, nulls);
    case 'map':
      return readMap(source, type, nulls);
    case 'byte':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, Int8Array) };
    case 'short':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, Int16Array) };
    case 'integer':
    case 'date':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, Int32Array) };
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, BigInt64Array) };
    case 'float':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, Float32Array) };
    case 'double':
      return { type, ...nulls, layout: 'fixed', values: readFixed(source, nulls, Float64Array) };
    default:
      return assertNever(type);
  }
}

function nullsOf({ bindings, vector, length, mask }: Source): Nulls {
  if (length === 0) return { length, nullCount: 0, validity: undefined };
  const wordBytes = Math.ceil(length / 64) * 8;
  // The declaration forgets that a vector without nulls has no bitmap.
  const bitmap = bindings.vector_get_validity(vector, wordBytes) as Uint8Array | null | undefined;
  const own = bitmap === null || bitmap === undefined ? undefined : bitmap.slice(0, (length + 7) >> 3);
  const validity = andBits(own, mask, length);
  if (validity === undefined) return { length, nullCount: 0, validity };
  const nullCount = length - countOnes(validity, length);
  return { length, nullCount, validity: nullCount === 0 ? undefined : validity };
}

type FixedArrayType<T extends FixedValues> = { new (buffer: ArrayBufferLike): T; readonly BYTES_PER_ELEMENT: number };

function readFixed<T extends FixedValues>(source: Source, nulls: Nulls, arrayType: FixedArrayType<T>): T {
  const width = arrayType.BYTES_PER_ELEMENT;
  const bytes = copyOf(source, width);
  zeroNulls(bytes, nulls, width);
  return new arrayType(bytes.buffer);
}

/** A copy that starts its own buffer, so that it can be seen as any typed array. */
function copyOf({ bindings, vector, length }: Source, width: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(length * width);
  if (length > 0) copy.set(bindings.vector_get_data(vector, length * width));
  return copy;
}

function zeroNulls(bytes: Uint8Array, nulls: Nulls, width: number): void {
  const { validity } = nulls;
  if (validity === undefined) return;
  for (let row = 0; row < nulls.length; row++) {
    if (((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0) bytes.fill(0, row * width, (row + 1) * width);
  }
}

function readBits(source: Source, nulls: Nulls): Uint8Array {
  const bytes = copyOf(source, 1);
  zeroNulls(bytes, nulls, 1);
  const bits = new Uint8Array((source.length + 7) >> 3);
  for (let row = 0; row < source.length; row++) {
    if (bytes[row] !== 0) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

// Decimals are held in the smallest of four widths that fits the precision.
function readDecimals(source: Source, nulls: Nulls, precision: number): BigInt64Array {
  if (precision > 18) {
    const bytes = copyOf(source, 16);
    zeroNulls(bytes, nulls, 16);
    return new BigInt64Array(bytes.buffer);
  }
  const { length } = source;
  const words = new BigInt64Array(2 * length);
  const halves = new Int32Array(words.buffer);
  if (precision > 9) {
    const low = new Int32Array(readFixed(source, nulls, BigInt64Array).buffer);
    for (let row = 0; row < length; row++) {
      const high = low[2 * row + 1] ?? 0;
      halves[4 * row] = low[2 * row] ?? 0;
      halves[4 * row + 1] = high;
      halves[4 * row + 2] = halves[4 * row + 3] = high >> 31;
    }
    return words;
  }
  const narrow = precision > 4 ? readFixed(source, nulls, Int32Array) : readFixed(source, nulls, Int16Array);
  for (let row = 0; row < length; row++) {
    const value = narrow[row] ?? 0;
    halves[4 * row] = value;
    halves[4 * row + 1] = halves[4 * row + 2] = halves[4 * row + 3] = value >> 31;
  }
  return words;
}

function readStruct(source: Source, type: StructType, nulls: Nulls): Column {
  const { bindings, vector, length } = source;
  const children = type.fields.map((field, index) =>
    readColumn({ bindings, vector: bindings.struct_vector_get_child(vector, index), length, mask: nulls.validity }, field.type),
  );
  return { type, ...nulls, layout: 'struct', children };
}

function readList(source: Source, type: ListType, nulls: Nulls): Column {
  const { bindings, vector } = source;
  const entries = readEntries(source, nulls);
  const child = bindings.list_vector_get_child(vector);
  const element = readColumn({ bindings, vector: child, length: bindings.list_vector_get_size(vector) }, type.element);
  return { type, ...nulls, layout: 'list', offsets: entries.offsets, element: inEntryOrder(element, entries) };
}

function readMap(source: Source, type: MapType, nulls: Nulls): Column {
  const { bindings, vector } = source;
  const entries = readEntries(source, nulls);
  const child = bindings.list_vector_get_child(vector);
  const length = bindings.list_vector_get_size(vector);
  const keys = readColumn({ bindings, vector: bindings.struct_vector_get_child(child, 0), length }, type.key);
  const values = readColumn({ bindings, vector: bindings.struct_vector_get_child(child, 1), length }, type.value);
  return {
    type,
    ...nulls,
    layout: 'map',
    offsets: entries.offsets,
    keys: inEntryOrder(keys, entries),
    values: inEntryOrder(values, entries),
  };
}

interface Entries {
  readonly offsets: Int32Array;
  /** Where the child's values must be taken from; `undefined` when they lie in order without gaps. */
  readonly order: Int32Array | undefined;
}

// A list is (offset, length) into the child, two 64-bit words; lists may share, skip or reorder the child's values.
function readEntries(source: Source, nulls: Nulls): Entries {
  const { length } = source;
  const bytes = copyOf(source, 16);
  zeroNulls(bytes, nulls, 16);
  const halves = new Int32Array(bytes.buffer);
  const offsets = new Int32Array(length + 1);
  let end = 0;
  let inOrder = true;
  for (let row = 0; row < length; row++) {
    const count = halves[4 * row + 2] ?? 0;
    if (count > 0 && halves[4 * row] !== end) inOrder = false;
    end += count;
    offsets[row + 1] = end;
  }
  if (inOrder) return { offsets, order: undefined };
  const order = new Int32Array(end);
  for (let row = 0; row < length; row++) {
    const start = halves[4 * row] ?? 0;
    const from = offsets[row] ?? 0;
    const count = (offsets[row + 1] ?? 0) - from;
    for (let index = 0; index < count; index++) order[from + index] = start + index;
  }
  return { offsets, order };
}

function inEntryOrder(child: Column, entries: Entries): Column {
  const end = entries.offsets[entries.offsets.length - 1] ?? 0;
  if (entries.order !== undefined) return takeColumn(child, entries.order);
  return child.length === end ? child : takeColumn(child, ascending(end));
}

function ascending(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => index);
}

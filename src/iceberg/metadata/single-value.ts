import { assertNever } from '../../base/assert.ts';
import { uuidBytes } from '../../codec/uuid-text.ts';
import type { DataType, PrimitiveType } from '../../schema/types.ts';
import { unscaledBytes, unscaledOf } from '../../table/partitioning/unscaled-bytes.ts';
import type { PartitionValue } from './content-file.ts';

/**
 * A value in the binary form of bounds (https://iceberg.apache.org/spec/#binary-single-value-serialization). `undefined` for a value that is
 * not of the type.
 */
export function encodeSingleValue(type: DataType, value: NonNullable<PartitionValue>): Uint8Array | undefined {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? Uint8Array.of(value ? 1 : 0) : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return isNumeric(value) ? numberBytes(4, 'setInt32', Number(value)) : undefined;
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return isNumeric(value) ? longBytes(BigInt(value)) : undefined;
    case 'float':
      return isNumeric(value) ? numberBytes(4, 'setFloat32', Number(value)) : undefined;
    case 'double':
      return isNumeric(value) ? numberBytes(8, 'setFloat64', Number(value)) : undefined;
    case 'decimal':
      return isNumeric(value) ? unscaledBytes(BigInt(value)) : undefined;
    case 'string':
      if (typeof value !== 'string') return undefined;
      if (type.format !== 'uuid') return new Uint8Array(Buffer.from(value));
      return copyOf(uuidBytes(value));
    case 'binary':
      return value instanceof Uint8Array ? value : undefined;
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
    default:
      return assertNever(type);
  }
}

/**
 * Inverse of `encodeSingleValue`. Bytes of a type that the column was promoted from count as well. `undefined` for bytes that are no value of
 * the type: such a bound tells nothing.
 */
export function decodeSingleValue(type: DataType, bytes: Uint8Array): PartitionValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.byteLength;
  switch (type.kind) {
    case 'boolean':
      return size === 1 ? bytes[0] !== 0 : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return size === 4 ? view.getInt32(0, true) : undefined;
    case 'long':
    case 'time':
      return longOf(view);
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return size === 4 ? BigInt(view.getInt32(0, true)) * unitsPerDay(type) : longOf(view);
    case 'float':
      return size === 4 ? view.getFloat32(0, true) : undefined;
    case 'double':
      return size === 4 ? view.getFloat32(0, true) : size === 8 ? view.getFloat64(0, true) : undefined;
    case 'decimal':
      return size === 0 ? undefined : unscaledOf(bytes);
    case 'string':
      if (type.format === 'uuid') return size === 16 ? uuidFromBytes(bytes) : undefined;
      return Buffer.from(bytes.buffer, bytes.byteOffset, size).toString('utf8');
    case 'binary':
      return bytes;
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
    default:
      return assertNever(type);
  }
}

/** A plain array, whose own bytes are all there is of it. */
function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes);
}

/** Canonical text of sixteen bytes. */
export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const microsPerDay = 86_400_000_000n;

function unitsPerDay({ kind }: PrimitiveType): bigint {
  return kind === 'timestamp_ns' || kind === 'timestamp_ntz_ns' ? microsPerDay * 1000n : microsPerDay;
}

/** Eight bytes, or the four of an int. */
function longOf(view: DataView): bigint | undefined {
  if (view.byteLength === 8) return view.getBigInt64(0, true);
  return view.byteLength === 4 ? BigInt(view.getInt32(0, true)) : undefined;
}

function isNumeric(value: PartitionValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function numberBytes(size: number, set: 'setInt32' | 'setFloat32' | 'setFloat64', value: number): Uint8Array {
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer)[set](0, value, true);
  return bytes;
}

function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}

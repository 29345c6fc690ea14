import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { PartitionValue } from '../metadata/content-file.ts';

type Comparable = BoundValue | boolean;

const microsPerDay = 86_400_000_000n;
const nanosPerMicro = 1_000n;
const uuidBytes = 16;

/**
 * A bound in the single-value encoding (https://iceberg.apache.org/spec/#binary-single-value-serialization) as a value to compare with, of
 * the column's present type: bounds written before the type was widened are shorter. `undefined` for types without order here, and for
 * bytes that are no value.
 */
export function boundOf(type: DataType, bytes: Uint8Array): Comparable | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type.kind) {
    case 'boolean':
      return bytes.length === 1 ? bytes[0] !== 0 : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'time':
      return integerOf(view);
    case 'date':
      return view.byteLength === 4 ? integerOf(view) : undefined;
    case 'timestamp':
    case 'timestamp_ntz':
      return view.byteLength === 4 ? timesOf(integerOf(view), microsPerDay) : integerOf(view);
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return view.byteLength === 4 ? timesOf(integerOf(view), microsPerDay * nanosPerMicro) : integerOf(view);
    case 'float':
    case 'double':
      return floatingOf(view);
    case 'decimal':
      return unscaledOf(bytes);
    case 'string':
      if (type.format === 'uuid') return bytes.length === uuidBytes ? uuidText(bytes) : undefined;
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    case 'binary':
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
  }
}

/** A value of an identity partition field as a value to compare with, of the column's present type. */
export function identityBound(type: DataType, value: PartitionValue): Comparable | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return value;
    case 'bigint':
      return type.kind === 'float' || type.kind === 'double' ? undefined : value;
    case 'number':
      return type.kind === 'float' || type.kind === 'double' ? value : wholeOf(value, type);
    default:
      return undefined;
  }
}

/** What a partition value was before the column's type became wider than the file's. */
function wholeOf(value: number, type: DataType): bigint | undefined {
  return Number.isSafeInteger(value) && type.kind !== 'timestamp' && type.kind !== 'timestamp_ntz' ? BigInt(value) : undefined;
}

function integerOf(view: DataView): bigint | undefined {
  if (view.byteLength === 4) return BigInt(view.getInt32(0, true));
  return view.byteLength === 8 ? view.getBigInt64(0, true) : undefined;
}

function timesOf(value: bigint | undefined, factor: bigint): bigint | undefined {
  return value === undefined ? undefined : value * factor;
}

/** NaN is no bound, whoever wrote it. */
function floatingOf(view: DataView): number | undefined {
  const value = view.byteLength === 4 ? view.getFloat32(0, true) : view.byteLength === 8 ? view.getFloat64(0, true) : Number.NaN;
  return Number.isNaN(value) ? undefined : value;
}

function unscaledOf(bytes: Uint8Array): bigint | undefined {
  if (bytes.length === 0 || bytes.length > uuidBytes) return undefined;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`));
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

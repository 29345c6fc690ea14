import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { PartitionValue } from '../metadata/content-file.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';

type Comparable = BoundValue | boolean;

const maxDecimalBytes = 16;

/**
 * A bound in the single-value encoding as a value to compare with, of the column's present type: bounds written before the type was widened are
 * shorter. `undefined` for types without order here, and for bytes that are no value.
 */
export function boundOf(type: DataType, bytes: Uint8Array): Comparable | undefined {
  const value = storedValue(type, bytes);
  // NaN is no bound, whoever wrote it.
  return value instanceof Uint8Array || Number.isNaN(value) ? undefined : value;
}

function storedValue(type: DataType, bytes: Uint8Array): PartitionValue {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
      return decodeSingleValue({ kind: 'long' }, bytes);
    case 'date':
      return bytes.length === 4 ? decodeSingleValue({ kind: 'long' }, bytes) : undefined;
    case 'float':
      return decodeSingleValue({ kind: 'double' }, bytes);
    case 'decimal':
      return bytes.length > maxDecimalBytes ? undefined : decodeSingleValue(type, bytes);
    default:
      return decodeSingleValue(type, bytes);
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

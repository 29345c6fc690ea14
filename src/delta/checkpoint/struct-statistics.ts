import { isJsonObject, type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { partitionValue } from '../../table/partitioning/partition-text.ts';
import type { PartitionValues } from '../../table/staged-file.ts';

/** The statistics of a file by type; `undefined` without any. What does not fit its type is left out: no bound is better than a wrong one. */
export function parsedStatistics(
  stats: string | undefined,
  types: { readonly bounds: StructType; readonly counts: StructType },
): InputRow | undefined {
  const parsed = stats === undefined ? undefined : jsonOf(stats);
  if (!isJsonObject(parsed)) return undefined;
  const tight = parsed['tightBounds'];
  return {
    numRecords: longOf(parsed['numRecords']),
    minValues: valuesOf(parsed['minValues'], types.bounds),
    maxValues: valuesOf(parsed['maxValues'], types.bounds),
    nullCount: valuesOf(parsed['nullCount'], types.counts),
    tightBounds: typeof tight === 'boolean' ? tight : undefined,
  };
}

/** Partition values by type. */
export function parsedPartitionValues(values: PartitionValues, types: StructType): InputRow {
  return Object.fromEntries(
    types.fields.map((field) => {
      const text = values[field.name];
      return [field.name, text === undefined || text === '' ? undefined : parsedValue(text, field.type)];
    }),
  );
}

function jsonOf(stats: string): JsonValue | undefined {
  try {
    return parseJson(stats, 'stats');
  } catch (error) {
    // Statistics that cannot be read are none.
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

function valuesOf(value: JsonValue | undefined, type: StructType): InputRow | undefined {
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(
    type.fields.map((field) => {
      const own = value[field.name];
      return [field.name, field.type.kind === 'struct' ? valuesOf(own, field.type) : leafOf(own, field.type)];
    }),
  );
}

function leafOf(value: JsonValue | undefined, type: DataType): InputValue {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
      return typeof value === 'string' ? parsedTime(value, type) : undefined;
    case 'float':
    case 'double':
      return typeof value === 'number' ? value : undefined;
    case 'decimal':
      return typeof value === 'number' ? value.toFixed(type.scale) : undefined;
    case 'long':
      return longOf(value);
    default:
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  }
}

function parsedValue(text: string, type: DataType): InputValue {
  const value = partitionValue(text, type);
  return type.kind === 'decimal' && typeof value === 'bigint' ? formatDecimal(value, type.scale) : value;
}

function parsedTime(text: string, type: DataType): InputValue {
  return type.kind === 'date' ? parseDateText(text) : parseTimestampText(text)?.micros;
}

function longOf(value: JsonValue | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

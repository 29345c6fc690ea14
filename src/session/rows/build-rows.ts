import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { setMember } from '../../base/set-member.ts';
import { buildBatch, type InputRow, type InputValue } from '../../codec/build-columns.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { formatDecimal, parseDecimal } from '../../schema/decimal-text.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { RowInput, RowInputValue } from './row.ts';
import { daysOfText, microsOfText } from './temporal-input.ts';

/** Rows of one batch; many small ones keep the engine's intake bounded. */
const rowsPerBatch = 2048;

/** Where a value stands, for messages: the row counts from 0. */
interface Place {
  readonly row: number;
  readonly path: string;
  /** Of times that are written without one. */
  readonly zone: ZoneRule;
}

/**
 * Rows as columns of the schema. Nothing is converted that could lose something: a fraction for an integer, a number past the type's
 * range, digits beyond a decimal's scale are refused.
 *
 * @throws AnalysisException `FIELD_DATA_TYPE_UNACCEPTABLE_WITH_NAME` naming row, column, type and value; `UNEXPECTED_COLUMN` for a member
 * the schema does not have; `FIELD_NOT_NULLABLE_WITH_NAME` for a null in a required column.
 */
export function batchesOf(schema: StructType, rows: readonly RowInput[], zone?: ZoneRule): readonly ColumnBatch[] {
  const batches: ColumnBatch[] = [];
  for (let from = 0; from < rows.length; from += rowsPerBatch) {
    const converted = rows
      .slice(from, from + rowsPerBatch)
      .map((row, index) => inputStruct(schema.fields, row, { row: from + index, path: '', zone }));
    batches.push(buildBatch(schema, converted));
  }
  return batches;
}

function inputStruct(fields: readonly Field[], value: RowInput, place: Place): InputRow {
  refuseUnknown(fields, value, place);
  const row: Record<string, InputValue> = {};
  for (const field of fields) {
    const path = place.path === '' ? field.name : `${place.path}.${field.name}`;
    const member = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (member === null || member === undefined) {
      if (!field.nullable) throw missing({ ...place, path });
      setMember(row, field.name, null);
    } else setMember(row, field.name, inputValue(field.type, member, { ...place, path }));
  }
  return row;
}

function inputValue(type: DataType, value: RowInputValue, place: Place): InputValue {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'struct':
      if (!isRowInput(value)) throw mismatch(type, value, place);
      return inputStruct(type.fields, value, place);
    case 'list':
      if (!isList(value)) throw mismatch(type, value, place);
      return value.map((element, index) => elementValue(type, element, { ...place, path: `${place.path}[${index}]` }));
    case 'map':
      return inputMap(type, value, place);
    default:
      return inputScalar(type, value, place) ?? fail(mismatch(type, value, place));
  }
}

function elementValue(type: DataType & { kind: 'list' }, element: RowInputValue, place: Place): InputValue {
  if (isNothing(element) && !type.elementNullable) throw missing(place);
  return inputValue(type.element, element, place);
}

function inputMap(type: DataType & { kind: 'map' }, value: RowInputValue, place: Place): InputValue {
  if (!(value instanceof Map) && !isRowInput(value)) throw mismatch(type, value, place);
  const entries: Iterable<readonly [RowInputValue, RowInputValue]> = isMap(value) ? value : Object.entries(value);
  const converted = new Map<InputValue, InputValue>();
  for (const [key, member] of entries) {
    const inner = { ...place, path: `${place.path}[${typeof key === 'object' ? '…' : String(key)}]` };
    if (isNothing(key) || (isNothing(member) && !type.valueNullable)) throw missing(inner);
    converted.set(inputValue(type.key, key, inner), inputValue(type.value, member, inner));
  }
  return converted;
}

/** `undefined`: the value does not fit. */
function inputScalar(type: DataType, value: RowInputValue, place: Place): InputValue {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'binary':
      return value instanceof Uint8Array ? value : undefined;
    case 'byte':
      return integerWithin(value, 2 ** 7);
    case 'short':
      return integerWithin(value, 2 ** 15);
    case 'integer':
      return integerWithin(value, 2 ** 31);
    case 'long':
      return longValue(value);
    case 'float':
      return typeof value === 'number' ? Math.fround(value) : undefined;
    case 'double':
      return typeof value === 'number' ? value : undefined;
    case 'decimal':
      return decimalValue(type, value);
    case 'date':
      return dateValue(value);
    case 'timestamp':
      return microsValue(value, { zoneAllowed: true, zone: place.zone });
    case 'timestamp_ntz':
      return microsValue(value, { zoneAllowed: false });
    case 'time':
      return timeValue(value);
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return nanosValue(value, { zoneAllowed: type.kind === 'timestamp_ns', zone: type.kind === 'timestamp_ns' ? place.zone : undefined });
    case 'variant':
      // Rows of input have nothing that a variant cannot hold.
      return value as InputValue;
    default:
      throw mismatch(type, value, place);
  }
}

function integerWithin(value: RowInputValue, limit: number): InputValue {
  const number = typeof value === 'bigint' && BigInt.asIntN(32, value) === value ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= -limit && number < limit ? number : undefined;
}

function longValue(value: RowInputValue): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined;
}

function decimalValue(type: DataType & { kind: 'decimal' }, value: RowInputValue): string | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  const unscaled = parseDecimal(text, type.precision, type.scale);
  return unscaled === undefined ? undefined : formatDecimal(unscaled, type.scale);
}

function dateValue(value: RowInputValue): number | undefined {
  if (typeof value === 'string') return daysOfText(value);
  // A Date with a time of day would lose it.
  if (!(value instanceof Date) || value.getTime() % 86_400_000 !== 0) return undefined;
  return value.getTime() / 86_400_000;
}

interface TimeInput {
  readonly zoneAllowed: boolean;
  readonly zone?: ZoneRule;
}

function microsValue(value: RowInputValue, options: TimeInput): bigint | undefined {
  if (typeof value === 'string') return microsOfText(value, options);
  return value instanceof Date && !Number.isNaN(value.getTime()) ? BigInt(value.getTime()) * 1000n : undefined;
}

const timePattern = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?$/;

function timeValue(value: RowInputValue): bigint | undefined {
  const parts = typeof value === 'string' ? timePattern.exec(value) : null;
  if (parts === null) return undefined;
  const [, hour, minute, second, fraction = ''] = parts;
  return BigInt((Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1_000_000 + Number(fraction.padEnd(6, '0')));
}

/** Text as of microseconds with up to nine digits of the second. */
function nanosValue(value: RowInputValue, options: TimeInput): bigint | undefined {
  const parts = typeof value === 'string' ? /^(.*\.\d{6})(\d{1,3})(\D.*)?$/.exec(value) : null;
  const micros = microsValue(parts === null ? value : `${parts[1] ?? ''}${parts[3] ?? ''}`, options);
  if (micros === undefined) return undefined;
  const nanos = micros * 1000n + BigInt((parts?.[2] ?? '').padEnd(3, '0'));
  return BigInt.asIntN(64, nanos) === nanos ? nanos : undefined;
}

function refuseUnknown(fields: readonly Field[], value: RowInput, place: Place): void {
  const names = fields.map((field) => field.name);
  const known = new Set(names);
  for (const name of Object.keys(value)) {
    if (known.has(name)) continue;
    const nearest = nearestName(name, names);
    throw new AnalysisException({
      errorClass: 'UNEXPECTED_COLUMN',
      message: `row ${place.row} has "${place.path === '' ? name : `${place.path}.${name}`}", which the schema does not have`,
      hint: nearest === undefined ? `columns of the schema: ${names.join(', ')}` : `did you mean "${nearest}"?`,
      parameters: { row: String(place.row), column: name },
    });
  }
}

function isNothing(value: RowInputValue): value is null | undefined {
  return value === null || value === undefined;
}

function isList(value: RowInputValue): value is readonly RowInputValue[] {
  return Array.isArray(value);
}

function isMap(value: RowInputValue): value is ReadonlyMap<RowInputValue, RowInputValue> {
  return value instanceof Map;
}

function isRowInput(value: RowInputValue): value is RowInput {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Map) &&
    !(value instanceof Date)
  );
}

function missing(place: Place): AnalysisException {
  return new AnalysisException({
    errorClass: 'FIELD_NOT_NULLABLE_WITH_NAME',
    message: `row ${place.row}: "${place.path}" is required but has no value`,
    parameters: { row: String(place.row), column: place.path },
  });
}

const longestShown = 80;

function mismatch(type: DataType, value: RowInputValue, place: Place): AnalysisException {
  const shown = typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : `${typeof value} ${String(value)}`;
  const typeText = describeType(type);
  return new AnalysisException({
    errorClass: 'FIELD_DATA_TYPE_UNACCEPTABLE_WITH_NAME',
    message: `row ${place.row}: "${place.path}": ${shown.slice(0, longestShown)} does not fit ${typeText}`,
    hint: hintFor(type),
    parameters: { row: String(place.row), column: place.path, type: typeText },
  });
}

function hintFor(type: DataType): string | undefined {
  switch (type.kind) {
    case 'long':
      return 'give a bigint, or a whole number up to 2^53';
    case 'decimal':
      return 'give exact text such as "12.50" with no more digits than the type has';
    case 'date':
      return 'give "yyyy-MM-dd", or a Date at midnight UTC';
    case 'timestamp':
      return 'give "yyyy-MM-ddTHH:mm:ss.ffffffZ" or a Date';
    case 'timestamp_ntz':
      return 'give "yyyy-MM-ddTHH:mm:ss.ffffff" without zone';
    default:
      return undefined;
  }
}

function fail(error: AnalysisException): never {
  throw error;
}

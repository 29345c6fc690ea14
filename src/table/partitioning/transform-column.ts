import type { BytesColumn, Column, FixedColumn } from '../../schema/columns.ts';
import { isValid } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import type { DataType } from '../../schema/types.ts';
import {
  applyTransform,
  bucketOf,
  codePointsEnd,
  nanosPerMicro,
  resultType,
  transformRefused,
  truncatedNumber,
  unitsPerDay,
} from './apply-transform.ts';
import { floorDivide, monthsOfDays, yearsOfDays } from './calendar.ts';
import { murmur3, murmur3OfLong } from './murmur3.ts';
import type { Transform } from './transform.ts';

/**
 * The partition values of a whole column: as `applyTransform` of each. The result may share memory with the column.
 *
 * @throws ServiceError `PARTITION_TRANSFORM_REFUSED` (kind unsupported) for a transform that is not known or does not take the type.
 */
export function transformColumn(column: Column, transform: Transform): Column {
  const type = resultType(transform, column.type);
  if (type === undefined) throw transformRefused(transform, column.type);
  switch (transform.kind) {
    case 'identity':
      return column;
    case 'void':
      return nullColumn(type, column.length);
    case 'bucket':
      return numbers(column, type, hashes(column, transform.count));
    case 'truncate':
      return truncatedColumn(column, transform);
    default:
      return numbers(column, type, calendarUnits(column, transform));
  }
}

/** A number for each row; slots of nulls stay 0. */
type NumberAt = (row: number) => number;

function numbers(column: Column, type: DataType, numberAt: NumberAt): FixedColumn {
  const values = new Int32Array(column.length);
  if (column.nullCount === 0) for (let row = 0; row < values.length; row++) values[row] = numberAt(row);
  else for (let row = 0; row < values.length; row++) if (isValid(column, row)) values[row] = numberAt(row);
  return { layout: 'fixed', type, length: column.length, nullCount: column.nullCount, validity: column.validity, values };
}

function hashes(column: Column, count: number): NumberAt {
  const { type } = column;
  if (column.layout === 'bytes') {
    const { data, offsets } = column;
    if (type.kind === 'string' && type.format === 'uuid') {
      const scratch = new Uint8Array(16);
      return (row) => bucketOf(murmur3(uuidBytes(data, offsets[row] ?? 0, scratch), 0, 16), count);
    }
    return (row) => bucketOf(murmur3(data, offsets[row] ?? 0, offsets[row + 1] ?? 0), count);
  }
  if (column.layout === 'decimal') {
    const { words } = column;
    return (row) => Number(applyTransform({ kind: 'bucket', count }, type, unscaledAt(words, row)));
  }
  if (column.layout !== 'fixed') throw transformRefused({ kind: 'bucket', count }, type);
  const { values } = column;
  if (!(values instanceof BigInt64Array)) {
    return (row) => {
      const value = values[row] ?? 0;
      return bucketOf(murmur3OfLong(value, value < 0 ? -1 : 0), count);
    };
  }
  if (type.kind === 'timestamp_ns' || type.kind === 'timestamp_ntz_ns') {
    return (row) => {
      const micros = floorDivide(values[row] ?? 0n, nanosPerMicro);
      return bucketOf(murmur3OfLong(Number(BigInt.asIntN(32, micros)), Number(micros >> 32n)), count);
    };
  }
  // Low word first, as in the rest of Arrow's memory.
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  return (row) => bucketOf(murmur3OfLong(words[2 * row] ?? 0, words[2 * row + 1] ?? 0), count);
}

function calendarUnits(column: Column, transform: Transform): NumberAt {
  if (column.layout !== 'fixed') throw transformRefused(transform, column.type);
  const { values } = column;
  const perDay = unitsPerDay(column.type);
  const daysAt: NumberAt = perDay === undefined ? (row) => Number(values[row] ?? 0) : floorAt(values, perDay);
  switch (transform.kind) {
    case 'hour':
      return floorAt(values, (perDay ?? 24n) / 24n);
    case 'year':
      return (row) => yearsOfDays(daysAt(row));
    case 'month':
      return (row) => monthsOfDays(daysAt(row));
    default:
      return daysAt;
  }
}

function floorAt(values: FixedColumn['values'], divisor: bigint): NumberAt {
  const divisorNumber = Number(divisor);
  return (row) => {
    const value = values[row] ?? 0n;
    const number = Number(value);
    // A double has all values of this size exactly.
    if (Number.isSafeInteger(number)) return Math.floor(number / divisorNumber);
    return Number(floorDivide(BigInt(value), divisor));
  };
}

function truncatedColumn(column: Column, transform: Extract<Transform, { kind: 'truncate' }>): Column {
  const { width } = transform;
  switch (column.layout) {
    case 'bytes':
      return truncatedBytes(column, width);
    case 'decimal': {
      const words = new BigInt64Array(2 * column.length);
      for (let row = 0; row < column.length; row++) {
        const whole = floorDivide(unscaledAt(column.words, row), BigInt(width)) * BigInt(width);
        words[2 * row] = BigInt.asIntN(64, whole);
        words[2 * row + 1] = BigInt.asIntN(64, whole >> 64n);
      }
      return { ...column, words };
    }
    case 'fixed': {
      const { values } = column;
      if (values instanceof BigInt64Array) {
        const divisor = BigInt(width);
        return { ...column, values: values.map((value) => floorDivide(value, divisor) * divisor) };
      }
      const truncated = Int32Array.from(values, (value) => truncatedNumber(value, width));
      return { ...column, type: { kind: 'integer' }, values: truncated };
    }
    default:
      throw transformRefused(transform, column.type);
  }
}

function truncatedBytes(column: BytesColumn, width: number): BytesColumn {
  const text = column.type.kind === 'string';
  const { offsets: from, data } = column;
  const offsets = new Int32Array(column.length + 1);
  const target = new Uint8Array((from[column.length] ?? 0) - (from[0] ?? 0));
  let at = 0;
  for (let row = 0; row < column.length; row++) {
    const start = from[row] ?? 0;
    const until = from[row + 1] ?? 0;
    const short = until - start <= width;
    const end = short ? until : text ? codePointsEnd(data, start, until, width) : start + width;
    target.set(data.subarray(start, end), at);
    at += end - start;
    offsets[row + 1] = at;
  }
  return { ...column, offsets, data: target.subarray(0, at) };
}

function unscaledAt(words: BigInt64Array, row: number): bigint {
  return ((words[2 * row + 1] ?? 0n) << 64n) | BigInt.asUintN(64, words[2 * row] ?? 0n);
}

/** The bytes that canonical text of a UUID stands for. */
function uuidBytes(text: Uint8Array, from: number, target: Uint8Array): Uint8Array {
  let at = from;
  for (let index = 0; index < target.length; index++) {
    if (text[at] === 0x2d) at++;
    target[index] = (hexDigit(text[at] ?? 0) << 4) | hexDigit(text[at + 1] ?? 0);
    at += 2;
  }
  return target;
}

function hexDigit(character: number): number {
  // Digits, or letters of either case.
  return character < 0x3a ? character - 0x30 : (character & 0xdf) - 0x37;
}

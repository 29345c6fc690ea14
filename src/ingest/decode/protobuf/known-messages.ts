import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { appendScaled, storedInteger } from '../stored-decimals.ts';
import { TimesOfColumn } from '../stored-times.ts';
import { valueOutOfRange } from '../value-refused.ts';
import { jsonOfStruct } from './json-of-struct.ts';
import { Occurrences } from './occurrences.ts';
import type { ProtoScalar } from './proto-schema.ts';
import { scalarReader } from './scalar-readers.ts';
import type { ValueReader } from './value-reader.ts';
import { WireCursor, wire } from './wire-cursor.ts';

/** Messages that every language's library knows, in columns of the type that they mean. `undefined`: it is none of them, or means another type. */
export function knownMessageReader(name: string, column: ColumnBuilder, where: string): ValueReader | undefined {
  const wrapped = wrappers.get(name);
  if (wrapped !== undefined) return wrapperReader(wrapped, column, where);
  if (name === 'google.protobuf.Timestamp' && column instanceof Int64Builder) return timestampReader(column, where);
  if (name === 'google.protobuf.Duration' && column instanceof BytesBuilder && column.type.kind === 'string')
    return durationReader(column, where);
  if (name === 'google.type.Date' && column instanceof Int32Builder && column.type.kind === 'date') return dateReader(column, where);
  if (name === 'google.type.TimeOfDay' && column instanceof Int64Builder && column.type.kind === 'time')
    return timeOfDayReader(column, where);
  if (name === 'confluent.type.Decimal' && column instanceof DecimalBuilder) return decimalReader(column, where);
  if (!(column instanceof BytesBuilder) || column.type.kind !== 'string') return undefined;
  const json = jsonOfStruct(name, where);
  return json === undefined ? undefined : textReader(column, json);
}

const wrappers: ReadonlyMap<string, ProtoScalar> = new Map([
  ['google.protobuf.DoubleValue', 'double'],
  ['google.protobuf.FloatValue', 'float'],
  ['google.protobuf.Int64Value', 'int64'],
  ['google.protobuf.UInt64Value', 'uint64'],
  ['google.protobuf.Int32Value', 'int32'],
  ['google.protobuf.UInt32Value', 'uint32'],
  ['google.protobuf.BoolValue', 'bool'],
  ['google.protobuf.StringValue', 'string'],
  ['google.protobuf.BytesValue', 'bytes'],
]);

const zeros = new Uint8Array(8);

/** A scalar in a message of its own, so that it may be absent. */
function wrapperReader(scalar: ProtoScalar, column: ColumnBuilder, where: string): ValueReader | undefined {
  const inner = scalarReader(scalar, column, where);
  if (inner === undefined) return undefined;
  const found = new Occurrences([{ number: 1, wireType: inner.wireType, packable: false }]);
  const zero = new WireCursor();
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      found.clear();
      found.scan(cursor);
      const last = found.last[0] ?? -1;
      if (last < 0) {
        zero.load(zeros, 0, inner.wireType === wire.bytes ? 0 : zeros.length);
        inner.read(zero);
        return;
      }
      cursor.at = found.starts[last] ?? 0;
      cursor.end = found.ends[last] ?? 0;
      inner.read(cursor);
    },
  };
}

/** The whole numbers of a message's fields 1 to `count`; 0 where there is none. */
function numbersOf(count: number): (cursor: WireCursor) => readonly bigint[] {
  const found = new Occurrences(
    Array.from({ length: count }, (_, index) => ({ number: index + 1, wireType: wire.varint, packable: false })),
  );
  return (cursor) => {
    found.clear();
    found.scan(cursor);
    return Array.from(found.last, (last) => {
      if (last < 0) return 0n;
      cursor.at = found.starts[last] ?? 0;
      cursor.end = found.ends[last] ?? 0;
      cursor.varint();
      return (BigInt(cursor.high) << 32n) + BigInt(cursor.low >>> 0);
    });
  };
}

const nanosOfSecond = 1_000_000_000n;

function timestampReader(column: Int64Builder, where: string): ValueReader | undefined {
  const times = TimesOfColumn.of({ meaning: 'instant', unitNanos: 1n }, column, where);
  if (times === undefined) return undefined;
  const read = numbersOf(2);
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      const [seconds = 0n, nanos = 0n] = read(cursor);
      if (nanos < 0n || nanos >= nanosOfSecond) throw valueOutOfRange(where, nanos, 'the nanoseconds of a second');
      times.append(seconds * nanosOfSecond + nanos);
    },
  };
}

/** As Protobuf's JSON spells it: `-1.500s`. */
function durationReader(column: BytesBuilder, where: string): ValueReader {
  const read = numbersOf(2);
  return textReader(column, (cursor) => {
    const [seconds = 0n, nanos = 0n] = read(cursor);
    const isMixed = (seconds < 0n && nanos > 0n) || (seconds > 0n && nanos < 0n);
    if (isMixed || nanos <= -nanosOfSecond || nanos >= nanosOfSecond) throw valueOutOfRange(where, `${seconds}s ${nanos}ns`, 'a duration');
    const [whole, part] = [seconds < 0n ? -seconds : seconds, nanos < 0n ? -nanos : nanos];
    const digits =
      part === 0n
        ? ''
        : `.${String(part)
            .padStart(9, '0')
            .replace(/(000)+$/, '')}`;
    return `${seconds < 0n || nanos < 0n ? '-' : ''}${whole}${digits}s`;
  });
}

const millisOfDay = 86_400_000;

function dateReader(column: Int32Builder, where: string): ValueReader {
  const read = numbersOf(3);
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      const [year = 0, month = 0, day = 0] = read(cursor).map(Number);
      const date = new Date(0);
      date.setUTCFullYear(year, month - 1, day);
      // A year alone, or a month without a day, is a date of Google's and none of a column.
      if (year < 1 || year > 9999 || date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
        throw valueOutOfRange(where, `${year}-${month}-${day}`, 'a date of the years 0001 to 9999');
      column.append(date.getTime() / millisOfDay);
    },
  };
}

function timeOfDayReader(column: Int64Builder, where: string): ValueReader {
  const read = numbersOf(4);
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      const [hours = 0n, minutes = 0n, seconds = 0n, nanos = 0n] = read(cursor);
      const fits = hours >= 0n && hours < 24n && minutes >= 0n && minutes < 60n && seconds >= 0n && seconds < 60n && nanos >= 0n;
      if (!fits || nanos >= nanosOfSecond || nanos % 1000n !== 0n)
        throw valueOutOfRange(where, `${hours}:${minutes}:${seconds} and ${nanos} ns`, 'a time of day in whole microseconds');
      column.appendBigInt(((hours * 60n + minutes) * 60n + seconds) * 1_000_000n + nanos / 1000n);
    },
  };
}

/** What Connect's converter writes for decimals: the bytes of a number and its scale. */
function decimalReader(column: DecimalBuilder, where: string): ValueReader {
  const value = new Occurrences([
    { number: 1, wireType: wire.bytes, packable: false },
    { number: 3, wireType: wire.varint, packable: false },
  ]);
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      value.clear();
      value.scan(cursor);
      const [bytesAt = -1, scaleAt = -1] = value.last;
      const bytes = bytesAt < 0 ? new Uint8Array(0) : cursor.bytes.subarray(value.starts[bytesAt], value.ends[bytesAt]);
      let scale = 0;
      if (scaleAt >= 0) {
        cursor.at = value.starts[scaleAt] ?? 0;
        cursor.end = value.ends[scaleAt] ?? 0;
        cursor.varint();
        scale = cursor.low;
      }
      appendScaled(column, BigInt(storedInteger(bytes, where)), scale, where);
    },
  };
}

function textReader(column: BytesBuilder, textOf: (cursor: WireCursor) => string): ValueReader {
  return {
    column,
    wireType: wire.bytes,
    read(cursor): void {
      const text = Buffer.from(textOf(cursor), 'utf8');
      column.append(text, 0, text.length);
    },
  };
}

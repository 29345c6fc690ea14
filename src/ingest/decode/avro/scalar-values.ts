import type { AvroReader } from '../../../codec/avro/avro-reader.ts';
import type { AvroEnum, AvroType } from '../../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../../codec/avro/byte-cursor.ts';
import { longStore } from '../../../codec/avro/resolve-columns.ts';
import { BooleanReader, BytesReader, ConvertedReader, LongReader, NumberReader, TextReader } from '../../../codec/avro/scalar-readers.ts';
import { enumSymbol } from '../../../codec/avro/skip-values.ts';
import { BooleanBuilder } from '../../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { FloatingBuilder } from '../../../codec/columns/floating-builder.ts';
import { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { UUID_BYTES, uuidText } from '../../../codec/uuid-text.ts';
import { appendScaled, connectDecimal, storedInteger, variableScaleDecimal } from '../stored-decimals.ts';
import { inDates, isDateNamed, TimesOfColumn, timeNamed } from '../stored-times.ts';
import { TextInColumn } from '../text-in-column.ts';
import { ValueRefused, valueOutOfRange } from '../value-refused.ts';

/** The reader of a stored value into a column without members; `undefined` when the column does not take such values. */
export function scalarReader(stored: AvroType, column: ColumnBuilder, where: string): AvroReader | undefined {
  if (stored.kind === 'string' && !(column instanceof BytesBuilder)) return textReader(column, where);
  if (column instanceof BytesBuilder)
    return column.type.kind === 'string' ? stringReader(stored, column, where) : binaryReader(stored, column);
  if (column instanceof Int32Builder) return int32Reader(stored, column, where);
  if (column instanceof Int64Builder) return int64Reader(stored, column, where);
  if (column instanceof FloatingBuilder) return floatingReader(stored, column);
  if (column instanceof DecimalBuilder) return decimalReader(stored, column, where);
  if (column instanceof BooleanBuilder && stored.kind === 'boolean') return new BooleanReader(column);
  return undefined;
}

function stringReader(stored: AvroType, column: BytesBuilder, where: string): AvroReader | undefined {
  switch (stored.kind) {
    case 'string':
      return new TextReader(column);
    case 'enum':
      return new ConvertedReader(column, symbolBytes(stored, where));
    case 'fixed':
      if (stored.logicalType === 'uuid' && stored.size === UUID_BYTES)
        return new ConvertedReader(column, (cursor) => uuidText(cursor.fixed(UUID_BYTES)));
      if (stored.logicalType === 'duration' && stored.size === durationBytes)
        return new ConvertedReader(column, (cursor) => durationText(cursor.fixed(durationBytes), where));
      return undefined;
    default:
      return undefined;
  }
}

function symbolBytes({ symbols, unread }: AvroEnum, where: string): (cursor: ByteCursor) => Uint8Array {
  const encoder = new TextEncoder();
  const bytes = new Map(symbols.map((symbol) => [symbol, encoder.encode(symbol)]));
  return (cursor) => {
    const symbol = enumSymbol(symbols, cursor);
    if (unread?.has(symbol) === true)
      throw new ValueRefused(where, 'wrong-type', `"${symbol}" is no symbol of the schema of the route, whose enum has no default`);
    return bytes.get(symbol) ?? new Uint8Array(0);
  };
}

const durationBytes = 12;

/** Months, days and milliseconds, each an unsigned 32-bit number, as ISO 8601 has them. */
function durationText(bytes: Uint8Array, where: string): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength !== durationBytes) throw new ValueRefused(where, 'wrong-type', 'is no duration');
  const [months, days, millis] = [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)];
  const seconds = `${Math.floor(millis / 1000)}${millis % 1000 === 0 ? '' : `.${String(millis % 1000).padStart(3, '0')}`}`;
  return new TextEncoder().encode(`P${months}M${days}DT${seconds}S`);
}

function binaryReader(stored: AvroType, column: BytesBuilder): AvroReader | undefined {
  if (stored.kind === 'bytes') return new BytesReader(column, undefined);
  return stored.kind === 'fixed' ? new BytesReader(column, stored.size) : undefined;
}

function isDate(stored: AvroType): boolean {
  return stored.kind === 'int' && (isDateNamed(stored.logicalType) || isDateNamed(stored.connectName));
}

const bitsOf = { byte: 8, short: 16, integer: 32 } as const;

function int32Reader(stored: AvroType, column: Int32Builder, where: string): AvroReader | undefined {
  const { kind } = column.type;
  if (kind === 'date') return isDate(stored) ? new NumberReader(column, (cursor) => inDates(cursor.int(), where)) : undefined;
  if (stored.kind !== 'int' && stored.kind !== 'long') return undefined;
  const max = 2 ** (bitsOf[kind] - 1) - 1;
  const read = stored.kind === 'int' ? (cursor: ByteCursor) => cursor.int() : (cursor: ByteCursor) => Number(cursor.long());
  return new NumberReader(column, (cursor) => {
    const value = read(cursor);
    if (value > max || value < -max - 1) throw valueOutOfRange(where, value, kind === 'integer' ? 'an integer' : `a ${kind}`);
    return value;
  });
}

function int64Reader(stored: AvroType, column: Int64Builder, where: string): AvroReader | undefined {
  const { kind } = column.type;
  if (kind === 'long') {
    const store = longStore(stored);
    return store === undefined ? undefined : new LongReader(column, store);
  }
  if (stored.kind !== 'int' && stored.kind !== 'long') return undefined;
  const times = TimesOfColumn.of(timeNamed(stored.logicalType) ?? timeNamed(stored.connectName), column, where);
  return times === undefined ? undefined : new TimeReader(times, stored.kind);
}

const words = new Int32Array(2);

/** Times. */
class TimeReader implements AvroReader {
  readonly column: Int64Builder;
  readonly #times: TimesOfColumn;
  readonly #isLong: boolean;

  constructor(times: TimesOfColumn, kind: 'int' | 'long') {
    this.column = times.column;
    this.#times = times;
    this.#isLong = kind === 'long';
  }

  read(cursor: ByteCursor): void {
    const times = this.#times;
    if (this.#isLong && times.sameUnit) {
      cursor.long64(words, 0);
      times.appendWords(words[0] ?? 0, words[1] ?? 0);
    } else times.append(this.#isLong ? cursor.long() : BigInt(cursor.int()));
  }
}

function floatingReader(stored: AvroType, column: FloatingBuilder): AvroReader | undefined {
  const single = column.type.kind === 'float';
  switch (stored.kind) {
    case 'float':
      return new NumberReader(column, (cursor) => cursor.float());
    case 'double':
      return single ? undefined : new NumberReader(column, (cursor) => cursor.double());
    case 'int':
      return new NumberReader(column, (cursor) => cursor.int());
    case 'long':
      return new NumberReader(column, (cursor) => Number(cursor.long()));
    default:
      return undefined;
  }
}

function decimalReader(stored: AvroType, column: DecimalBuilder, where: string): AvroReader | undefined {
  switch (stored.kind) {
    case 'int':
    case 'long':
      return new DecimalValue(column, 0, (cursor) => (stored.kind === 'int' ? BigInt(cursor.int()) : cursor.long()), where);
    case 'bytes':
    case 'fixed': {
      if (stored.logicalType !== 'decimal' && stored.connectName !== connectDecimal) return undefined;
      const size = stored.kind === 'fixed' ? stored.size : undefined;
      return new DecimalValue(column, stored.scale ?? 0, (cursor) => integerAt(cursor, size, where), where);
    }
    case 'record':
      return stored.name === variableScaleDecimal ? variableDecimal(stored, column, where) : undefined;
    default:
      return undefined;
  }
}

function integerAt(cursor: ByteCursor, size: number | undefined, where: string): bigint | number {
  return storedInteger(cursor.fixed(size ?? cursor.length()), where);
}

/** A decimal that is exact in the column's scale. */
class DecimalValue implements AvroReader {
  readonly column: DecimalBuilder;
  readonly #read: (cursor: ByteCursor) => bigint | number;
  readonly #where: string;
  readonly #scale: number;
  readonly #limit: bigint;

  constructor(column: DecimalBuilder, scale: number, read: (cursor: ByteCursor) => bigint | number, where: string) {
    this.column = column;
    this.#read = read;
    this.#where = where;
    this.#scale = scale;
    this.#limit = 10n ** BigInt(column.type.precision);
  }

  read(cursor: ByteCursor): void {
    const unscaled = this.#read(cursor);
    if (typeof unscaled === 'number' && this.#scale === this.column.type.scale && Math.abs(unscaled) < this.#limit)
      this.column.append(unscaled);
    else appendScaled(this.column, BigInt(unscaled), this.#scale, this.#where);
  }
}

/** Debezium's number that brings its scale with it. */
function variableDecimal(stored: AvroType & { readonly kind: 'record' }, column: DecimalBuilder, where: string): AvroReader | undefined {
  const [scale, value] = stored.fields;
  if (stored.fields.length !== 2 || scale?.name !== 'scale' || scale.type.kind !== 'int' || value?.type.kind !== 'bytes') return undefined;
  return {
    column,
    read(cursor): void {
      const digitsBehind = cursor.int();
      appendScaled(column, BigInt(integerAt(cursor, undefined, where)), digitsBehind, where);
    },
  };
}

function textReader(column: ColumnBuilder, where: string): AvroReader | undefined {
  const text = TextInColumn.of(column, where);
  if (text === undefined) return undefined;
  return {
    column,
    read(cursor): void {
      text.append(cursor.text());
    },
  };
}

import { type JsonValue, printJson } from '../base/bigint-json.ts';
import type { Column, ColumnBatch } from '../schema/columns.ts';
import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../schema/date-text.ts';
import type { DataType, Field } from '../schema/types.ts';
import { isList, isRow, type PlainValue, valueAt } from './rows.ts';

export interface CanonicalOptions {
  /** Members of objects sorted by name, as RFC 8785 has them (default), or in the order of the schema. */
  readonly members?: 'sorted' | 'schema' | undefined;
  /** Integers up to this magnitude are numbers, larger ones text. Default 2^53 - 1. */
  readonly maxNumber?: bigint | undefined;
}

const largestSafe = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The rows of a batch as JSON that is the same whoever prints it: RFC 8785, longs beyond 2^53 and decimals (with their full scale) as text,
 * NaN, infinities and negative zero as text, dates, times and timestamps as ISO 8601 with six digits of the second (nine where the type has nanoseconds; `Z` for instants), binary as
 * lower-case hex, maps as lists of pairs sorted by the key's text. Nulls are always there.
 */
export function* canonicalRows(batch: ColumnBatch, options: CanonicalOptions = {}): Generator<string, void, undefined> {
  const print = structPrinter(batch.schema.fields, options);
  const { columns } = batch;
  const values = (row: number) => (index: number) => valueOf(columns[index], row);
  for (let row = 0; row < batch.rowCount; row += 1) yield print(values(row));
}

/** Lines in the order of their UTF-8 bytes. */
export function sortedLines(lines: readonly string[]): readonly string[] {
  return lines
    .map((line) => ({ line, bytes: Buffer.from(line) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ line }) => line);
}

type Print = (value: PlainValue) => string;

/** Prints values of a type as `canonicalRows` does. */
export function printerOf(type: DataType): Print {
  return printer(type, {});
}

/** Lower-case hex. */
export function canonicalHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** The number; text where JSON has none for it. */
export function canonicalFloating(value: number): number | string {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isFinite(value) ? value : String(value);
}

type TimeKind = Extract<DataType['kind'], 'date' | 'time' | 'timestamp' | 'timestamp_ntz' | 'timestamp_ns' | 'timestamp_ntz_ns'>;

/** What makes ISO 8601 of values of a type of dates or times. */
export function canonicalTime(kind: TimeKind): (value: PlainValue) => string | null {
  const print = timeTexts[kind];
  return (value) => (typeof value === 'bigint' || typeof value === 'number' ? print(BigInt(value)) : null);
}

const timeTexts: Readonly<Record<TimeKind, (value: bigint) => string>> = {
  date: (days) => isoDate(formatDate(Number(days))),
  time: formatTime,
  timestamp: (micros) => `${isoDateTime(dateTimeParts(micros))}Z`,
  timestamp_ntz: (micros) => isoDateTime(dateTimeParts(micros)),
  timestamp_ns: (nanos) => `${isoDateTime(dateTimeNanosParts(nanos))}Z`,
  timestamp_ntz_ns: (nanos) => isoDateTime(dateTimeNanosParts(nanos)),
};

function valueOf(column: Column | undefined, row: number): PlainValue {
  return column === undefined ? null : valueAt(column, row);
}

/** Prints a struct whose members are got by their place in the schema. */
function structPrinter(fields: readonly Field[], options: CanonicalOptions): (valueAtPlace: (index: number) => PlainValue) => string {
  const members = fields.map((field, index) => ({
    index,
    name: field.name,
    prefix: `${printJson(field.name)}:`,
    print: printer(field.type, options),
  }));
  // RFC 8785 orders names by UTF-16 units, which is how the language compares text.
  if (options.members !== 'schema') members.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return (valueAtPlace) => `{${members.map(({ index, prefix, print }) => prefix + print(valueAtPlace(index))).join(',')}}`;
}

function printer(type: DataType, options: CanonicalOptions): Print {
  const print = valuePrinter(type, options);
  return (value) => (value === null ? 'null' : print(value));
}

function valuePrinter(type: DataType, options: CanonicalOptions): Print {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'boolean':
      return String;
    case 'long':
      return (value) => longText(value, options.maxNumber ?? largestSafe);
    case 'float':
    case 'double':
      return floatingText;
    case 'decimal':
    case 'string':
      return (value) => (typeof value === 'string' ? printJson(value) : 'null');
    case 'binary':
      return (value) => (value instanceof Uint8Array ? `"${canonicalHex(value)}"` : 'null');
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns': {
      const text = canonicalTime(type.kind);
      return (value) => `"${text(value)}"`;
    }
    case 'struct': {
      const print = structPrinter(type.fields, options);
      return (value) => print((index) => memberOf(value, type.fields[index]?.name ?? ''));
    }
    case 'list': {
      const print = printer(type.element, options);
      return (value) => (isList(value) ? `[${value.map(print).join(',')}]` : 'null');
    }
    case 'variant':
      // What a row has of a variant is JSON already.
      return (value) => printJson(value as JsonValue);
    case 'void':
      return () => 'null';
    case 'map':
      return mapPrinter(printer(type.key, options), printer(type.value, options));
  }
}

function mapPrinter(key: Print, value: Print): Print {
  return (map) => {
    if (!(map instanceof Map)) return 'null';
    const entries = [...map].map(([name, entry]: [PlainValue, PlainValue]) => ({ key: key(name), value: value(entry) }));
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
    return `[${entries.map((entry) => `[${entry.key},${entry.value}]`).join(',')}]`;
  };
}

function memberOf(value: PlainValue, name: string): PlainValue {
  return isRow(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

function longText(value: PlainValue, maxNumber: bigint): string {
  if (typeof value !== 'bigint') return 'null';
  return value <= maxNumber && value >= -maxNumber ? value.toString() : `"${value}"`;
}

function floatingText(value: PlainValue): string {
  if (typeof value !== 'number') return 'null';
  const plain = canonicalFloating(value);
  return typeof plain === 'number' ? String(plain) : `"${plain}"`;
}

function isoDateTime({ date, time, fraction }: ReturnType<typeof dateTimeParts>): string {
  return `${isoDate(date)}T${time}.${fraction}`;
}

/** Years of more than four digits have a sign and six. */
function isoDate(date: string): string {
  const match = /^([+-])(\d+)(-.*)$/.exec(date);
  return match === null ? date : `${match[1] ?? ''}${(match[2] ?? '').padStart(6, '0')}${match[3] ?? ''}`;
}

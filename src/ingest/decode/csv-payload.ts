import { type ServiceError, serviceError } from '../../base/errors.ts';
import { BooleanBuilder } from '../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../codec/columns/decimal-builder.ts';
import { FloatingBuilder } from '../../codec/columns/floating-builder.ts';
import { Int32Builder } from '../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../codec/columns/int64-builder.ts';
import { describeType } from '../../schema/describe-type.ts';
import { createJsonReader } from './json/create-reader.ts';
import { BACKSLASH, MINUS, QUOTE } from './json/json-bytes.ts';
import { JsonCursor } from './json/json-cursor.ts';
import type { PayloadDecoder, PayloadMember, UnreadMembers } from './payload-decoder.ts';
import { type Rejection, shown } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';
import { isUtf8 } from './utf8.ts';

export interface CsvOptions {
  /** Names of the fields, in their order. */
  readonly fields: readonly string[];
  /** One character of ASCII. */
  readonly delimiter: string;
  readonly unread: UnreadMembers;
}

/** A column and how the text of a field becomes its value. */
interface CsvColumn {
  readonly member: PayloadMember;
  readonly append: (bytes: Uint8Array, start: number, end: number) => Rejection | undefined;
}

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * One record of CSV (RFC 4180): fields in a fixed order, quoted where they hold the delimiter, quotes or line ends. A field that is empty and not
 * quoted is null. Values are read as JSON's are (docs/spec/json-decoding.md), numbers and booleans without quotes around them.
 */
export class CsvPayload implements PayloadDecoder {
  readonly #options: CsvOptions;
  readonly #delimiter: number;
  /** By position; `undefined` where no column takes the field. */
  readonly #columns: readonly (CsvColumn | undefined)[];
  /** The content of a quoted field that holds quotes. */
  #unquoted: Uint8Array = new Uint8Array(0);

  /**
   * @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) for a column whose field is not named, `DECODE_TYPE_UNSUPPORTED` (kind unsupported)
   * for nested columns.
   */
  constructor(members: readonly PayloadMember[], options: CsvOptions) {
    this.#options = options;
    this.#delimiter = options.delimiter.charCodeAt(0);
    const unnamed = members.find(({ name }) => !options.fields.includes(name));
    if (unnamed !== undefined) throw notAField(unnamed, options.fields);
    const columns = members.map((member) => ({ member, append: appenderOf(member) }));
    this.#columns = options.fields.map((field) => columns.find(({ member }) => member.name === field));
  }

  decode({ data }: SourceRecord, start: number, end: number): Rejection | undefined {
    const until = withoutLineEnd(data, start, end);
    const { length } = this.#columns;
    let at = start;
    for (let index = 0; ; index += 1) {
      if (index === length) return this.#notSoMany(data, start, until, `more than ${length}`);
      const quoted = data[at] === QUOTE && at < until;
      const fieldEnd = quoted ? endOfQuoted(data, at, until) : this.#endOfPlain(data, at, until);
      if (fieldEnd < 0) return invalid(`field ${index + 1} begins with a quote and does not end with one`);
      if (fieldEnd < until && data[fieldEnd] !== this.#delimiter)
        return invalid(`field ${index + 1} goes on after its closing quote at byte ${fieldEnd - start}`);
      const rejection = this.#append(this.#columns[index], data, at, fieldEnd, quoted);
      if (rejection !== undefined) return rejection;
      if (fieldEnd === until) return index === length - 1 ? undefined : this.#notSoMany(data, start, until, String(index + 1));
      at = fieldEnd + 1;
    }
  }

  #append(column: CsvColumn | undefined, data: Uint8Array, start: number, end: number, quoted: boolean): Rejection | undefined {
    if (column === undefined) {
      this.#options.unread.count += 1;
      return undefined;
    }
    const { member, append } = column;
    if (start === end) {
      if (!member.nullable)
        return { reason: 'missing-required', message: `column "${member.label}": a required column has no value`, missing: member.label };
      member.column.appendNull();
      return undefined;
    }
    if (!quoted) return append(data, start, end);
    const length = this.#unquote(data, start + 1, end - 1);
    return append(this.#unquoted, 0, length);
  }

  /** Copies the content of a quoted field, each doubled quote once; its length. */
  #unquote(data: Uint8Array, start: number, end: number): number {
    if (this.#unquoted.length < end - start) this.#unquoted = new Uint8Array(end - start);
    let length = 0;
    for (let at = start; at < end; at += 1) {
      const byte = data[at] ?? 0;
      if (byte === QUOTE) at += 1;
      this.#unquoted[length] = byte;
      length += 1;
    }
    return length;
  }

  #endOfPlain(data: Uint8Array, start: number, until: number): number {
    let at = start;
    while (at < until && data[at] !== this.#delimiter) at += 1;
    return at;
  }

  #notSoMany(data: Uint8Array, start: number, end: number, count: string): Rejection {
    return invalid(`it has ${count} fields, and the route names ${this.#options.fields.length}: ${shown(data, start, end)}`);
  }
}

function invalid(message: string): Rejection {
  return { reason: 'invalid-csv', message: `not valid CSV: ${message}` };
}

/** One line end may follow the record. */
function withoutLineEnd(data: Uint8Array, start: number, end: number): number {
  if (end === start || data[end - 1] !== LINE_FEED) return end;
  return end - 1 > start && data[end - 2] === CARRIAGE_RETURN ? end - 2 : end - 1;
}

/** The index after the closing quote of the field at `start`; -1 when there is none. */
function endOfQuoted(data: Uint8Array, start: number, until: number): number {
  for (let at = start + 1; at < until; at += 1) {
    if (data[at] !== QUOTE) continue;
    if (at + 1 >= until || data[at + 1] !== QUOTE) return at + 1;
    at += 1;
  }
  return -1;
}

function appenderOf(member: PayloadMember): CsvColumn['append'] {
  const { column, label, type } = member;
  if (column instanceof BytesBuilder && column.type.kind === 'string')
    return (bytes, start, end) => {
      if (!isUtf8(bytes, start, end))
        return { reason: 'invalid-utf8', message: `column "${label}": ${shown(bytes, start, end)} is not valid UTF-8` };
      column.append(bytes, start, end);
      return undefined;
    };
  if (isBare(column)) return jsonAppender(member, (bytes, start) => column instanceof FloatingBuilder && isWord(bytes, start));
  if (column instanceof BytesBuilder || column instanceof Int32Builder || column instanceof Int64Builder)
    return jsonAppender(member, () => true);
  throw serviceError.unsupported('DECODE_TYPE_UNSUPPORTED', `column "${label}" of type ${describeType(type)} cannot be read from CSV`, {
    hint: 'use a column without members, or JSON',
  });
}

/** Whether JSON writes values of the column without quotes. */
function isBare(column: ColumnBuilder): boolean {
  if (column instanceof Int32Builder) return column.type.kind !== 'date';
  if (column instanceof Int64Builder) return column.type.kind === 'long';
  return column instanceof FloatingBuilder || column instanceof DecimalBuilder || column instanceof BooleanBuilder;
}

/** Whether a number begins as none: `NaN`, `-Infinity`. */
function isWord(bytes: Uint8Array, start: number): boolean {
  return (bytes[bytes[start] === MINUS ? start + 1 : start] ?? 0) > 0x40;
}

/** Reads the field as the JSON value that it is, or as the string where `inQuotes` says so. */
function jsonAppender(
  { label, type, column }: PayloadMember,
  inQuotes: (bytes: Uint8Array, start: number) => boolean,
): CsvColumn['append'] {
  const reader = createJsonReader(column, 'ignore');
  const cursor = new JsonCursor(1);
  return (bytes, start, end) => {
    const quoted = inQuotes(bytes, start);
    const text = quoted ? quotedText(bytes, start, end) : bytes;
    const [from, until] = quoted ? [0, text.length] : [start, end];
    cursor.load(text, from, until);
    if (reader.read(cursor) && cursor.pos === until) return undefined;
    const { failure } = cursor;
    cursor.failure = undefined;
    // What is no JSON at all (`007`, `yes`) is no value of the column.
    const { reason, detail } =
      failure === undefined || failure.reason === 'invalid-json'
        ? ({ reason: 'wrong-type', detail: `is not a value of type ${describeType(type)}` } as const)
        : failure;
    return { reason, message: `column "${label}": ${shown(bytes, start, end)} ${detail}` };
  };
}

/** Dates, times and base64 have no characters that JSON escapes; those that do are no such text. */
function quotedText(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = new Uint8Array(end - start + 2);
  text[0] = QUOTE;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    text[at - start + 1] = byte === QUOTE || byte === BACKSLASH ? 0x3f : byte;
  }
  text[text.length - 1] = QUOTE;
  return text;
}

function notAField({ label, name }: PayloadMember, fields: readonly string[]): ServiceError {
  return serviceError.invalid(
    'DECODE_SPEC_INVALID',
    `column "${label}" takes the field "${name}", which is none of those of the route: ${fields.join(', ')}`,
    { hint: 'name every field of the CSV in `fields`, in their order' },
  );
}

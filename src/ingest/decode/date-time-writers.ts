import type { Column } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { DateTimeText, impossibleTime } from './date-time-text.ts';
import { grownInt32 } from './growable.ts';
import { Int64Values } from './int64-values.ts';
import { byteAt, isDigit, MINUS, QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { Validity } from './validity.ts';

const microsPerSecond = 1_000_000;
// Below this many seconds the microseconds are a safe integer.
const safeSeconds = 9_007_199_254;

/** date: a string `YYYY-MM-DD`, years 0001 to 9999. */
export class DateWriter implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #parser = new DateTimeText();
  #values: Int32Array = new Int32Array(0);
  #expected = 0;

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) return cursor.wrongType('a date');
    if (!cursor.scanString()) return false;
    const until = this.#parser.parseDate(cursor.text, cursor.textStart, cursor.textEnd);
    if (until === impossibleTime && cursor.textEnd - cursor.textStart === 10)
      return cursor.fail('out-of-range', 'is not a date of the calendar, years 0001 to 9999', from, cursor.pos);
    if (until !== cursor.textEnd) return cursor.fail('wrong-type', 'is not a date (YYYY-MM-DD)', from, cursor.pos);
    this.#put(this.#parser.days);
    this.#validity.appendValid();
    return true;
  }

  appendNull(): void {
    this.#put(0);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    const values = this.#values.subarray(0, counted.length);
    this.#values = new Int32Array(0);
    this.#expected = counted.length;
    return { layout: 'fixed', type: { kind: 'date' }, ...counted, values };
  }

  #put(value: number): void {
    const index = this.#validity.length;
    if (index >= this.#values.length) this.#values = grownInt32(this.#values, Math.max(index + 1, this.#expected));
    this.#values[index] = value;
  }
}

type TimestampType = { readonly kind: 'timestamp' } | { readonly kind: 'timestamp_ntz' };

/** timestamp: an ISO 8601 string with a zone; timestamp_ntz: one without. To the microsecond, never rounded. */
export class TimestampWriter implements ColumnWriter {
  readonly #type: TimestampType;
  readonly #zoned: boolean;
  readonly #expectedForm: string;
  readonly #validity = new Validity();
  readonly #values = new Int64Values();
  readonly #parser = new DateTimeText();

  constructor(type: TimestampType) {
    this.#type = type;
    this.#zoned = type.kind === 'timestamp';
    this.#expectedForm = this.#zoned
      ? 'a timestamp (YYYY-MM-DDThh:mm:ss, optional fraction, and Z or an offset)'
      : 'a timestamp without zone (YYYY-MM-DDThh:mm:ss and optional fraction, no Z or offset)';
  }

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const start = cursor.pos + 1;
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== QUOTE) return this.#refuse(cursor);
    const parser = this.#parser;
    const until = parser.parseDateTime(cursor.bytes, start, cursor.end);
    // Whatever does not end in the closing quote (escapes, other text) is looked at again as a whole string.
    if (until < 0 || cursor.bytes[until] !== QUOTE || until >= cursor.end || parser.zoned !== this.#zoned) return this.#readText(cursor);
    cursor.pos = until + 1;
    this.#append();
    return true;
  }

  appendNull(): void {
    this.#values.reserve(this.#validity.length);
    this.#values.put(this.#validity.length, 0);
    this.#validity.appendNull();
  }

  /** Appends a value that is no JSON: a record's timestamp in whole milliseconds since 1970. */
  appendEpochMs(epochMs: number): void {
    this.#parser.seconds = Math.floor(epochMs / 1000);
    this.#parser.micros = (epochMs - this.#parser.seconds * 1000) * 1000;
    this.#append();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    return { layout: 'fixed', type: this.#type, ...counted, values: this.#values.finish(counted.length) };
  }

  #append(): void {
    const index = this.#validity.length;
    const { seconds, micros } = this.#parser;
    this.#values.reserve(index);
    if (seconds > -safeSeconds && seconds < safeSeconds) this.#values.put(index, seconds * microsPerSecond + micros);
    else this.#values.putProduct(index, seconds, microsPerSecond, micros, false);
    this.#validity.appendValid();
  }

  #readText(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (!cursor.scanString()) return false;
    const until = this.#parser.parseDateTime(cursor.text, cursor.textStart, cursor.textEnd);
    if (until === impossibleTime)
      return cursor.fail('out-of-range', 'is not a possible time of years 0001 to 9999 in whole microseconds', from, cursor.pos);
    if (until !== cursor.textEnd || this.#parser.zoned !== this.#zoned)
      return cursor.fail('wrong-type', `is not ${this.#expectedForm}`, from, cursor.pos);
    this.#append();
    return true;
  }

  #refuse(cursor: JsonCursor): false {
    const byte = byteAt(cursor.bytes, cursor.pos, cursor.end);
    const unit = byte === MINUS || isDigit(byte) ? '; a bare number does not say its unit' : '';
    return cursor.wrongType(`${this.#expectedForm}${unit}`);
  }
}

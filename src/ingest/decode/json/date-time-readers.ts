import type { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import type { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { byteAt } from '../bytes.ts';
import { DateTimeText, impossibleTime } from './date-time-text.ts';
import { isDigit, MINUS, QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';

const microsPerSecond = 1_000_000;
// Below this many seconds the microseconds are a safe integer.
const safeSeconds = 9_007_199_254;

/** date: a string `YYYY-MM-DD`, years 0001 to 9999. */
export class DateReader implements JsonReader {
  readonly column: Int32Builder;
  readonly #parser = new DateTimeText();

  constructor(column: Int32Builder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) return cursor.wrongType('a date');
    if (!cursor.scanString()) return false;
    const until = this.#parser.parseDate(cursor.text, cursor.textStart, cursor.textEnd);
    if (until === impossibleTime && cursor.textEnd - cursor.textStart === 10)
      return cursor.fail('out-of-range', 'is not a date of the calendar, years 0001 to 9999', from, cursor.pos);
    if (until !== cursor.textEnd) return cursor.fail('wrong-type', 'is not a date (YYYY-MM-DD)', from, cursor.pos);
    this.column.append(this.#parser.days);
    return true;
  }
}

/** timestamp: an ISO 8601 string with a zone; timestamp_ntz: one without. To the microsecond, never rounded. */
export class TimestampReader implements JsonReader {
  readonly column: Int64Builder;
  readonly #zoned: boolean;
  readonly #expectedForm: string;
  readonly #parser = new DateTimeText();

  constructor(column: Int64Builder) {
    this.column = column;
    this.#zoned = column.type.kind === 'timestamp';
    this.#expectedForm = timestampForm(this.#zoned);
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

  #append(): void {
    const { seconds, micros } = this.#parser;
    if (seconds > -safeSeconds && seconds < safeSeconds) this.column.append(seconds * microsPerSecond + micros);
    else this.column.appendProduct(seconds, microsPerSecond, micros, false);
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

const form = 'a time (hh:mm:ss and optional fraction)';
const timePattern = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$/;

/** time: a string `hh:mm:ss[.f…]` from 00:00:00 to before 24:00:00, to the microsecond, never rounded. */
export class TimeReader implements JsonReader {
  readonly column: Int64Builder;

  constructor(column: Int64Builder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) return cursor.wrongType(form);
    if (!cursor.scanString()) return false;
    const text = Buffer.from(cursor.text.buffer, cursor.text.byteOffset, cursor.text.byteLength);
    const parts = timePattern.exec(text.toString('latin1', cursor.textStart, cursor.textEnd));
    if (parts === null) return cursor.fail('wrong-type', `is not ${form}`, from, cursor.pos);
    const [hour = 0, minute = 0, second = 0] = parts.slice(1, 4).map(Number);
    const fraction = (parts[4] ?? '').padEnd(9, '0');
    if (hour > 23 || minute > 59 || second > 59 || !fraction.endsWith('000'))
      return cursor.fail('out-of-range', 'is not a possible time of day in whole microseconds', from, cursor.pos);
    this.column.append((hour * 3600 + minute * 60 + second) * 1_000_000 + Number(fraction.slice(0, 6)));
    return true;
  }
}

/** timestamp_ns: an ISO 8601 string with a zone; timestamp_ntz_ns: one without. To the nanosecond, years 1677 to 2262, never rounded. */
export class NanosReader implements JsonReader {
  readonly column: Int64Builder;
  readonly #zoned: boolean;
  readonly #parser = new DateTimeText(9);

  constructor(column: Int64Builder) {
    this.column = column;
    this.#zoned = column.type.kind === 'timestamp_ns';
  }

  read(cursor: JsonCursor): boolean {
    const form = timestampForm(this.#zoned);
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) return cursor.wrongType(form);
    if (!cursor.scanString()) return false;
    const parser = this.#parser;
    const until = parser.parseDateTime(cursor.text, cursor.textStart, cursor.textEnd);
    if (until !== impossibleTime && (until !== cursor.textEnd || parser.zoned !== this.#zoned))
      return cursor.fail('wrong-type', `is not ${form}`, from, cursor.pos);
    const nanos = BigInt(parser.seconds) * 1_000_000_000n + BigInt(parser.micros * 1000 + parser.nanos);
    if (until === impossibleTime || BigInt.asIntN(64, nanos) !== nanos)
      return cursor.fail('out-of-range', 'is not a possible time of years 1677 to 2262 in whole nanoseconds', from, cursor.pos);
    this.column.appendBigInt(nanos);
    return true;
  }
}

function timestampForm(zoned: boolean): string {
  return zoned
    ? 'a timestamp (YYYY-MM-DDThh:mm:ss, optional fraction, and Z or an offset)'
    : 'a timestamp without zone (YYYY-MM-DDThh:mm:ss and optional fraction, no Z or offset)';
}

import type { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { byteAt } from '../bytes.ts';
import { DateTimeText, impossibleTime } from './date-time-text.ts';
import { QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';

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
    const form = this.#zoned
      ? 'a timestamp (YYYY-MM-DDThh:mm:ss, optional fraction, and Z or an offset)'
      : 'a timestamp without zone (YYYY-MM-DDThh:mm:ss and optional fraction, no Z or offset)';
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

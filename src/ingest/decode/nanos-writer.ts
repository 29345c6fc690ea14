import type { Column } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { DateTimeText, impossibleTime } from './date-time-text.ts';
import { Int64Values } from './int64-values.ts';
import { byteAt, QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { Validity } from './validity.ts';

type NanosType = { readonly kind: 'timestamp_ns' } | { readonly kind: 'timestamp_ntz_ns' };

/** timestamp_ns: an ISO 8601 string with a zone; timestamp_ntz_ns: one without. To the nanosecond, years 1677 to 2262, never rounded. */
export class NanosWriter implements ColumnWriter {
  readonly #type: NanosType;
  readonly #zoned: boolean;
  readonly #validity = new Validity();
  readonly #values = new Int64Values();
  readonly #parser = new DateTimeText(9);

  constructor(type: NanosType) {
    this.#type = type;
    this.#zoned = type.kind === 'timestamp_ns';
  }

  get length(): number {
    return this.#validity.length;
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
    this.#put(nanos);
    this.#validity.appendValid();
    return true;
  }

  appendNull(): void {
    this.#put(0n);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    return { layout: 'fixed', type: this.#type, ...counted, values: this.#values.finish(counted.length) };
  }

  #put(value: bigint): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.putBigInt(index, value);
  }
}

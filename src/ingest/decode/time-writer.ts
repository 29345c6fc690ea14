import type { Column } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { Int64Values } from './int64-values.ts';
import { byteAt, QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { Validity } from './validity.ts';

const form = 'a time (hh:mm:ss and optional fraction)';
const timePattern = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$/;

/** time: a string `hh:mm:ss[.f…]` from 00:00:00 to before 24:00:00, to the microsecond, never rounded. */
export class TimeWriter implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #values = new Int64Values();

  get length(): number {
    return this.#validity.length;
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
    this.#put((hour * 3600 + minute * 60 + second) * 1_000_000 + Number(fraction.slice(0, 6)));
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
    return { layout: 'fixed', type: { kind: 'time' }, ...counted, values: this.#values.finish(counted.length) };
  }

  #put(micros: number): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.put(index, micros);
  }
}

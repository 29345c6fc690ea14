import type { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { byteAt } from '../bytes.ts';
import { QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';

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

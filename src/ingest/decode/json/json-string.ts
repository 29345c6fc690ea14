import { byteAt } from '../bytes.ts';
import { putCodePoint, utf8SequenceLength } from '../utf8.ts';
import { BACKSLASH, LETTER_U, QUOTE } from './json-bytes.ts';

/** What copying found wrong, as a negative result. */
export const malformedString = -1;
export const invalidUtf8String = -2;

/** Takes over the content of a JSON string: escapes resolved, UTF-8 checked. */
export class StringCopy {
  /** After a copy: the index after the closing quote, or of the byte that is wrong. */
  until = 0;

  /**
   * Copies from `start` (after the opening quote) to `out[at...]`, which has room for `end - start` bytes: no escape is shorter than
   * what it stands for. Returns the index after the last byte written, or `malformedString` or `invalidUtf8String`.
   */
  copy(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
    let pos = start;
    let target = at;
    while (pos < end) {
      const byte = bytes[pos] ?? 0;
      if (byte === QUOTE) {
        this.until = pos + 1;
        return target;
      }
      this.until = pos;
      if (byte === BACKSLASH) {
        target = this.#unescape(bytes, end, out, target);
        if (target < 0) return target;
        pos = this.until;
      } else if (byte >= 0x80) {
        const length = utf8SequenceLength(bytes, pos, end);
        if (length === 0) return invalidUtf8String;
        for (let i = 0; i < length; i += 1) out[target + i] = bytes[pos + i] ?? 0;
        target += length;
        pos += length;
      } else if (byte < 0x20) {
        return malformedString;
      } else {
        out[target] = byte;
        target += 1;
        pos += 1;
      }
    }
    this.until = end;
    return malformedString;
  }

  // At a backslash (`until`); leaves `until` after the escape.
  #unescape(bytes: Uint8Array, end: number, out: Uint8Array, at: number): number {
    const pos = this.until;
    const mark = byteAt(bytes, pos + 1, end);
    if (mark !== LETTER_U) {
      const byte = simpleEscape(mark);
      if (byte < 0) return malformedString;
      out[at] = byte;
      this.until = pos + 2;
      return at + 1;
    }
    const unit = hexUnit(bytes, pos + 2, end);
    if (unit < 0) return malformedString;
    if (unit < 0xd800 || unit > 0xdfff) {
      this.until = pos + 6;
      return putCodePoint(out, at, unit);
    }
    if (unit > 0xdbff || byteAt(bytes, pos + 6, end) !== BACKSLASH || byteAt(bytes, pos + 7, end) !== LETTER_U) return invalidUtf8String;
    const low = hexUnit(bytes, pos + 8, end);
    if (low < 0) return malformedString;
    if (low < 0xdc00 || low > 0xdfff) return invalidUtf8String;
    this.until = pos + 12;
    return putCodePoint(out, at, 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
  }
}

function simpleEscape(mark: number): number {
  switch (mark) {
    case 0x22: // "
    case 0x2f: // /
    case 0x5c: // \
      return mark;
    case 0x62: // b
      return 0x08;
    case 0x66: // f
      return 0x0c;
    case 0x6e: // n
      return 0x0a;
    case 0x72: // r
      return 0x0d;
    case 0x74: // t
      return 0x09;
    default:
      return -1;
  }
}

function hexUnit(bytes: Uint8Array, start: number, end: number): number {
  if (start + 4 > end) return -1;
  let unit = 0;
  for (let i = 0; i < 4; i += 1) {
    const digit = hexDigit(bytes[start + i] ?? 0);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

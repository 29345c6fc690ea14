import { byteAt } from './bytes.ts';

/**
 * Length of the UTF-8 sequence at `at` (2 to 4), or 0 when it is not one: truncated, overlong, a surrogate, past U+10FFFF, or a stray
 * continuation byte. Call it only for a byte of 0x80 or more. RFC 3629 section 4.
 */
export function utf8SequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const second = byteAt(bytes, at + 1, end);
  if (lead < 0xe0) return isContinuation(second) ? 2 : 0;
  if (!isContinuation(second) || !isContinuation(byteAt(bytes, at + 2, end))) return 0;
  if (lead < 0xf0) {
    if (lead === 0xe0 && second < 0xa0) return 0;
    return lead === 0xed && second > 0x9f ? 0 : 3;
  }
  if (!isContinuation(byteAt(bytes, at + 3, end))) return 0;
  if (lead === 0xf0 && second < 0x90) return 0;
  return lead === 0xf4 && second > 0x8f ? 0 : 4;
}

/** True when `[start, end)` is valid UTF-8. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if ((bytes[at] ?? 0) < 0x80) {
      at += 1;
      continue;
    }
    const length = utf8SequenceLength(bytes, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Writes one code point as UTF-8 at `at` and returns the index after it; `out` has room for four bytes. */
export function putCodePoint(out: Uint8Array, at: number, codePoint: number): number {
  if (codePoint < 0x80) {
    out[at] = codePoint;
    return at + 1;
  }
  if (codePoint < 0x800) {
    out[at] = 0xc0 | (codePoint >> 6);
    out[at + 1] = 0x80 | (codePoint & 0x3f);
    return at + 2;
  }
  if (codePoint < 0x1_0000) {
    out[at] = 0xe0 | (codePoint >> 12);
    out[at + 1] = 0x80 | ((codePoint >> 6) & 0x3f);
    out[at + 2] = 0x80 | (codePoint & 0x3f);
    return at + 3;
  }
  out[at] = 0xf0 | (codePoint >> 18);
  out[at + 1] = 0x80 | ((codePoint >> 12) & 0x3f);
  out[at + 2] = 0x80 | ((codePoint >> 6) & 0x3f);
  out[at + 3] = 0x80 | (codePoint & 0x3f);
  return at + 4;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80 && byte >= 0;
}

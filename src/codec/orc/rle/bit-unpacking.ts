import type { LongWords } from './long-words.ts';

/** Bits a value by its five-bit code (ORC spec: Run Length Encoding version 2). */
export const widthOfCode: readonly number[] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56, 64,
];

/** The smallest width with a code that holds `bits` bits. */
export function closestWidth(bits: number): number {
  return widthOfCode[codeOfBits(bits)] ?? 64;
}

/** The code of the smallest width that holds `bits` bits. */
export function codeOfBits(bits: number): number {
  if (bits <= 24) return Math.max(bits, 1) - 1;
  if (bits <= 32) return 24 + ((bits - 25) >> 1);
  return 28 + ((bits - 33) >> 3);
}

/** Bytes that `count` values of `width` bits take. */
export function packedBytes(width: number, count: number): number {
  return Math.ceil((width * count) / 8);
}

/** Unpacks `count` big-endian values of `width` bits from byte `at` to values `from` on. The caller has checked that the bytes are there. */
export function unpackBits(
  bytes: Uint8Array,
  at: number,
  packed: { readonly width: number; readonly count: number },
  words: LongWords,
  from: number,
): void {
  const { width, count } = packed;
  if (width <= 24) unpackNarrow(bytes, at, width, count, words, from);
  else if (width < 32) unpackMiddle(bytes, at, width, count, words, from);
  else unpackWhole(bytes, at, width >> 3, count, words, from);
}

function unpackNarrow(bytes: Uint8Array, start: number, width: number, count: number, words: LongWords, from: number): void {
  const mask = (1 << width) - 1;
  let at = start;
  let buffer = 0;
  let held = 0;
  for (let index = 2 * from; index < 2 * (from + count); index += 2) {
    while (held < width) {
      // Bits above the held ones are left-overs and fall out at the top or to the mask.
      buffer = (buffer << 8) | (bytes[at] ?? 0);
      at += 1;
      held += 8;
    }
    held -= width;
    words[index] = (buffer >>> held) & mask;
    words[index + 1] = 0;
  }
}

/** Widths of 25 to 31 bits: the upper part and sixteen bits after it. */
function unpackMiddle(bytes: Uint8Array, start: number, width: number, count: number, words: LongWords, from: number): void {
  let at = start;
  let buffer = 0;
  let held = 0;
  const next = (bits: number): number => {
    while (held < bits) {
      buffer = (buffer << 8) | (bytes[at] ?? 0);
      at += 1;
      held += 8;
    }
    held -= bits;
    return (buffer >>> held) & ((1 << bits) - 1);
  };
  for (let index = 2 * from; index < 2 * (from + count); index += 2) {
    const upper = next(width - 16);
    words[index] = (upper << 16) | next(16);
    words[index + 1] = 0;
  }
}

/** Widths of whole bytes, four to eight. */
function unpackWhole(bytes: Uint8Array, start: number, width: number, count: number, words: LongWords, from: number): void {
  let at = start;
  for (let index = 2 * from; index < 2 * (from + count); index += 2) {
    let high = 0;
    for (let byte = width - 4; byte > 0; byte--) {
      high = (high << 8) | (bytes[at] ?? 0);
      at += 1;
    }
    words[index] = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    words[index + 1] = high;
    at += 4;
  }
}

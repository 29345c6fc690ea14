import type { ByteSink } from '../streams/byte-sink.ts';
import { packedBytes } from './bit-unpacking.ts';
import type { LongWords } from './long-words.ts';

/** Appends `count` values from the front of `words`, each in its lowest `width` bits, highest bit first; ends with a whole byte. */
export function packBits(sink: ByteSink, words: LongWords, count: number, width: number): void {
  const at = sink.reserve(packedBytes(width, count));
  if (width <= 24) packNarrow(sink.bytes, at, words, count, width);
  else if (width < 32) packMiddle(sink.bytes, at, words, count, width);
  else packWhole(sink.bytes, at, words, count, width >> 3);
}

function packNarrow(bytes: Uint8Array, start: number, words: LongWords, count: number, width: number): void {
  let at = start;
  let buffer = 0;
  let held = 0;
  for (let index = 0; index < count; index++) {
    // Bits above the held ones were written; they fall out at the top.
    buffer = (buffer << width) | (words[2 * index] ?? 0);
    held += width;
    while (held >= 8) {
      held -= 8;
      bytes[at++] = buffer >>> held;
    }
  }
  if (held > 0) bytes[at] = buffer << (8 - held);
}

/** Widths of 25 to 31 bits: the upper part and sixteen bits after it. */
function packMiddle(bytes: Uint8Array, start: number, words: LongWords, count: number, width: number): void {
  let at = start;
  let buffer = 0;
  let held = 0;
  const push = (value: number, bits: number): void => {
    buffer = (buffer << bits) | value;
    held += bits;
    while (held >= 8) {
      held -= 8;
      bytes[at++] = buffer >>> held;
    }
  };
  for (let index = 0; index < count; index++) {
    const value = words[2 * index] ?? 0;
    push(value >>> 16, width - 16);
    push(value & 0xffff, 16);
  }
  if (held > 0) bytes[at] = buffer << (8 - held);
}

/** Widths of whole bytes, four to eight. */
function packWhole(bytes: Uint8Array, start: number, words: LongWords, count: number, width: number): void {
  let at = start;
  for (let index = 0; index < count; index++) {
    const low = words[2 * index] ?? 0;
    const high = words[2 * index + 1] ?? 0;
    for (let byte = width - 1; byte >= 4; byte--) bytes[at++] = high >>> (8 * (byte - 4));
    for (let byte = 3; byte >= 0; byte--) bytes[at++] = low >>> (8 * byte);
  }
}

import { corruptOrc, unsupportedOrc } from '../orc-errors.ts';
import type { LongDecoder } from '../rle/long-decoder.ts';
import type { LongWords } from '../rle/long-words.ts';
import type { Present } from './presence.ts';

/** The most bytes of strings, or elements of lists, that a batch may have: offsets are 32-bit. */
const maxTotal = 2 ** 31 - 1;

/**
 * Reads the lengths of the values that are there and returns `length + 1` offsets; nulls are empty.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` when a batch would hold too much.
 */
export function readOffsets(lengths: LongDecoder, present: Present, place: string): Int32Array {
  const { validity, length, count } = present;
  const words: LongWords = new Int32Array(2 * count);
  lengths.read(words, 0, count);
  const offsets = new Int32Array(length + 1);
  let end = 0;
  let next = 0;
  for (let index = 0; index < length; index++) {
    if (validity === undefined || ((validity[index >> 3] ?? 0) & (1 << (index & 7))) !== 0) {
      const size = words[2 * next] ?? 0;
      if (size < 0 || words[2 * next + 1] !== 0) throw corruptOrc(place, 'a length is negative or passes 31 bits');
      end += size;
      if (end > maxTotal) throw tooLarge(place);
      next += 1;
    }
    offsets[index + 1] = end;
  }
  return offsets;
}

export function tooLarge(place: string): Error {
  return unsupportedOrc(place, `the rows of one batch hold more than ${maxTotal} bytes or elements`, 'read fewer rows a batch');
}

import { isAscii, isUtf8 } from 'node:buffer';
import { copyBytes } from '../../../schema/bitmap.ts';
import { UUID_BYTES } from '../../uuid-text.ts';
import { corruptOrc } from '../orc-errors.ts';
import { streamKind } from '../proto/numbers.ts';
import { LongDecoder } from '../rle/long-decoder.ts';
import type { LongWords } from '../rle/long-words.ts';
import { type BytesParts, formatUuids } from '../schema/uuid-text.ts';
import type { ColumnReader } from './column-reader.ts';
import { columnBase, type ReaderPlace } from './fixed-readers.ts';
import { readOffsets, tooLarge } from './lengths.ts';
import { Presence, type Present } from './presence.ts';
import { longsOf, streamOf } from './stripe.ts';

interface BytesValues {
  readonly capacity: () => number;
  readonly next: (present: Present) => BytesParts;
}

/** string, char, varchar and binary. */
export function bytesReader(place: ReaderPlace): ColumnReader {
  const { stripe, orc, type } = place;
  const where = `${stripe.place}, column ${orc.column} "${orc.path}"`;
  const presence = new Presence(stripe, orc);
  const values = stripe.encoding(orc).dictionary ? dictionaryValues(place, where) : directValues(place, where);
  const finish = finishFor(place, where);
  return {
    capacity: () => presence.capacity + values.capacity(),
    read: (length, parent) => {
      const present = presence.next(length, parent);
      return { ...columnBase(type, present), layout: 'bytes', ...finish(values.next(present), present) };
    },
  };
}

/** The check, or the change of form, that the type asks for. */
function finishFor({ orc, type }: ReaderPlace, where: string): (parts: BytesParts, present: Present) => BytesParts {
  if (type.kind === 'string' && orc.kind !== 'binary') return (parts) => requireText(parts, where);
  const fixedLength = type.kind === 'string' ? UUID_BYTES : type.kind === 'binary' ? type.fixedLength : undefined;
  if (fixedLength === undefined) return (parts) => parts;
  return (parts, present) => {
    requireLength(parts, present, fixedLength, where);
    return type.kind === 'string' ? formatUuids(parts) : parts;
  };
}

function directValues({ stripe, orc }: ReaderPlace, where: string): BytesValues {
  const data = streamOf(stripe, orc, streamKind.data);
  const lengths = longsOf(stripe, orc, streamKind.length, false);
  return {
    capacity: () => lengths.capacity,
    next: (present) => {
      const offsets = readOffsets(lengths, present, where);
      return { offsets, data: data.take(offsets[present.length] ?? 0) };
    },
  };
}

function dictionaryValues({ stripe, orc }: ReaderPlace, where: string): BytesValues {
  const { version, dictionarySize: size } = stripe.encoding(orc);
  const ids = longsOf(stripe, orc, streamKind.data, false);
  const lengths = new LongDecoder(streamOf(stripe, orc, streamKind.length), { version, signed: false });
  if (size > lengths.capacity) throw corruptOrc(where, `a dictionary of ${size} values has not so many lengths`);
  const entries = readOffsets(lengths, { length: size, count: size, nullCount: 0, validity: undefined }, where);
  const words = streamOf(stripe, orc, streamKind.dictionaryData).take(entries[size] ?? 0);
  return { capacity: () => ids.capacity, next: (present) => lookUp({ offsets: entries, data: words }, size, ids, present, where) };
}

function lookUp(dictionary: BytesParts, size: number, ids: LongDecoder, present: Present, where: string): BytesParts {
  const { length, count, validity } = present;
  const stored: LongWords = new Int32Array(2 * count);
  ids.read(stored, 0, count);
  const entries = dictionary.offsets;
  let total = 0;
  for (let index = 0; index < count; index++) {
    const id = stored[2 * index] ?? 0;
    if (id < 0 || id >= size || stored[2 * index + 1] !== 0)
      throw corruptOrc(where, `a value is outside of the dictionary of ${size} values`);
    total += (entries[id + 1] ?? 0) - (entries[id] ?? 0);
  }
  if (total > 2 ** 31 - 1) throw tooLarge(where);
  const data = new Uint8Array(total);
  const offsets = new Int32Array(length + 1);
  let end = 0;
  let next = 0;
  for (let index = 0; index < length; index++) {
    if (validity === undefined || ((validity[index >> 3] ?? 0) & (1 << (index & 7))) !== 0) {
      const id = stored[2 * next] ?? 0;
      const from = entries[id] ?? 0;
      const until = entries[id + 1] ?? 0;
      copyBytes(dictionary.data, from, until, data, end);
      end += until - from;
      next += 1;
    }
    offsets[index + 1] = end;
  }
  return { offsets, data };
}

function requireText(parts: BytesParts, where: string): BytesParts {
  const { offsets, data } = parts;
  if (isAscii(data)) return parts;
  if (!isUtf8(data)) throw corruptOrc(where, 'a string is not UTF-8');
  for (const offset of offsets) {
    if (((data[offset] ?? 0) & 0xc0) === 0x80) throw corruptOrc(where, 'a string begins within a character');
  }
  return parts;
}

function requireLength({ offsets }: BytesParts, { validity, length }: Present, fixedLength: number, where: string): void {
  for (let index = 0; index < length; index++) {
    if (validity !== undefined && ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0) continue;
    const size = (offsets[index + 1] ?? 0) - (offsets[index] ?? 0);
    if (size !== fixedLength) throw corruptOrc(where, `a value has ${size} bytes instead of ${fixedLength}`);
  }
}

import type { ColumnBase, FixedColumn } from '../../../schema/columns.ts';
import type { DataType } from '../../../schema/types.ts';
import { corruptOrc } from '../orc-errors.ts';
import { streamKind } from '../proto/numbers.ts';
import { BitDecoder } from '../rle/bits.ts';
import { ByteDecoder } from '../rle/byte-rle.ts';
import { wordsOf } from '../rle/long-words.ts';
import type { OrcType } from '../schema/orc-type.ts';
import type { ColumnReader } from './column-reader.ts';
import { Presence, type Present, spreadBits, spreadValues } from './presence.ts';
import { longsOf, type Stripe, streamOf } from './stripe.ts';

/** Where a reader reads: a column of a stripe, and what its values become. */
export interface ReaderPlace {
  readonly stripe: Stripe;
  readonly orc: OrcType;
  readonly type: DataType;
}

export function booleanReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const presence = new Presence(stripe, orc);
  const bits = new BitDecoder(streamOf(stripe, orc, streamKind.data));
  return {
    capacity: () => presence.capacity + bits.capacity,
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const dense = bits.read(present.count);
      return {
        ...columnBase(type, present),
        layout: 'boolean',
        bits: present.validity === undefined ? dense : spreadBits(dense, present.validity, length),
      };
    },
  };
}

/** Integers of 8 to 64 bits and dates, to any integer type that is no narrower. */
export function integerReader(place: ReaderPlace): ColumnReader {
  return place.orc.kind === 'tinyint' ? tinyReader(place) : wideReader(place);
}

/** A file's integers before they are narrowed. */
type IntegerArray = Int8Array | Int16Array | Int32Array;

function tinyReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const presence = new Presence(stripe, orc);
  const bytes = new ByteDecoder(streamOf(stripe, orc, streamKind.data));
  return {
    capacity: () => presence.capacity + bytes.capacity,
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const stored = new Uint8Array(length);
      bytes.read(stored, 0, present.count);
      const values = new Int8Array(stored.buffer);
      spreadValues(values, present);
      return fixedColumn(type, present, widened(type, values));
    },
  };
}

function widened(type: DataType, values: Int8Array): FixedColumn['values'] {
  if (type.kind === 'byte') return values;
  if (type.kind === 'short') return Int16Array.from(values);
  if (type.kind === 'integer') return Int32Array.from(values);
  const longs = new BigInt64Array(values.length);
  const words = wordsOf(longs);
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    words[2 * index] = value;
    words[2 * index + 1] = value >> 31;
  }
  return longs;
}

function wideReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const presence = new Presence(stripe, orc);
  const longs = longsOf(stripe, orc, streamKind.data, true);
  const narrow = type.kind === 'short' ? Int16Array : type.kind === 'integer' || type.kind === 'date' ? Int32Array : undefined;
  return {
    capacity: () => presence.capacity + longs.capacity,
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const values = new BigInt64Array(length);
      const words = wordsOf(values);
      longs.read(words, 0, present.count);
      if (narrow === undefined) {
        spreadValues(words, present, 2);
        return fixedColumn(type, present, values);
      }
      const target: IntegerArray = new narrow(length);
      narrowWords(words, present.count, target, `${stripe.place}, column ${orc.column} "${orc.path}"`);
      spreadValues(target, present);
      return fixedColumn(type, present, target);
    },
  };
}

function narrowWords(words: Int32Array, count: number, target: IntegerArray, place: string): void {
  for (let index = 0; index < count; index++) {
    const low = words[2 * index] ?? 0;
    target[index] = low;
    if (target[index] !== low || words[2 * index + 1] !== low >> 31) throw corruptOrc(place, 'a value has more bits than its type');
  }
}

/** float and double; a float may become a double. */
export function floatingReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const presence = new Presence(stripe, orc);
  const source = streamOf(stripe, orc, streamKind.data);
  const width = orc.kind === 'float' ? 4 : 8;
  return {
    capacity: () => presence.capacity + Math.floor(source.remaining / width),
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const bytes = source.take(width * present.count);
      // Moved as integers: a NaN keeps its bits.
      const words = new Int32Array((length * width) / 4);
      new Uint8Array(words.buffer).set(bytes);
      spreadValues(words, present, width === 4 ? 1 : 2);
      const values = width === 4 ? new Float32Array(words.buffer) : new Float64Array(words.buffer);
      return fixedColumn(type, present, type.kind === 'double' && width === 4 ? Float64Array.from(values) : values);
    },
  };
}

/** What all columns have. */
export function columnBase(type: DataType, { length, nullCount, validity }: Present): ColumnBase {
  return { type, length, nullCount, validity };
}

export function fixedColumn(type: DataType, present: Present, values: FixedColumn['values']): FixedColumn {
  return { ...columnBase(type, present), layout: 'fixed', values };
}

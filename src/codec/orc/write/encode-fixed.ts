import type { BooleanColumn, DecimalColumn, FixedColumn } from '../../../schema/columns.ts';
import { unscaledAt } from '../../rows.ts';
import { encodingKind, streamKind } from '../proto/numbers.ts';
import { type LongWords, longAt, numberAt, wordsOf } from '../rle/long-words.ts';
import type { ByteSink } from '../streams/byte-sink.ts';
import { encodeTimestamps } from './encode-timestamps.ts';
import { bitStream, byteStream, longStream, plainStream } from './encoded-stream.ts';
import type { EncodedValues } from './encoded-values.ts';
import { type Picked, positionOf } from './picked.ts';
import type { Bounds } from './statistics.ts';
import { floatingBounds, longBounds } from './value-bounds.ts';

/** Numbers, dates, times and timestamps. */
export function encodeFixed(picked: Picked<FixedColumn>): EncodedValues {
  switch (picked.column.type.kind) {
    case 'float':
    case 'double':
      return encodeFloating(picked);
    case 'timestamp':
    case 'timestamp_ntz':
      return encodeTimestamps(longWords(picked), picked.groups, 'micros');
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return encodeTimestamps(longWords(picked), picked.groups, 'nanos');
    case 'byte':
      return encodeTiny(picked);
    default:
      return encodeIntegers(picked);
  }
}

export function encodeBoolean(picked: Picked<BooleanColumn>): EncodedValues {
  const { bits } = picked.column;
  const dense = new Uint8Array((picked.count + 7) >> 3);
  const isTrue = (position: number): boolean => ((bits[position >> 3] ?? 0) & (1 << (position & 7))) !== 0;
  for (let index = 0; index < picked.count; index++) {
    if (isTrue(positionOf(picked, index))) dense[index >> 3] = (dense[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return {
    encoding: encodingKind.direct,
    streams: [bitStream(streamKind.data, dense, picked.groups)],
    statistics: (from, until) => {
      let trues = 0;
      for (let index = from; index < until; index++) trues += ((dense[index >> 3] ?? 0) >> (index & 7)) & 1;
      return { kind: 'boolean', trues };
    },
  };
}

/** Each value is a zigzag varint of up to 128 bits; all have the scale of the type. */
export function encodeDecimal(picked: Picked<DecimalColumn>): EncodedValues {
  const { words, type } = picked.column;
  const scale = type.kind === 'decimal' ? type.scale : 0;
  const pairs = wordsOf(words);
  const scales: LongWords = new Int32Array(2 * picked.count);
  for (let index = 0; index < picked.count; index++) scales[2 * index] = scale;
  const digits = plainStream(streamKind.data, picked.groups, (sink, from, until) => {
    for (let index = from; index < until; index++) writeDecimal(sink, pairs, positionOf(picked, index));
  });
  return {
    encoding: encodingKind.directV2,
    streams: [digits, longStream(streamKind.secondary, scales, picked.groups, true)],
    statistics: (from, until) => ({ kind: 'decimal', scale, bounds: decimalBounds(picked, from, until) }),
  };
}

function encodeIntegers(picked: Picked<FixedColumn>): EncodedValues {
  const words = longWords(picked);
  const kind = picked.column.type.kind === 'date' ? 'date' : 'integer';
  return {
    encoding: encodingKind.directV2,
    streams: [longStream(streamKind.data, words, picked.groups, true)],
    statistics: (from, until) => ({ kind, bounds: longBounds(words, from, until) }),
  };
}

function encodeTiny(picked: Picked<FixedColumn>): EncodedValues {
  const words = longWords(picked);
  const bytes = new Uint8Array(picked.count);
  for (let index = 0; index < picked.count; index++) bytes[index] = words[2 * index] ?? 0;
  return {
    encoding: encodingKind.direct,
    streams: [byteStream(streamKind.data, bytes, picked.groups)],
    statistics: (from, until) => ({ kind: 'integer', bounds: longBounds(words, from, until) }),
  };
}

function encodeFloating(picked: Picked<FixedColumn>): EncodedValues {
  const values = denseFloats(picked);
  const width = values.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const stream = plainStream(streamKind.data, picked.groups, (sink, from, until) => {
    sink.append(bytes.subarray(width * from, width * until));
  });
  return {
    encoding: encodingKind.direct,
    streams: [stream],
    statistics: (from, until) => ({ kind: 'floating', ...floatingBounds(values.subarray(from, until)) }),
  };
}

function denseFloats(picked: Picked<FixedColumn>): Float32Array | Float64Array {
  const { column, at, from, count } = picked;
  const { values } = column;
  const floats = values instanceof Float32Array || values instanceof Float64Array ? values : new Float64Array(0);
  if (at === undefined) return floats.subarray(from, from + count);
  const dense = floats instanceof Float32Array ? new Float32Array(count) : new Float64Array(count);
  for (let index = 0; index < count; index++) dense[index] = floats[at[index] ?? 0] ?? 0;
  return dense;
}

/** The values as pairs of words, one after the other. */
function longWords(picked: Picked<FixedColumn>): LongWords {
  const { column, at, from, count } = picked;
  const { values } = column;
  if (values instanceof BigInt64Array) {
    const words = wordsOf(values);
    if (at === undefined) return words.subarray(2 * from, 2 * (from + count));
    const dense: LongWords = new Int32Array(2 * count);
    for (let index = 0; index < count; index++) {
      const position = at[index] ?? 0;
      dense[2 * index] = words[2 * position] ?? 0;
      dense[2 * index + 1] = words[2 * position + 1] ?? 0;
    }
    return dense;
  }
  const dense: LongWords = new Int32Array(2 * count);
  for (let index = 0; index < count; index++) {
    const value = values[positionOf(picked, index)] ?? 0;
    dense[2 * index] = value;
    dense[2 * index + 1] = value < 0 ? -1 : 0;
  }
  return dense;
}

// Decimals below this, doubled, are exact as doubles.
const safeUnscaled = 2 ** 52;

function writeDecimal(sink: ByteSink, pairs: LongWords, position: number): void {
  const low = numberAt(pairs, 2 * position);
  if (Math.abs(low) < safeUnscaled && numberAt(pairs, 2 * position + 1) === (low < 0 ? -1 : 0)) {
    let folded = low < 0 ? -2 * low - 1 : 2 * low;
    for (; folded >= 0x80; folded = Math.floor(folded / 0x80)) sink.byte((folded % 0x80) | 0x80);
    sink.byte(folded);
    return;
  }
  const value = (longAt(pairs, 2 * position + 1) << 64n) | BigInt.asUintN(64, longAt(pairs, 2 * position));
  let folded = value < 0n ? -2n * value - 1n : 2n * value;
  for (; folded >= 0x80n; folded >>= 7n) sink.byte(Number(folded & 0x7fn) | 0x80);
  sink.byte(Number(folded));
}

function decimalBounds(picked: Picked<DecimalColumn>, from: number, until: number): Bounds<bigint> | undefined {
  if (from === until) return undefined;
  const { words } = picked.column;
  let least = positionOf(picked, from);
  let most = least;
  for (let index = from + 1; index < until; index++) {
    const position = positionOf(picked, index);
    if (isLess(words, position, least)) least = position;
    else if (isLess(words, most, position)) most = position;
  }
  return { lower: unscaledAt(words, least), upper: unscaledAt(words, most) };
}

function isLess(words: BigInt64Array, left: number, right: number): boolean {
  const leftHigh = words[2 * left + 1] ?? 0n;
  const rightHigh = words[2 * right + 1] ?? 0n;
  if (leftHigh !== rightHigh) return leftHigh < rightHigh;
  return BigInt.asUintN(64, words[2 * left] ?? 0n) < BigInt.asUintN(64, words[2 * right] ?? 0n);
}

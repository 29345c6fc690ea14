import type { Range } from '../../../schema/slice.ts';
import type { ByteSink } from '../streams/byte-sink.ts';
import { packBits } from './bit-packing.ts';
import { closestWidth, codeOfBits, packedBytes } from './bit-unpacking.ts';
import { type LongWords, numberAt, setNumber } from './long-words.ts';
import { maxRunLength } from './run-v2.ts';

const minRepeat = 3;
const maxShortRepeat = 10;
// Equal values shorter than this do not end a run of literals: the next header would cost more.
const minRepeatWithin = 8;

/**
 * Appends values in run-length encoding version 2: equal values as a short repeat or a step of zero, others as direct or delta runs,
 * whichever is shorter. Patched base is left to other writers.
 */
export function encodeLongs(sink: ByteSink, words: LongWords, { from, until }: Range, signed: boolean): void {
  let pending = from;
  let at = from;
  while (at < until) {
    const end = repeatEnd(words, at, Math.min(until, at + maxRunLength));
    const repeats = end - at;
    if (repeats >= (pending === at ? minRepeat : minRepeatWithin)) {
      literals(sink, words, pending, at, signed);
      repeat(sink, words, at, repeats, signed);
      pending = end;
    } else if (end - pending >= maxRunLength) {
      literals(sink, words, pending, pending + maxRunLength, signed);
      pending += maxRunLength;
    }
    at = end;
  }
  literals(sink, words, pending, until, signed);
}

function repeatEnd(words: LongWords, from: number, until: number): number {
  const low = words[2 * from];
  const high = words[2 * from + 1];
  let end = from + 1;
  while (end < until && words[2 * end] === low && words[2 * end + 1] === high) end += 1;
  return end;
}

function repeat(sink: ByteSink, words: LongWords, at: number, count: number, signed: boolean): void {
  const [low, high] = folded(words[2 * at] ?? 0, words[2 * at + 1] ?? 0, signed);
  if (count > maxShortRepeat) {
    deltaHeader(sink, 0, count);
    varint(sink, low, high);
    sink.byte(0);
    return;
  }
  const width = Math.max(1, Math.ceil(bitsOf(low, high) / 8));
  sink.byte(((width - 1) << 3) | (count - minRepeat));
  for (let byte = width - 1; byte >= 0; byte--) sink.byte((byte >= 4 ? high >>> (8 * (byte - 4)) : low >>> (8 * byte)) & 0xff);
}

const scratch: LongWords = new Int32Array(2 * maxRunLength);

/** Up to a run of values that do not repeat much. */
function literals(sink: ByteSink, words: LongWords, from: number, until: number, signed: boolean): void {
  const count = until - from;
  if (count === 0) return;
  let lows = 0;
  let highs = 0;
  for (let index = 0; index < count; index++) {
    const low = words[2 * (from + index)] ?? 0;
    const high = words[2 * (from + index) + 1] ?? 0;
    const sign = signed ? high >> 31 : 0;
    const foldedLow = signed ? (low << 1) ^ sign : low;
    const foldedHigh = signed ? ((high << 1) | (low >>> 31)) ^ sign : high;
    scratch[2 * index] = foldedLow;
    scratch[2 * index + 1] = foldedHigh;
    lows |= foldedLow;
    highs |= foldedHigh;
  }
  const bits = bitsOf(lows, highs);
  const width = closestWidth(bits);
  const directBytes = packedBytes(width, count);
  if (bits <= safeBits && count > 2) {
    const steps = stepsOf(words, from, until);
    if (steps !== undefined && steps.byteCount < directBytes) {
      delta(sink, steps, count);
      return;
    }
  }
  sink.byte(0x40 | (codeOfBits(bits) << 1) | ((count - 1) >> 8));
  sink.byte((count - 1) & 0xff);
  packBits(sink, scratch, count, width);
}

// Values of so many bits, folded, and their differences are exact as doubles.
const safeBits = 52;

interface Steps {
  /** First value, folded. */
  readonly low: number;
  readonly high: number;
  readonly first: number;
  /** Sizes of the steps after the first, `undefined` when all are as the first. */
  readonly sizes: LongWords | undefined;
  readonly bits: number;
  readonly byteCount: number;
}

const stepScratch: LongWords = new Int32Array(2 * maxRunLength);

/** The steps from value to value when they all go one way; `undefined` otherwise. */
function stepsOf(words: LongWords, from: number, until: number): Steps | undefined {
  let previous = numberAt(words, from + 1);
  const first = previous - numberAt(words, from);
  let equal = true;
  let largest = 0;
  for (let index = from + 2; index < until; index++) {
    const value = numberAt(words, index);
    const step = value - previous;
    // A first step of zero cannot tell that the others go down.
    if (first < 0 ? step > 0 : step < 0) return undefined;
    const size = first < 0 ? -step : step;
    setNumber(stepScratch, index - from - 2, size);
    if (step !== first) equal = false;
    if (size > largest) largest = size;
    previous = value;
  }
  const bits = equal ? 0 : Math.max(2, bitsOf(largest | 0, Math.floor(largest / 2 ** 32)));
  const low = scratch[0] ?? 0;
  const high = scratch[1] ?? 0;
  const heads = varintBytes(bitsOf(low, high)) + varintBytes(bitsOfNumber(Math.abs(first)) + 1);
  const byteCount = heads + (equal ? 0 : packedBytes(closestWidth(bits), until - from - 2));
  return { low, high, first, sizes: equal ? undefined : stepScratch, bits, byteCount };
}

function delta(sink: ByteSink, steps: Steps, count: number): void {
  deltaHeader(sink, steps.sizes === undefined ? 0 : codeOfBits(steps.bits), count);
  varint(sink, steps.low, steps.high);
  const folded = steps.first < 0 ? -2 * steps.first - 1 : 2 * steps.first;
  varint(sink, folded | 0, Math.floor(folded / 2 ** 32));
  if (steps.sizes !== undefined) packBits(sink, steps.sizes, count - 2, closestWidth(steps.bits));
}

function deltaHeader(sink: ByteSink, code: number, count: number): void {
  sink.byte(0xc0 | (code << 1) | ((count - 1) >> 8));
  sink.byte((count - 1) & 0xff);
}

/** Zigzag of a signed value: 0, -1, 1, -2 become 0, 1, 2, 3. */
function folded(low: number, high: number, signed: boolean): readonly [number, number] {
  if (!signed) return [low, high];
  const sign = high >> 31;
  return [(low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign];
}

function bitsOf(low: number, high: number): number {
  return high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
}

function bitsOfNumber(value: number): number {
  return bitsOf(value | 0, Math.floor(value / 2 ** 32));
}

function varintBytes(bits: number): number {
  return Math.max(1, Math.ceil(bits / 7));
}

function varint(sink: ByteSink, low: number, high: number): void {
  let lower = low;
  let upper = high;
  while (upper !== 0 || (lower & ~0x7f) !== 0) {
    sink.byte((lower & 0x7f) | 0x80);
    lower = (lower >>> 7) | (upper << 25);
    upper >>>= 7;
  }
  sink.byte(lower);
}

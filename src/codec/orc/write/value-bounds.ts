import type { BytesColumn } from '../../../schema/columns.ts';
import { compareBytes } from '../../byte-order.ts';
import { type LongWords, longAt } from '../rle/long-words.ts';
import { type Picked, positionOf } from './picked.ts';
import type { Bounds } from './statistics.ts';

/** Bounds of `words[from, until)`; `undefined` for none. */
export function longBounds(words: LongWords, from: number, until: number): Bounds<bigint> | undefined {
  if (from === until) return undefined;
  let least = from;
  let most = from;
  for (let index = from + 1; index < until; index++) {
    if (isLess(words, index, least)) least = index;
    else if (isLess(words, most, index)) most = index;
  }
  return { lower: longAt(words, least), upper: longAt(words, most) };
}

function isLess(words: LongWords, left: number, right: number): boolean {
  const leftHigh = words[2 * left + 1] ?? 0;
  const rightHigh = words[2 * right + 1] ?? 0;
  return leftHigh !== rightHigh ? leftHigh < rightHigh : (words[2 * left] ?? 0) >>> 0 < (words[2 * right] ?? 0) >>> 0;
}

/** Bounds without NaN, and the sum with it. Zeros are widened to -0 and 0, which compare as different in some readers. */
export function floatingBounds(values: Float32Array | Float64Array): { readonly bounds: Bounds<number> | undefined; readonly sum: number } {
  let lower = Number.POSITIVE_INFINITY;
  let upper = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let seen = false;
  for (const value of values) {
    sum += value;
    if (Number.isNaN(value)) continue;
    seen = true;
    if (value < lower) lower = value;
    if (value > upper) upper = value;
  }
  return { bounds: seen ? { lower: lower === 0 ? -0 : lower, upper: upper === 0 ? 0 : upper } : undefined, sum };
}

/** The first and the last text of the picked `[from, until)` in the order of bytes; `undefined` for none. */
export function textBounds(picked: Picked<BytesColumn>, from: number, until: number): Bounds<Uint8Array> | undefined {
  if (from === until) return undefined;
  const { data, offsets } = picked.column;
  const rangeAt = (index: number): { readonly from: number; readonly until: number } => {
    const position = positionOf(picked, index);
    return { from: offsets[position] ?? 0, until: offsets[position + 1] ?? 0 };
  };
  let least = rangeAt(from);
  let most = least;
  for (let index = from + 1; index < until; index++) {
    const range = rangeAt(index);
    if (compareBytes(data, range, data, least) < 0) least = range;
    else if (compareBytes(data, range, data, most) > 0) most = range;
  }
  return { lower: data.slice(least.from, least.until), upper: data.slice(most.from, most.until) };
}

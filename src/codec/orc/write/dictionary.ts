import type { BytesColumn } from '../../../schema/columns.ts';
import type { Range } from '../../../schema/slice.ts';
import { compareBytes } from '../../byte-order.ts';
import type { LongWords } from '../rle/long-words.ts';
import { type Picked, positionOf } from './picked.ts';

/** The distinct values of a column in the order of their bytes, and the number of each picked value. */
export interface Dictionary {
  readonly entries: readonly { readonly from: number; readonly until: number }[];
  readonly ids: LongWords;
}

// With more distinct values than this share of all a dictionary does not pay.
const maxShare = 0.5;
// The share is looked at after so many values.
const checkEvery = 4096;
const firstSlots = 1024;

/** The dictionary of the picked values; `undefined` when it would not pay. */
export function dictionaryOf(picked: Picked<BytesColumn>): Dictionary | undefined {
  if (picked.count === 0) return undefined;
  const distinct = new DistinctValues(picked.column);
  const numbers = new Int32Array(picked.count);
  for (let index = 0; index < picked.count; index++) {
    numbers[index] = distinct.numberOf(positionOf(picked, index));
    if ((index + 1) % checkEvery === 0 && distinct.size > maxShare * (index + 1)) return undefined;
  }
  if (distinct.size > Math.max(1, maxShare * picked.count)) return undefined;
  const { data } = picked.column;
  const order = distinct.ranges.map((range, number) => ({ range, number }));
  order.sort((left, right) => compareBytes(data, left.range, data, right.range));
  const ranks = new Int32Array(order.length);
  for (const [rank, { number }] of order.entries()) ranks[number] = rank;
  const ids: LongWords = new Int32Array(2 * picked.count);
  for (let index = 0; index < picked.count; index++) ids[2 * index] = ranks[numbers[index] ?? 0] ?? 0;
  return { entries: order.map(({ range }) => range), ids };
}

/** Numbers values in the order of their first occurrence; a hash table with open addresses. */
class DistinctValues {
  readonly #offsets: Int32Array;
  readonly #data: Uint8Array;
  readonly #ranges: Range[] = [];
  readonly #hashes: number[] = [];
  /** Numbers plus one; 0 is free. */
  #slots = new Int32Array(firstSlots);

  constructor({ offsets, data }: BytesColumn) {
    this.#offsets = offsets;
    this.#data = data;
  }

  get size(): number {
    return this.#ranges.length;
  }

  /** Where the bytes of each value are. */
  get ranges(): readonly Range[] {
    return this.#ranges;
  }

  numberOf(position: number): number {
    const from = this.#offsets[position] ?? 0;
    const until = this.#offsets[position + 1] ?? 0;
    const hash = this.#hash(from, until);
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = this.#slots[slot] ?? 0;
      if (held === 0) return this.#add(slot, hash, { from, until });
      if (this.#hashes[held - 1] === hash && this.#equals(held - 1, from, until)) return held - 1;
    }
  }

  #add(slot: number, hash: number, range: Range): number {
    const number = this.#ranges.length;
    this.#ranges.push(range);
    this.#hashes.push(hash);
    this.#slots[slot] = number + 1;
    if (2 * this.#ranges.length > this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (const [number, hash] of this.#hashes.entries()) {
      let slot = hash & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }

  #equals(number: number, from: number, until: number): boolean {
    const range = this.#ranges[number];
    if (range === undefined || range.until - range.from !== until - from) return false;
    for (let index = 0; index < until - from; index++) if (this.#data[range.from + index] !== this.#data[from + index]) return false;
    return true;
  }

  /** FNV-1a, with its upper bits folded into those that choose the slot. */
  #hash(from: number, until: number): number {
    let hash = 0x811c9dc5;
    for (let at = from; at < until; at++) hash = Math.imul(hash ^ (this.#data[at] ?? 0), 0x01000193);
    return hash ^ (hash >>> 15);
  }
}

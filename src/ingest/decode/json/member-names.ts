import { sameBytes } from '../bytes.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Names are learned, so many at most and none that is longer: payloads may have other members in each record. */
const maxLearned = 64;
const maxLearnedLength = 128;

/**
 * The member names of one object type, found by bytes. A payload mostly lists its members in the order of the payload before it, so
 * `follows` compares the text at the cursor with one expected name, four bytes at a time; `find` looks any name up.
 */
export class MemberNames {
  readonly #names: Uint8Array[];
  readonly #room: number;
  /** Per name the text `"name":` in 32-bit words, back to back; the last word overlaps the one before it. */
  #words: Int32Array = new Int32Array(0);
  #wordsStart: Int32Array = new Int32Array(0);
  /** Byte length of `"name":`, 0 for names that JSON must escape (they never match as they are). */
  #patternLength: Int32Array = new Int32Array(0);
  /** Open addressing: index + 1 of a name, 0 where free. */
  #slots: Int32Array = new Int32Array(0);

  constructor(names: readonly string[]) {
    const encoder = new TextEncoder();
    this.#names = names.map((name) => encoder.encode(name));
    this.#room = names.length + maxLearned;
    this.#index();
  }

  /** Takes in the name in `bytes[start, end)`, valid UTF-8, that `find` has not found; its index from now on, or -1 when there is no room for it. */
  learn(bytes: Uint8Array, start: number, end: number): number {
    if (this.#names.length === this.#room || end - start > maxLearnedLength) return -1;
    this.#names.push(bytes.slice(start, end));
    this.#index();
    return this.#names.length - 1;
  }

  #index(): void {
    const names = this.#names;
    this.#wordsStart = new Int32Array(names.length + 1);
    this.#patternLength = new Int32Array(names.length);
    const words: number[] = [];
    names.forEach((bytes, index) => {
      const pattern = isPlain(utf8.decode(bytes)) ? Buffer.concat([Buffer.from('"'), bytes, Buffer.from('":')]) : undefined;
      this.#patternLength[index] = pattern?.length ?? 0;
      this.#wordsStart[index] = words.length;
      if (pattern !== undefined) words.push(...wordsOf(pattern));
    });
    this.#wordsStart[names.length] = words.length;
    this.#words = Int32Array.from(words);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(names.length * 2 + 2)));
    names.forEach((name, index) => {
      let slot = hashOf(name, 0, name.length) & (this.#slots.length - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = index + 1;
    });
  }

  /** Consumes `"name":` of name `index` when it stands at the cursor, without any whitespace or escape. */
  follows(cursor: JsonCursor, index: number): boolean {
    const length = this.#patternLength[index] ?? 0;
    const { pos, view } = cursor;
    if (length === 0 || pos + length > cursor.end) return false;
    const words = this.#words;
    const last = (this.#wordsStart[index + 1] ?? 0) - 1;
    let at = pos;
    for (let word = this.#wordsStart[index] ?? 0; word < last; word += 1) {
      if (view.getInt32(at, true) !== words[word]) return false;
      at += 4;
    }
    if (view.getInt32(pos + length - 4, true) !== words[last]) return false;
    cursor.pos = pos + length;
    return true;
  }

  /** The index of the name in `bytes[start, end)`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    let slot = hashOf(bytes, start, end) & (this.#slots.length - 1);
    for (;;) {
      const index = (this.#slots[slot] ?? 0) - 1;
      if (index < 0) return -1;
      const name = this.#names[index];
      if (name !== undefined && name.length === end - start && sameBytes(bytes, start, name, 0, name.length)) return index;
      slot = (slot + 1) & (this.#slots.length - 1);
    }
  }
}

// A name that a JSON text can hold without escapes and that gives a pattern of a whole word at least.
function isPlain(name: string): boolean {
  return name.length > 0 && !/["\\\u0000-\u001f\p{Cs}]/u.test(name);
}

function wordsOf(pattern: Uint8Array): readonly number[] {
  const view = new DataView(pattern.buffer, pattern.byteOffset, pattern.byteLength);
  const words: number[] = [];
  for (let at = 0; at + 4 < pattern.length; at += 4) words.push(view.getInt32(at, true));
  words.push(view.getInt32(pattern.length - 4, true));
  return words;
}

// FNV-1a.
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c_9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x0100_0193);
  return hash ^ (hash >>> 15);
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

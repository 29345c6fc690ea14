import { serviceError } from '../base/errors.ts';
import { type Column, isValid } from '../schema/columns.ts';

export interface Grouping {
  /** A row's group, `0 <= code < count`, numbered in order of first appearance. */
  readonly codes: Int32Array;
  readonly count: number;
}

/**
 * Tells which rows have equal values in all of the columns: values are equal when their bits are; null is a value of its own.
 *
 * @param onGroups told how many groups there are so far; may throw.
 */
export function groupRows(columns: readonly Column[], rowCount: number, onGroups: (count: number) => void): Grouping {
  let groups: Grouping = { codes: new Int32Array(rowCount), count: rowCount === 0 ? 0 : 1 };
  for (const column of columns) groups = refine(groups, groupsOf(viewOf(column), rowCount, onGroups), onGroups);
  return groups;
}

function refine(outer: Grouping, inner: Grouping, onGroups: (count: number) => void): Grouping {
  if (outer.count <= 1) return inner;
  if (inner.count <= 1) return outer;
  const { length } = outer.codes;
  const pairs = new Int32Array(2 * length);
  for (let row = 0; row < length; row++) {
    pairs[2 * row] = outer.codes[row] ?? 0;
    pairs[2 * row + 1] = inner.codes[row] ?? 0;
  }
  return groupsOf(wordView(pairs, 2), length, onGroups);
}

/** What tells values apart. */
interface ValueView {
  readonly hash: (row: number) => number;
  readonly same: (left: number, right: number) => boolean;
}

const initialSlots = 1_024;

/** Open addressing: a slot has one more than the code of a group, whose first row stands for its value. */
function groupsOf({ hash, same }: ValueView, rowCount: number, onGroups: (count: number) => void): Grouping {
  const codes = new Int32Array(rowCount);
  const firstRows: number[] = [];
  const hashes: number[] = [];
  let slots = new Int32Array(initialSlots);
  let mask = initialSlots - 1;
  for (let row = 0; row < rowCount; row++) {
    // Neighbours often share the value.
    if (row > 0 && same(row, row - 1)) {
      codes[row] = codes[row - 1] ?? 0;
      continue;
    }
    const own = hash(row);
    let slot = own & mask;
    let code = (slots[slot] ?? 0) - 1;
    while (code >= 0 && (hashes[code] !== own || !same(row, firstRows[code] ?? 0))) {
      slot = (slot + 1) & mask;
      code = (slots[slot] ?? 0) - 1;
    }
    if (code < 0) {
      code = firstRows.length;
      onGroups(code + 1);
      firstRows.push(row);
      hashes.push(own);
      slots[slot] = code + 1;
      if (2 * firstRows.length > slots.length) {
        slots = placed(hashes, 4 * slots.length);
        mask = slots.length - 1;
      }
    }
    codes[row] = code;
  }
  return { codes, count: firstRows.length };
}

function placed(hashes: readonly number[], size: number): Int32Array<ArrayBuffer> {
  const slots = new Int32Array(size);
  const mask = size - 1;
  for (let code = 0; code < hashes.length; code++) {
    let slot = (hashes[code] ?? 0) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = code + 1;
  }
  return slots;
}

const nullHash = 0x5bd1e995;

function viewOf(column: Column): ValueView {
  const view = valuesOf(column);
  if (column.nullCount === 0) return view;
  const valid = (row: number): boolean => isValid(column, row);
  return {
    hash: (row) => (valid(row) ? view.hash(row) : nullHash),
    same: (left, right) => (valid(left) && valid(right) ? view.same(left, right) : valid(left) === valid(right)),
  };
}

function valuesOf(column: Column): ValueView {
  switch (column.layout) {
    case 'bytes': {
      const { data, offsets } = column;
      return byteView(data, (row) => offsets[row] ?? 0);
    }
    case 'fixed':
      return fixedView(column.values, column.values.BYTES_PER_ELEMENT);
    case 'decimal':
      return fixedView(column.words, 16);
    case 'boolean': {
      const data = Uint8Array.from({ length: column.length }, (_, row) => ((column.bits[row >> 3] ?? 0) >> (row & 7)) & 1);
      return fixedView(data, 1);
    }
    default:
      throw serviceError.unsupported('PARTITION_TYPE_UNSUPPORTED', `a ${column.layout} column cannot partition a table`);
  }
}

function fixedView({ buffer, byteOffset, byteLength }: ArrayBufferView, width: number): ValueView {
  const wordBytes = Int32Array.BYTES_PER_ELEMENT;
  if (width % wordBytes === 0) return wordView(new Int32Array(buffer, byteOffset, byteLength / wordBytes), width / wordBytes);
  return byteView(new Uint8Array(buffer, byteOffset, byteLength), (row) => row * width);
}

/** Values of so many words each. */
function wordView(words: Int32Array, width: number): ValueView {
  return {
    hash: (row) => {
      let hash = nullHash;
      for (let at = row * width; at < (row + 1) * width; at++) hash = mixed(hash ^ (words[at] ?? 0));
      return hash;
    },
    same: (left, right) => {
      for (let at = 0; at < width; at++) if (words[left * width + at] !== words[right * width + at]) return false;
      return true;
    },
  };
}

/** Every bit of a word reaches the low ones, by which slots are chosen. */
function mixed(word: number): number {
  const half = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  const whole = Math.imul(half ^ (half >>> 15), 0x846ca68b);
  return whole ^ (whole >>> 16);
}

/** `from`: where the bytes of a row begin; they end where the next row's begin. */
function byteView(data: Uint8Array, from: (row: number) => number): ValueView {
  return {
    hash: (row) => {
      let hash = 0x811c9dc5;
      for (let at = from(row), until = from(row + 1); at < until; at++) hash = Math.imul(hash ^ (data[at] ?? 0), 0x01000193);
      return mixed(hash);
    },
    same: (left, right) => {
      const [leftFrom, rightFrom] = [from(left), from(right)];
      const length = from(left + 1) - leftFrom;
      if (length !== from(right + 1) - rightFrom) return false;
      for (let at = 0; at < length; at++) if (data[leftFrom + at] !== data[rightFrom + at]) return false;
      return true;
    },
  };
}

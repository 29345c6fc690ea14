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
  for (const column of columns) groups = refine(groups, codesOf(column, onGroups), rowCount, onGroups);
  return groups;
}

function refine(outer: Grouping, inner: Grouping, rowCount: number, onGroups: (count: number) => void): Grouping {
  if (outer.count <= 1) return inner;
  if (inner.count <= 1) return outer;
  const codes = new Int32Array(rowCount);
  const known = new Map<number, number>();
  for (let row = 0; row < rowCount; row++) {
    const pair = (outer.codes[row] ?? 0) * inner.count + (inner.codes[row] ?? 0);
    let code = known.get(pair);
    if (code === undefined) {
      code = known.size;
      onGroups(code + 1);
      known.set(pair, code);
    }
    codes[row] = code;
  }
  return { codes, count: known.size };
}

function codesOf(column: Column, onGroups: (count: number) => void): Grouping {
  const codes = new Int32Array(column.length);
  const view = valuesOf(column);
  // Hash to the codes that have it; a code's first row stands for its value.
  const byHash = new Map<number, number[]>();
  const firstRows: number[] = [];
  let previous = -1;
  for (let row = 0; row < column.length; row++) {
    // Neighbours often share the value.
    if (previous >= 0 && view.same(row, row - 1)) {
      codes[row] = previous;
      continue;
    }
    const hash = view.hash(row);
    const candidates = byHash.get(hash) ?? [];
    let code = candidates.find((candidate) => view.same(row, firstRows[candidate] ?? 0));
    if (code === undefined) {
      code = firstRows.length;
      onGroups(code + 1);
      firstRows.push(row);
      byHash.set(hash, [...candidates, code]);
    }
    codes[row] = code;
    previous = code;
  }
  return { codes, count: firstRows.length };
}

interface ValueView {
  readonly hash: (row: number) => number;
  readonly same: (left: number, right: number) => boolean;
}

const nullHash = 0x5bd1e995;

function valuesOf(column: Column): ValueView {
  const bytes = bytesOf(column);
  const valid = (row: number): boolean => isValid(column, row);
  return {
    hash: (row) => {
      if (!valid(row)) return nullHash;
      let hash = 0x811c9dc5;
      for (let at = bytes.from(row); at < bytes.from(row + 1); at++) hash = Math.imul(hash ^ (bytes.data[at] ?? 0), 0x01000193);
      return hash;
    },
    same: (left, right) => {
      if (!valid(left) || !valid(right)) return !valid(left) && !valid(right);
      const length = bytes.from(left + 1) - bytes.from(left);
      if (length !== bytes.from(right + 1) - bytes.from(right)) return false;
      const [leftFrom, rightFrom] = [bytes.from(left), bytes.from(right)];
      for (let at = 0; at < length; at++) if (bytes.data[leftFrom + at] !== bytes.data[rightFrom + at]) return false;
      return true;
    },
  };
}

interface ByteView {
  readonly data: Uint8Array;
  /** Where the bytes of a row begin; they end where the next row's begin. */
  readonly from: (row: number) => number;
}

function bytesOf(column: Column): ByteView {
  switch (column.layout) {
    case 'bytes': {
      const { data, offsets } = column;
      return { data, from: (row) => offsets[row] ?? 0 };
    }
    case 'fixed':
      return fixedBytes(column.values, column.values.BYTES_PER_ELEMENT);
    case 'decimal':
      return fixedBytes(column.words, 16);
    case 'boolean': {
      const data = Uint8Array.from({ length: column.length }, (_, row) => ((column.bits[row >> 3] ?? 0) >> (row & 7)) & 1);
      return fixedBytes(data, 1);
    }
    default:
      throw serviceError.unsupported('PARTITION_TYPE_UNSUPPORTED', `a ${column.layout} column cannot partition a table`);
  }
}

function fixedBytes(values: ArrayBufferView, width: number): ByteView {
  return { data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength), from: (row) => row * width };
}

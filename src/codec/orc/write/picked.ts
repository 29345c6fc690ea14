import type { Column } from '../../../schema/columns.ts';

/** The values of a column that go into a stripe: those whose parents are there. */
export interface Picked<T extends Column = Column> {
  readonly column: T;
  /** Positions in the column; `undefined` for `count` values from `from` on. */
  readonly at: Int32Array | undefined;
  readonly from: number;
  readonly count: number;
  /** Where each group of rows begins among the picked values, and `count` at the end. */
  readonly groups: Int32Array;
}

/** Which of the picked values are there. */
interface Nulls {
  /** One bit a picked value; `undefined` when none is null. */
  readonly present: Uint8Array | undefined;
  /** The values that are there. */
  readonly stored: Picked;
}

/** Leaves out the nulls. */
export function withoutNulls(picked: Picked): Nulls {
  const { column, count, groups } = picked;
  const { validity } = column;
  if (validity === undefined || column.nullCount === 0) return { present: undefined, stored: picked };
  const present = new Uint8Array((count + 7) >> 3);
  const at = new Int32Array(count);
  const storedGroups = new Int32Array(groups.length);
  let stored = 0;
  let group = 0;
  for (let index = 0; index < count; index++) {
    while (group < groups.length && groups[group] === index) storedGroups[group++] = stored;
    const position = positionOf(picked, index);
    if (((validity[position >> 3] ?? 0) & (1 << (position & 7))) === 0) continue;
    present[index >> 3] = (present[index >> 3] ?? 0) | (1 << (index & 7));
    at[stored++] = position;
  }
  while (group < groups.length) storedGroups[group++] = stored;
  if (stored === count) return { present: undefined, stored: picked };
  return { present, stored: { column, at: at.subarray(0, stored), from: 0, count: stored, groups: storedGroups } };
}

/** The place in the column of picked value `index`. */
export function positionOf(picked: Picked, index: number): number {
  return picked.at === undefined ? picked.from + index : (picked.at[index] ?? 0);
}

/** The same places of a column beside: the members of a struct. */
export function pickBeside(picked: Picked, column: Column): Picked {
  return { ...picked, column };
}

/** The elements of the picked lists or maps. */
export function pickElements(picked: Picked, offsets: Int32Array, column: Column): Picked {
  const { count, groups } = picked;
  const ends = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) ends[index + 1] = (ends[index] ?? 0) + sizeAt(offsets, positionOf(picked, index));
  const elements = ends[count] ?? 0;
  const elementGroups = groups.map((group) => ends[group] ?? 0);
  if (picked.at === undefined) return { column, at: undefined, from: offsets[picked.from] ?? 0, count: elements, groups: elementGroups };
  const at = new Int32Array(elements);
  let next = 0;
  for (let index = 0; index < count; index++) {
    const position = positionOf(picked, index);
    const until = offsets[position + 1] ?? 0;
    for (let element = offsets[position] ?? 0; element < until; element++) at[next++] = element;
  }
  return { column, at, from: 0, count: elements, groups: elementGroups };
}

/** Bytes of a string or elements of a list at a place of the column. */
export function sizeAt(offsets: Int32Array, position: number): number {
  return (offsets[position + 1] ?? 0) - (offsets[position] ?? 0);
}

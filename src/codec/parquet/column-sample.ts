import type { Column } from '../../schema/columns.ts';

const sampleSize = 1000;
// Of a thousand values, so many distinct ones promise a dictionary whose indexes are a byte or less.
const maxDistinctInSample = 200;
// Integers in so small a range are as short when bit-packed as a dictionary's indexes, without hashing.
const narrowRange = 65_536;

/** Whether values repeat so much, judged by a sample spread over the column, that a dictionary pays. */
export function looksRepetitive(column: Column): boolean {
  const step = Math.max(1, Math.floor(column.length / sampleSize));
  switch (column.layout) {
    case 'bytes': {
      const { data, offsets, length } = column;
      return fewDistinct(length, step, (index) => hashBytes(data, offsets[index] ?? 0, offsets[index + 1] ?? 0));
    }
    case 'decimal':
      return fewDistinct(column.length, step, (index) => Number(BigInt.asIntN(53, column.words[2 * index] ?? 0n)));
    case 'fixed': {
      const { values, length } = column;
      if (values instanceof Float64Array || values instanceof Float32Array) return fewDistinct(length, step, (index) => values[index] ?? 0);
      return fewDistinct(length, step, (index) => Number(values[index] ?? 0), narrowRange);
    }
    default:
      return false;
  }
}

function fewDistinct(length: number, step: number, keyOf: (index: number) => number, minRange = -1): boolean {
  const distinct = new Set<number>();
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < length; index += step) {
    const key = keyOf(index);
    distinct.add(key);
    min = Math.min(min, key);
    max = Math.max(max, key);
    if (distinct.size > maxDistinctInSample) return false;
  }
  // In a short column everything is rare: a value that comes up twice on average is worth its place.
  return distinct.size * 2 <= Math.ceil(length / step) && max - min > minRange;
}

const maxHashedBytes = 128;

// FNV-1a over the length and the first bytes.
function hashBytes(data: Uint8Array, from: number, until: number): number {
  let hash = 0x811c9dc5 ^ (until - from);
  for (let index = from; index < Math.min(until, from + maxHashedBytes); index++) hash = Math.imul(hash ^ (data[index] ?? 0), 0x01000193);
  return hash;
}

import type { PartitionValue } from '../metadata/content-file.ts';

/** Order of partition tuples by their values, field by field, absent ones first; text by its UTF-8 bytes. */
export function comparePartitions(left: readonly PartitionValue[], right: readonly PartitionValue[]): number {
  for (const [index, value] of left.entries()) {
    const order = compareValues(value, right[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(left: PartitionValue, right: PartitionValue): number {
  if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1;
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

import type { PartitionValue } from '../metadata/content-file.ts';

/** A partition of a spec as text, the same for equal values and for no others. */
export function partitionKey(specId: number, partition: readonly PartitionValue[]): string {
  let key = String(specId);
  for (const value of partition) key += `\0${valueKey(value)}`;
  return key;
}

/** The length in front keeps a text from being taken for two values. */
function valueKey(value: PartitionValue): string {
  if (value === undefined) return 'n';
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  // Numbers of one field may come as number or bigint; -0 and 0 are different values of a partition.
  return `v${Object.is(value, -0) ? '-0' : String(value)}`;
}

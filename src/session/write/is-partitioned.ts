import type { Snapshot } from '../../table/table.ts';

/** Whether rows written from now on are divided into partitions. */
export function isPartitioned(snapshot: Snapshot): boolean {
  return snapshot.partitioned ?? snapshot.partitionColumns.length > 0;
}

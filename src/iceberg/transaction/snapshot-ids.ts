import type { Random } from '../../base/random.ts';
import { snapshotById } from '../ancestry.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';

/** A random positive id of 63 bits that no snapshot of the metadata has. */
export function freshSnapshotId(random: Random, metadata: TableMetadata): bigint {
  for (;;) {
    const id = BigInt.asUintN(63, Buffer.from(random.bytes(8)).readBigUInt64BE());
    if (id !== 0n && snapshotById(metadata, id) === undefined) return id;
  }
}

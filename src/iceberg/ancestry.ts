import { type ServiceError, serviceError } from '../base/errors.ts';
import type { IcebergSnapshot, TableMetadata } from './metadata/table-metadata.ts';

/** Snapshots of metadata by their ids. */
export function snapshotById({ snapshots }: TableMetadata, id: bigint): IcebergSnapshot | undefined {
  return indexed(snapshots).get(id);
}

/**
 * A snapshot and those before it, newest first, as far as the metadata still has them.
 *
 * @throws ServiceError `ICEBERG_METADATA_CORRUPT` (corrupt) for snapshots that are each other's parents.
 */
export function* ancestorsOf(metadata: TableMetadata, from: IcebergSnapshot | undefined): Generator<IcebergSnapshot, void, undefined> {
  const seen = new Set<bigint>();
  for (let snapshot = from; snapshot !== undefined; ) {
    if (seen.has(snapshot.snapshotId)) throw cyclic(metadata, snapshot.snapshotId);
    seen.add(snapshot.snapshotId);
    yield snapshot;
    const parent: bigint | undefined = snapshot.parentSnapshotId;
    snapshot = parent === undefined ? undefined : snapshotById(metadata, parent);
  }
}

/** How many snapshots there are up to and with this one; snapshots that are each other's parents count once. */
export function ancestryLength(metadata: TableMetadata, from: IcebergSnapshot): number {
  const seen = new Set<bigint>();
  for (let snapshot: IcebergSnapshot | undefined = from; snapshot !== undefined && !seen.has(snapshot.snapshotId); ) {
    seen.add(snapshot.snapshotId);
    const parent: bigint | undefined = snapshot.parentSnapshotId;
    snapshot = parent === undefined ? undefined : snapshotById(metadata, parent);
  }
  return seen.size;
}

const indexes = new WeakMap<readonly IcebergSnapshot[], ReadonlyMap<bigint, IcebergSnapshot>>();

function indexed(snapshots: readonly IcebergSnapshot[]): ReadonlyMap<bigint, IcebergSnapshot> {
  const present = indexes.get(snapshots);
  if (present !== undefined) return present;
  const index = new Map(snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  indexes.set(snapshots, index);
  return index;
}

function cyclic(metadata: TableMetadata, id: bigint): ServiceError {
  return serviceError.corrupt('ICEBERG_METADATA_CORRUPT', `table at "${metadata.location}": snapshot ${id} is its own ancestor`, {
    hint: 'the metadata was damaged or written by a broken writer; take an earlier metadata file of the table',
  });
}

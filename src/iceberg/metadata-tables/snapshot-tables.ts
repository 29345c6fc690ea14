import { ancestorsOf, snapshotById } from '../ancestry.ts';
import type { IcebergSnapshot, MetadataLogEntry, SnapshotLogEntry, SnapshotRef, TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata } from '../pointer/table-pointer.ts';
import { snapshotIdAt } from '../snapshot-at.ts';
import { booleanType, intType, longType, mapType, microsOf, rowsOf, stringType, timestampType } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';

/** `snapshots`: what the metadata still has, in its order. */
export function snapshotsTable({ snapshots }: TableMetadata): MetadataRows {
  const { schema, rowOf } = rowsOf<IcebergSnapshot>([
    ['committed_at', timestampType, ({ timestampMs }) => microsOf(timestampMs)],
    ['snapshot_id', longType, ({ snapshotId }) => snapshotId],
    ['parent_id', longType, ({ parentSnapshotId }) => parentSnapshotId],
    ['operation', stringType, ({ summary }) => summary['operation']],
    ['manifest_list', stringType, ({ manifestList }) => manifestList],
    ['summary', mapType(stringType, stringType), ({ summary }) => withoutOperation(summary)],
  ]);
  return { schema, rows: snapshots.map(rowOf) };
}

/** `history`: which snapshot was the current one from when on. */
export function historyTable(metadata: TableMetadata): MetadataRows {
  const current = metadata.currentSnapshotId === undefined ? undefined : snapshotById(metadata, metadata.currentSnapshotId);
  const ancestors = new Set(Array.from(ancestorsOf(metadata, current), ({ snapshotId }) => snapshotId));
  const { schema, rowOf } = rowsOf<SnapshotLogEntry>([
    ['made_current_at', timestampType, ({ timestampMs }) => microsOf(timestampMs)],
    ['snapshot_id', longType, ({ snapshotId }) => snapshotId],
    ['parent_id', longType, ({ snapshotId }) => snapshotById(metadata, snapshotId)?.parentSnapshotId],
    ['is_current_ancestor', booleanType, ({ snapshotId }) => ancestors.has(snapshotId)],
  ]);
  return { schema, rows: metadata.snapshotLog.map(rowOf) };
}

/** `refs`: branches and tags. */
export function refsTable({ refs }: TableMetadata): MetadataRows {
  const { schema, rowOf } = rowsOf<readonly [name: string, ref: SnapshotRef]>([
    ['name', stringType, ([name]) => name],
    ['type', stringType, ([, { type }]) => type.toUpperCase()],
    ['snapshot_id', longType, ([, { snapshotId }]) => snapshotId],
    ['max_reference_age_in_ms', longType, ([, { maxRefAgeMs }]) => maxRefAgeMs],
    ['min_snapshots_to_keep', intType, ([, { minSnapshotsToKeep }]) => minSnapshotsToKeep],
    ['max_snapshot_age_in_ms', longType, ([, { maxSnapshotAgeMs }]) => maxSnapshotAgeMs],
  ]);
  return { schema, rows: Array.from(refs, rowOf) };
}

/** `metadata_log_entries`: the metadata files there were, with what was current in each; the last one is the table's own. */
export function metadataLogTable({ metadata, metadataLocation }: LoadedMetadata): MetadataRows {
  const last = metadataLocation === undefined ? [] : [{ timestampMs: metadata.lastUpdatedMs, metadataFile: metadataLocation }];
  const currentIn = ({ timestampMs }: MetadataLogEntry): IcebergSnapshot | undefined => {
    const id = snapshotIdAt(metadata, timestampMs);
    return id === undefined ? undefined : snapshotById(metadata, id);
  };
  const { schema, rowOf } = rowsOf<MetadataLogEntry>([
    ['timestamp', timestampType, ({ timestampMs }) => microsOf(timestampMs)],
    ['file', stringType, ({ metadataFile }) => metadataFile],
    ['latest_snapshot_id', longType, ({ timestampMs }) => snapshotIdAt(metadata, timestampMs)],
    ['latest_schema_id', intType, (entry) => currentIn(entry)?.schemaId],
    ['latest_sequence_number', longType, (entry) => currentIn(entry)?.sequenceNumber],
  ]);
  return { schema, rows: [...metadata.metadataLog, ...last].map(rowOf) };
}

/** Which is a column of its own. */
function withoutOperation(summary: IcebergSnapshot['summary']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(summary).filter(([key]) => key !== 'operation'));
}

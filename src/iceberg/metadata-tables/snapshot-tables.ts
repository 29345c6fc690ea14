import type { InputRow } from '../../codec/build-columns.ts';
import { ancestorsOf, snapshotById } from '../ancestry.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata } from '../pointer/table-pointer.ts';
import { snapshotIdAt } from '../snapshot-at.ts';
import { booleanType, intType, longType, mapType, microsOf, stringType, struct, timestampType } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';

/** `snapshots`: what the metadata still has, in its order. */
export function snapshotsTable({ snapshots }: TableMetadata): MetadataRows {
  return {
    schema: struct([
      ['committed_at', timestampType],
      ['snapshot_id', longType],
      ['parent_id', longType],
      ['operation', stringType],
      ['manifest_list', stringType],
      ['summary', mapType(stringType, stringType)],
    ]),
    rows: snapshots.map((snapshot) => {
      const { operation, ...summary } = snapshot.summary;
      return {
        committed_at: microsOf(snapshot.timestampMs),
        snapshot_id: snapshot.snapshotId,
        parent_id: snapshot.parentSnapshotId,
        operation,
        manifest_list: snapshot.manifestList,
        summary,
      };
    }),
  };
}

/** `history`: which snapshot was the current one from when on. */
export function historyTable(metadata: TableMetadata): MetadataRows {
  const current = metadata.currentSnapshotId === undefined ? undefined : snapshotById(metadata, metadata.currentSnapshotId);
  const ancestors = new Set(Array.from(ancestorsOf(metadata, current), ({ snapshotId }) => snapshotId));
  return {
    schema: struct([
      ['made_current_at', timestampType],
      ['snapshot_id', longType],
      ['parent_id', longType],
      ['is_current_ancestor', booleanType],
    ]),
    rows: metadata.snapshotLog.map(({ timestampMs, snapshotId }) => ({
      made_current_at: microsOf(timestampMs),
      snapshot_id: snapshotId,
      parent_id: snapshotById(metadata, snapshotId)?.parentSnapshotId,
      is_current_ancestor: ancestors.has(snapshotId),
    })),
  };
}

/** `refs`: branches and tags. */
export function refsTable({ refs }: TableMetadata): MetadataRows {
  return {
    schema: struct([
      ['name', stringType],
      ['type', stringType],
      ['snapshot_id', longType],
      ['max_reference_age_in_ms', longType],
      ['min_snapshots_to_keep', intType],
      ['max_snapshot_age_in_ms', longType],
    ]),
    rows: Array.from(refs, ([name, ref]) => ({
      name,
      type: ref.type.toUpperCase(),
      snapshot_id: ref.snapshotId,
      max_reference_age_in_ms: ref.maxRefAgeMs,
      min_snapshots_to_keep: ref.minSnapshotsToKeep,
      max_snapshot_age_in_ms: ref.maxSnapshotAgeMs,
    })),
  };
}

/** `metadata_log_entries`: the metadata files there were, with what was current in each; the last one is the table's own. */
export function metadataLogTable({ metadata, metadataLocation }: LoadedMetadata): MetadataRows {
  const last = metadataLocation === undefined ? [] : [{ timestampMs: metadata.lastUpdatedMs, metadataFile: metadataLocation }];
  return {
    schema: struct([
      ['timestamp', timestampType],
      ['file', stringType],
      ['latest_snapshot_id', longType],
      ['latest_schema_id', intType],
      ['latest_sequence_number', longType],
    ]),
    rows: [...metadata.metadataLog, ...last].map(({ timestampMs, metadataFile }): InputRow => {
      const id = snapshotIdAt(metadata, timestampMs);
      const snapshot = id === undefined ? undefined : snapshotById(metadata, id);
      return {
        timestamp: microsOf(timestampMs),
        file: metadataFile,
        latest_snapshot_id: id,
        latest_schema_id: snapshot?.schemaId,
        latest_sequence_number: snapshot?.sequenceNumber,
      };
    }),
  };
}

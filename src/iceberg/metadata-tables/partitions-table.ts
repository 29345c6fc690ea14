import { printJson } from '../../base/bigint-json.ts';
import type { InputRow } from '../../codec/build-columns.ts';
import { snapshotById } from '../ancestry.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { type ColumnOf, intType, longType, microsOf, rowsOf, timestampType } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { type UnifiedPartition, unifiedPartition } from './partition-type.ts';

/** `partitions`: rows, files and bytes of each; the partitions of all specs as one type. */
export function partitionsTable(source: MetadataSource, state: SnapshotState): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  const { schema, rowOf } = rowsOf(columnsOf(partition));
  return {
    schema,
    async *rows(signal) {
      const totals = new Map<string, Totals>();
      for (const manifest of await manifestsOf(source, state.metadata, state.snapshot, signal)) {
        for (const entry of await entriesOf(source, state.metadata, manifest, signal)) {
          if (entry.status !== 'deleted') add(totals, entry, partition, state);
        }
      }
      for (const total of totals.values()) yield rowOf(total);
    },
  };
}

interface Totals {
  readonly partition: InputRow;
  specId: number;
  readonly counts: { records: number; files: number; bytes: number };
  readonly position: { records: number; files: number };
  readonly equality: { records: number; files: number };
  updated: { readonly timestampMs: number; readonly snapshotId: bigint } | undefined;
}

function add(totals: Map<string, Totals>, { file, snapshotId }: ManifestEntry, partition: UnifiedPartition, state: SnapshotState): void {
  const value = partition.valueOf(file);
  const key = textOf(value);
  const total = totals.get(key) ?? {
    partition: value,
    specId: file.specId,
    counts: { records: 0, files: 0, bytes: 0 },
    position: { records: 0, files: 0 },
    equality: { records: 0, files: 0 },
    updated: undefined,
  };
  totals.set(key, total);
  total.specId = file.specId;
  const counts = file.content === 'data' ? total.counts : file.content === 'position-deletes' ? total.position : total.equality;
  counts.records += file.recordCount;
  counts.files += 1;
  if (file.content === 'data') total.counts.bytes += file.fileSizeBytes;
  const snapshot = snapshotById(state.metadata, snapshotId);
  if (snapshot !== undefined && (total.updated === undefined || snapshot.timestampMs > total.updated.timestampMs)) total.updated = snapshot;
}

function columnsOf({ type }: UnifiedPartition): readonly ColumnOf<Totals>[] {
  const ofPartition: readonly ColumnOf<Totals>[] =
    type === undefined
      ? []
      : [
          ['partition', type, ({ partition }) => partition],
          ['spec_id', intType, ({ specId }) => specId],
        ];
  return [
    ...ofPartition,
    ['record_count', longType, ({ counts }) => counts.records],
    ['file_count', intType, ({ counts }) => counts.files],
    ['total_data_file_size_in_bytes', longType, ({ counts }) => counts.bytes],
    ['position_delete_record_count', longType, ({ position }) => position.records],
    ['position_delete_file_count', intType, ({ position }) => position.files],
    ['equality_delete_record_count', longType, ({ equality }) => equality.records],
    ['equality_delete_file_count', intType, ({ equality }) => equality.files],
    ['last_updated_at', timestampType, ({ updated }) => (updated === undefined ? undefined : microsOf(updated.timestampMs))],
    ['last_updated_snapshot_id', longType, ({ updated }) => updated?.snapshotId],
  ];
}

function textOf(partition: InputRow): string {
  return printJson(
    Object.values(partition).map((value) => {
      if (value instanceof Uint8Array) return `b${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
      if (typeof value === 'string') return `s${value}`;
      return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? `v${value}` : null;
    }),
  );
}

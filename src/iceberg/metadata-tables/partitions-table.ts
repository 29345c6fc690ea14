import { printJson } from '../../base/bigint-json.ts';
import type { InputRow } from '../../codec/build-columns.ts';
import { snapshotById } from '../ancestry.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { intType, longType, microsOf, struct, timestampType } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { type UnifiedPartition, unifiedPartition } from './partition-type.ts';

/** `partitions`: rows, files and bytes of each; the partitions of all specs as one type. */
export function partitionsTable(source: MetadataSource, state: SnapshotState): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  return {
    schema: struct([
      ...(partition.type === undefined
        ? []
        : ([
            ['partition', partition.type],
            ['spec_id', intType],
          ] as const)),
      ['record_count', longType],
      ['file_count', intType],
      ['total_data_file_size_in_bytes', longType],
      ['position_delete_record_count', longType],
      ['position_delete_file_count', intType],
      ['equality_delete_record_count', longType],
      ['equality_delete_file_count', intType],
      ['last_updated_at', timestampType],
      ['last_updated_snapshot_id', longType],
    ]),
    async *rows(signal) {
      const totals = new Map<string, Totals>();
      for (const manifest of await manifestsOf(source, state.metadata, state.snapshot, signal)) {
        for (const entry of await entriesOf(source, state.metadata, manifest, signal)) {
          if (entry.status !== 'deleted') add(totals, entry, partition, state);
        }
      }
      for (const total of totals.values()) yield rowOf(total, partition);
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

function rowOf(total: Totals, partition: UnifiedPartition): InputRow {
  return {
    ...(partition.type === undefined ? {} : { partition: total.partition, spec_id: total.specId }),
    record_count: total.counts.records,
    file_count: total.counts.files,
    total_data_file_size_in_bytes: total.counts.bytes,
    position_delete_record_count: total.position.records,
    position_delete_file_count: total.position.files,
    equality_delete_record_count: total.equality.records,
    equality_delete_file_count: total.equality.files,
    last_updated_at: total.updated === undefined ? undefined : microsOf(total.updated.timestampMs),
    last_updated_snapshot_id: total.updated?.snapshotId,
  };
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

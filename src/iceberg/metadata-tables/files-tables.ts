import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { intType, longType, rowsOf } from './columns.ts';
import { fileColumns, fileRow } from './file-rows.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { unifiedPartition } from './partition-type.ts';
import { readableMetrics } from './readable-metrics.ts';

/** Which files a table about files is of. */
export interface FilesScope {
  readonly content: 'all' | 'data' | 'deletes';
  /** Of all snapshots there are instead of the state's. */
  readonly everySnapshot: boolean;
}

/** `files`, `data_files`, `delete_files` and their `all_` forms: the live files. */
export function filesTable(source: MetadataSource, state: SnapshotState, scope: FilesScope): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  const metrics = readableMetrics(state.icebergSchema);
  const columns = fileColumns(partition);
  return {
    schema: { kind: 'struct', fields: [...columns.fields, { name: 'readable_metrics', type: metrics.type, nullable: true }] },
    async *rows(signal) {
      for (const manifest of await scopedManifests(source, state, scope, signal)) {
        for (const { status, file } of await entriesOf(source, state.metadata, manifest, signal)) {
          if (status !== 'deleted') yield { ...fileRow(file, partition), readable_metrics: metrics.valueOf(file) };
        }
      }
    },
  };
}

const statuses = { existing: 0, added: 1, deleted: 2 } as const;

/** `entries` and `all_entries`: what the manifests hold, deleted files included. */
export function entriesTable(source: MetadataSource, state: SnapshotState, scope: Pick<FilesScope, 'everySnapshot'>): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  const metrics = readableMetrics(state.icebergSchema);
  const { schema, rowOf } = rowsOf<ManifestEntry>([
    ['status', intType, ({ status }) => statuses[status]],
    ['snapshot_id', longType, ({ snapshotId }) => snapshotId],
    ['sequence_number', longType, ({ sequenceNumber }) => sequenceNumber],
    ['file_sequence_number', longType, ({ fileSequenceNumber }) => fileSequenceNumber],
    ['data_file', fileColumns(partition), ({ file }) => fileRow(file, partition)],
    ['readable_metrics', metrics.type, ({ file }) => metrics.valueOf(file)],
  ]);
  return {
    schema,
    async *rows(signal) {
      for (const manifest of await scopedManifests(source, state, { content: 'all', ...scope }, signal)) {
        for (const entry of await entriesOf(source, state.metadata, manifest, signal)) yield rowOf(entry);
      }
    },
  };
}

/** Manifests in scope, each once. */
async function scopedManifests(
  source: MetadataSource,
  { metadata, snapshot }: SnapshotState,
  { content, everySnapshot }: FilesScope,
  signal: AbortSignal | undefined,
): Promise<readonly ManifestFile[]> {
  const found = new Map<string, ManifestFile>();
  for (const of of everySnapshot ? metadata.snapshots : [snapshot]) {
    for (const manifest of await manifestsOf(source, metadata, of, signal)) {
      if ((content === 'all' || manifest.content === content) && !found.has(manifest.path)) found.set(manifest.path, manifest);
    }
  }
  return [...found.values()];
}

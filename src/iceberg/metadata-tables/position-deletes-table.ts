import type { InputRow } from '../../codec/build-columns.ts';
import type { OpenEngine } from '../../engine/engine.ts';
import { readDeletionVector } from '../deletes/deletion-vector.ts';
import { PositionDeletes } from '../deletes/position-deletes.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { hasDeletionVectors } from '../metadata/format-features.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { intType, longType, stringType, struct } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { unifiedPartition } from './partition-type.ts';

/** `position_deletes`: each deleted position. The column `row`, a copy of the deleted row that hardly any writer makes, is null. */
export function positionDeletesTable(source: MetadataSource & { readonly engine: OpenEngine }, state: SnapshotState): MetadataRows {
  const { metadata } = state;
  const partition = unifiedPartition(metadata);
  return {
    schema: struct([
      ['file_path', stringType],
      ['pos', longType],
      ['row', state.schema],
      ...(partition.type === undefined ? [] : [['partition', partition.type] as const]),
      ['spec_id', intType],
      ['delete_file_path', stringType],
      ...(hasDeletionVectors(metadata)
        ? ([
            ['content_offset', longType],
            ['content_size_in_bytes', longType],
          ] as const)
        : []),
    ]),
    async *rows(signal) {
      const deletes = new PositionDeletes(source, metadata, source.engine);
      for (const manifest of await manifestsOf(source, metadata, state.snapshot, signal)) {
        if (manifest.content !== 'deletes') continue;
        for (const entry of await entriesOf(source, metadata, manifest, signal)) {
          if (entry.status === 'deleted' || entry.file.content !== 'position-deletes') continue;
          const file: InputRow = {
            partition: partition.type === undefined ? undefined : partition.valueOf(entry.file),
            spec_id: entry.file.specId,
            delete_file_path: entry.file.path,
            content_offset: entry.file.contentOffset,
            content_size_in_bytes: entry.file.contentSizeBytes,
          };
          for (const [path, positions] of await positionsOf(source, deletes, entry, signal)) {
            for (const pos of positions) yield { ...file, file_path: path, pos };
          }
        }
      }
    },
  };
}

async function positionsOf(
  source: MetadataSource,
  deletes: PositionDeletes,
  entry: ManifestEntry,
  signal: AbortSignal | undefined,
): Promise<Iterable<readonly [string, BigInt64Array]>> {
  if (entry.file.format !== 'puffin') return deletes.rowsOf(entry, signal);
  return [[entry.file.referencedDataFile ?? '', await readDeletionVector(source, entry, undefined, signal)]];
}

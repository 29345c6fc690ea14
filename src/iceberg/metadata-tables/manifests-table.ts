import { partitionValueText } from '../../table/partitioning/partition-path.ts';
import type { FieldSummary, ManifestFile } from '../metadata/content-file.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';
import type { IcebergSnapshot, PartitionField, TableMetadata } from '../metadata/table-metadata.ts';
import { type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { booleanType, type ColumnOf, intType, listType, longType, rowsOf, stringType } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { partitionType } from './partition-type.ts';

/** `manifests`: those of a snapshot. */
export function manifestsTable(source: MetadataSource, { metadata, snapshot }: SnapshotState): MetadataRows {
  return manifestRows(source, metadata, [snapshot], []);
}

/** `all_manifests`: those of every snapshot there is, with the snapshot that refers to them. */
export function allManifestsTable(source: MetadataSource, { metadata }: SnapshotState): MetadataRows {
  return manifestRows(source, metadata, metadata.snapshots, [['reference_snapshot_id', longType, ({ referredToBy }) => referredToBy]]);
}

type ListedManifest = ManifestFile & { readonly referredToBy: bigint | undefined };

function manifestRows(
  source: MetadataSource,
  metadata: TableMetadata,
  snapshots: readonly (IcebergSnapshot | undefined)[],
  more: readonly ColumnOf<ListedManifest>[],
): MetadataRows {
  const { schema, rowOf } = rowsOf<ListedManifest>([...manifestColumns(metadata), ...more]);
  return {
    schema,
    async *rows(signal) {
      for (const snapshot of snapshots) {
        for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) {
          yield rowOf({ ...manifest, referredToBy: snapshot?.snapshotId });
        }
      }
    },
  };
}

function manifestColumns(metadata: TableMetadata): readonly ColumnOf<ManifestFile>[] {
  const fieldsOf = (id: number): readonly PartitionField[] => metadata.partitionSpecs.find(({ specId }) => specId === id)?.fields ?? [];
  const summary = rowsOf(summaryColumns(metadata));
  const counts = (content: ManifestFile['content'], kind: string): readonly ColumnOf<ManifestFile>[] => {
    const column = (state: string, count: (manifest: ManifestFile) => number | undefined): ColumnOf<ManifestFile> => {
      return [`${state}_${kind}_files_count`, intType, (manifest) => (manifest.content === content ? count(manifest) : 0)];
    };
    return [
      column('added', ({ addedFiles }) => addedFiles),
      column('existing', ({ existingFiles }) => existingFiles),
      column('deleted', ({ deletedFiles }) => deletedFiles),
    ];
  };
  return [
    ['content', intType, ({ content }) => (content === 'data' ? 0 : 1)],
    ['path', stringType, ({ path }) => path],
    ['length', longType, ({ length }) => length],
    ['partition_spec_id', intType, ({ specId }) => specId],
    ['added_snapshot_id', longType, ({ addedSnapshotId }) => addedSnapshotId],
    ...counts('data', 'data'),
    ...counts('deletes', 'delete'),
    [
      'partition_summaries',
      listType(summary.schema),
      ({ specId, partitions = [] }) => partitions.map((each, place) => summary.rowOf({ each, field: fieldsOf(specId)[place] })),
    ],
  ];
}

interface PlacedSummary {
  readonly each: FieldSummary;
  readonly field: PartitionField | undefined;
}

function summaryColumns(metadata: TableMetadata): readonly ColumnOf<PlacedSummary>[] {
  const text = (bytes: Uint8Array | undefined, field: PartitionField | undefined): string => {
    // As the reference implementation writes what is not there.
    if (bytes === undefined || field === undefined) return 'null';
    const type = partitionType(metadata, field);
    return partitionValueText(field.transform, type, decodeSingleValue(type, bytes));
  };
  return [
    ['contains_null', booleanType, ({ each }) => each.containsNull],
    ['contains_nan', booleanType, ({ each }) => each.containsNan],
    ['lower_bound', stringType, ({ each, field }) => text(each.lowerBound, field)],
    ['upper_bound', stringType, ({ each, field }) => text(each.upperBound, field)],
  ];
}

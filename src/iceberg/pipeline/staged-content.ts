import type { ColumnStatistics } from '../../schema/statistics.ts';
import type { StagedFile } from '../../table/staged-file.ts';
import { dataLocations } from '../files/data-locations.ts';
import { fileMetrics, type LeafMetrics } from '../files/file-metrics.ts';
import { metricsModes } from '../files/metrics-modes.ts';
import { contentFile } from '../files/staging.ts';
import { childLocation } from '../location.ts';
import type { ContentFile, PartitionValue } from '../metadata/content-file.ts';
import { specById } from '../metadata/partition-type.ts';
import { columnsById, fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionSpec } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/** Staged files, written under the state's write spec, as manifests describe them. */
export function stagedContent(state: SnapshotState, files: readonly StagedFile[]): readonly ContentFile[] {
  const { root } = dataLocations(state.metadata);
  return files.map(contentDescriber(state, ({ path }) => childLocation(root, path)));
}

/** What manifests say of a data file that lies anywhere; `partition`: one value for each field of the default spec that follows from a column. */
type DescribedFile = Pick<StagedFile, 'sizeBytes' | 'rowCount' | 'statistics' | 'partition' | 'layout'>;

/** Says the same of a file that lies where `locationOf` says. */
export function contentDescriber<File extends DescribedFile>(
  state: SnapshotState,
  locationOf: (file: File) => string,
): (file: File) => ContentFile {
  const { metadata, icebergSchema } = state;
  const modes = metricsModes(metadata.properties, icebergSchema, undefined);
  const spec = specById(metadata, metadata.defaultSpecId);
  const idOf = leafIds(icebergSchema);
  return (file) =>
    contentFile({
      content: 'data',
      path: locationOf(file),
      format: 'parquet',
      specId: metadata.defaultSpecId,
      partition: spec === undefined ? [] : tupleOf(spec, icebergSchema, file),
      recordCount: file.rowCount,
      fileSizeBytes: file.sizeBytes,
      metrics: fileMetrics(icebergSchema, modes, {
        rowCount: file.rowCount,
        leaves: file.statistics.map((leaf) => metricsOf(leaf, idOf, file)),
      }),
      splitOffsets: file.layout?.splitOffsets,
      sortOrderId: 0,
    });
}

/** Values of the fields that follow from a column; the others have none. */
function tupleOf(spec: PartitionSpec, schema: IcebergSchema, { partition = [] }: DescribedFile): readonly PartitionValue[] {
  let place = 0;
  return spec.fields.map(({ transform, sourceId }) => {
    if (transform.kind === 'void' || fieldById(schema, sourceId) === undefined) return undefined;
    place += 1;
    return partition[place - 1];
  });
}

function leafIds(schema: IcebergSchema): ReadonlyMap<string, number> {
  const columns = [...columnsById(schema).values()].filter(({ repeated }) => !repeated);
  return new Map(columns.map(({ id, path }) => [path.join('\0'), id]));
}

function metricsOf(leaf: ColumnStatistics, idOf: ReadonlyMap<string, number>, { layout }: DescribedFile): LeafMetrics {
  const id = idOf.get(leaf.path.join('\0'));
  return {
    id,
    storedBytes: id === undefined ? undefined : layout?.columnBytes.get(id),
    nullCount: leaf.nullCount,
    nanCount: leaf.nanCount,
    min: leaf.min ?? leaf.exact?.min,
    max: leaf.max ?? leaf.exact?.max,
  };
}

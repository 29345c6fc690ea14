import type { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupportedFeature } from '../../base/unsupported-feature.ts';
import type { PartitionRule, WriteSpec } from '../../table/staged-file.ts';
import { fileCompression } from '../files/compression.ts';
import { dataLocations } from '../files/data-locations.ts';
import { specById } from '../metadata/partition-type.ts';
import { fieldById } from '../metadata/schema-fields.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableFiles } from '../table-files.ts';

/**
 * How the pipeline writes data files of a table: Parquet, whatever the table's default, every column in them, by the newest partition spec.
 *
 * @throws AnalysisException `UNSUPPORTED_FEATURE` for a partition transform that is not known.
 */
export function icebergWriteSpec(
  state: SnapshotState,
  parts: { readonly name: string; readonly files: TableFiles; readonly storage?: WriteSpec['storage'] },
): WriteSpec {
  const { metadata, icebergSchema } = state;
  const { root, spread } = dataLocations(metadata);
  const compression = fileCompression('parquet', metadata.properties, 'data');
  return {
    location: parts.files.openable(root),
    storage: parts.storage,
    schema: icebergSchema.struct,
    partitionColumns: [],
    partitioning: partitionRules(state, parts.name),
    partitionColumnsInFile: true,
    compression: compression.format === 'parquet' ? compression.codec : 'zstd',
    partitionPathStyle: 'iceberg',
    spread,
    statisticsColumns: -1,
    exactStatistics: true,
    withLayout: true,
    identity: `schema ${icebergSchema.schemaId}, spec ${metadata.defaultSpecId}`,
  };
}

/** A field whose column is gone, or that is void, has no values to follow: it is left to the commit. */
function partitionRules({ metadata, icebergSchema }: SnapshotState, table: string): readonly PartitionRule[] {
  return (specById(metadata, metadata.defaultSpecId)?.fields ?? []).flatMap(({ name, transform, sourceId }) => {
    if (transform.kind === 'unknown') throw unknownTransform(table, transform.text);
    const source = fieldById(icebergSchema, sourceId);
    return source === undefined || transform.kind === 'void' ? [] : [{ name, source: source.path, transform }];
  });
}

function unknownTransform(table: string, text: string): AnalysisException {
  return unsupportedFeature(`table "${table}" is partitioned by the transform "${text}", which this version cannot write`, {
    hint: 'write it with the engine that made it, or take the partition field away (ALTER TABLE … DROP PARTITION FIELD)',
  });
}

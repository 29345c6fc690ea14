import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import { pathProperties } from '../../table-roots.ts';
import type { PathPrefix } from './path-prefix.ts';

/**
 * Metadata whose paths are all in the target: of the table, its manifest lists, its earlier metadata, its statistics, and those its properties
 * name.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for a path outside of the source.
 */
export function relocateMetadata(metadata: TableMetadata, prefix: PathPrefix): TableMetadata {
  const properties = { ...metadata.properties };
  for (const key of pathProperties) {
    const path = properties[key];
    if (path !== undefined) properties[key] = prefix.targetOf(path);
  }
  return {
    ...metadata,
    location: prefix.targetOf(metadata.location),
    properties,
    snapshots: metadata.snapshots.map((snapshot) => relocateSnapshot(snapshot, prefix)),
    metadataLog: metadata.metadataLog.map((entry) => ({ ...entry, metadataFile: prefix.targetOf(entry.metadataFile) })),
    statistics: metadata.statistics.map((file) => ({ ...file, statisticsPath: prefix.targetOf(file.statisticsPath) })),
    partitionStatistics: metadata.partitionStatistics.map((file) => ({ ...file, statisticsPath: prefix.targetOf(file.statisticsPath) })),
  };
}

function relocateSnapshot(snapshot: IcebergSnapshot, prefix: PathPrefix): IcebergSnapshot {
  const { manifestList, manifests } = snapshot;
  return {
    ...snapshot,
    manifestList: manifestList === undefined ? undefined : prefix.targetOf(manifestList),
    manifests: manifests?.map((path) => prefix.targetOf(path)),
  };
}

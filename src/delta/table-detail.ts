import type { TableDetail } from '../table/definition-changes.ts';
import { clusteringColumnsOf } from './clustering.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';
import { supportedFeatures } from './protocol-for.ts';

/** What DESCRIBE DETAIL shows of the snapshot. A legacy protocol version is shown with the features it stands for. */
export function tableDetail(snapshot: DeltaSnapshot, location: string): TableDetail {
  const { metadata, protocol } = snapshot;
  return {
    format: 'delta',
    id: metadata.id,
    name: metadata.name,
    description: metadata.description,
    location,
    createdAtMs: metadata.createdTimeMs,
    lastModifiedMs: snapshot.committedAt,
    partitionColumns: snapshot.partitionColumns,
    clusteringColumns: clusteringColumnsOf(snapshot.schema, snapshot.domains()).map((path) => path.join('.')),
    numFiles: snapshot.fileCount,
    sizeInBytes: snapshot.sizeBytes,
    properties: snapshot.properties,
    minReaderVersion: protocol.minReaderVersion,
    minWriterVersion: protocol.minWriterVersion,
    tableFeatures: [...new Set([...(protocol.readerFeatures ?? []), ...supportedFeatures(protocol)])].sort(),
  };
}

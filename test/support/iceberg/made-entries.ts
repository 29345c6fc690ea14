import type { ContentFile, ManifestEntry } from '../../../src/iceberg/metadata/content-file.ts';
import type { IcebergSnapshot, PartitionSpec, TableMetadata } from '../../../src/iceberg/metadata/table-metadata.ts';
import type { Field } from '../../../src/schema/types.ts';

/** A data file with what a test says of it. */
export function fileOf(file: Partial<ContentFile>): ContentFile {
  return {
    content: 'data',
    path: '/lake/t/data/file.parquet',
    format: 'parquet',
    specId: 0,
    partition: [],
    recordCount: 1,
    fileSizeBytes: 100,
    columnSizes: undefined,
    valueCounts: undefined,
    nullValueCounts: undefined,
    nanValueCounts: undefined,
    lowerBounds: undefined,
    upperBounds: undefined,
    keyMetadata: undefined,
    splitOffsets: undefined,
    equalityIds: undefined,
    sortOrderId: undefined,
    firstRowId: undefined,
    referencedDataFile: undefined,
    contentOffset: undefined,
    contentSizeBytes: undefined,
    ...file,
  };
}

export function entryOf(file: Partial<ContentFile>, sequenceNumber: number): ManifestEntry {
  return {
    status: 'added',
    snapshotId: 1n,
    sequenceNumber: BigInt(sequenceNumber),
    fileSequenceNumber: BigInt(sequenceNumber),
    file: fileOf(file),
  };
}

/** Metadata of a table in memory alone. */
export function metadataOf(
  partitionSpecs: readonly PartitionSpec[],
  parts: { readonly fields?: readonly Field[] } & Partial<TableMetadata> = {},
): TableMetadata {
  const { fields = [{ name: 'p', type: { kind: 'string' }, nullable: true, id: 1 }], ...rest } = parts;
  return {
    formatVersion: 2,
    tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location: '/lake/t',
    lastSequenceNumber: 0n,
    lastUpdatedMs: 0,
    lastColumnId: 100,
    schemas: [{ schemaId: 0, struct: { kind: 'struct', fields }, identifierFieldIds: [] }],
    currentSchemaId: 0,
    partitionSpecs,
    defaultSpecId: partitionSpecs[0]?.specId ?? 0,
    lastPartitionId: 1_000,
    sortOrders: [{ orderId: 0, fields: [] }],
    defaultSortOrderId: 0,
    properties: {},
    currentSnapshotId: undefined,
    refs: new Map(),
    snapshots: [],
    snapshotLog: [],
    metadataLog: [],
    statistics: [],
    partitionStatistics: [],
    nextRowId: 0n,
    unknown: {},
    ...rest,
  };
}

export function snapshotOf(snapshot: Partial<IcebergSnapshot> & Pick<IcebergSnapshot, 'snapshotId'>): IcebergSnapshot {
  return {
    parentSnapshotId: undefined,
    sequenceNumber: 1n,
    timestampMs: 0,
    manifestList: '/lake/t/metadata/snap.avro',
    manifests: undefined,
    summary: { operation: 'append' },
    schemaId: 0,
    firstRowId: undefined,
    addedRows: undefined,
    keyId: undefined,
    ...snapshot,
  };
}

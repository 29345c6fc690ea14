import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import { partitionFieldsToJson, partitionSpecToJson } from './partition-spec-json.ts';
import { schemaToJson } from './schema-json.ts';
import { refToJson, snapshotToJson } from './snapshot-json.ts';
import { sortOrderToJson } from './sort-order-json.ts';
import { partitionStatisticsToJson, statisticsToJson } from './statistics-json.ts';
import type { MetadataLogEntry, SnapshotLogEntry, TableMetadata } from './table-metadata.ts';

/** Metadata as a file has it. Inverse of `readTableMetadata`; absent lists and maps come out empty. */
export function printTableMetadata(metadata: TableMetadata): string {
  return new TextDecoder().decode(tableMetadataBytes(metadata));
}

/** As `printTableMetadata`, in UTF-8. */
export function tableMetadataBytes(metadata: TableMetadata): Uint8Array {
  const lists = new Map([
    ['snapshots', printedItems(metadata.snapshots, snapshotToJson)],
    ['snapshot-log', printedItems(metadata.snapshotLog, snapshotLogEntryToJson)],
    ['metadata-log', printedItems(metadata.metadataLog, metadataLogEntryToJson)],
  ]);
  const parts: Uint8Array[] = [];
  for (const [key, value] of Object.entries(tableMetadataToJson(metadata))) {
    if (value === undefined) continue;
    parts.push(Buffer.from(`${parts.length === 0 ? '{' : ','}${printJson(key)}:`), ...(lists.get(key) ?? [Buffer.from(printJson(value))]));
  }
  return Buffer.concat([...parts, Buffer.from('}')]);
}

/**
 * Items of lists in UTF-8, each with a comma before it; they never change. A table's metadata is printed for each commit, with a thousand
 * snapshots that were there the last time and one that was not.
 */
const printed = new WeakMap<object, Uint8Array>();

function printedItems<T extends object>(items: readonly T[], jsonOf: (item: T) => JsonObject): readonly Uint8Array[] {
  const parts = items.map((item, index) => {
    const known = printed.get(item);
    const bytes = known ?? Buffer.from(`,${printJson(jsonOf(item))}`);
    if (known === undefined) printed.set(item, bytes);
    return index === 0 ? bytes.subarray(1) : bytes;
  });
  return [Buffer.from('['), ...parts, Buffer.from(']')];
}

/** Without its long lists, whose places are there. */
function tableMetadataToJson(metadata: TableMetadata): JsonObject {
  const { formatVersion } = metadata;
  return {
    'format-version': formatVersion,
    'table-uuid': metadata.tableUuid,
    location: metadata.location,
    ...(formatVersion === 1 ? {} : { 'last-sequence-number': metadata.lastSequenceNumber }),
    'last-updated-ms': metadata.lastUpdatedMs,
    'last-column-id': metadata.lastColumnId,
    ...(formatVersion === 1 ? { schema: currentSchemaJson(metadata) } : {}),
    'current-schema-id': metadata.currentSchemaId,
    schemas: metadata.schemas.map(schemaToJson),
    ...(formatVersion === 1 ? { 'partition-spec': defaultSpecJson(metadata) } : {}),
    'default-spec-id': metadata.defaultSpecId,
    'partition-specs': metadata.partitionSpecs.map(partitionSpecToJson),
    'last-partition-id': metadata.lastPartitionId,
    'default-sort-order-id': metadata.defaultSortOrderId,
    'sort-orders': metadata.sortOrders.map(sortOrderToJson),
    properties: metadata.properties,
    ...currentSnapshotJson(metadata),
    ...(formatVersion === 3 ? { 'next-row-id': metadata.nextRowId } : {}),
    refs: Object.fromEntries([...metadata.refs].map(([name, ref]) => [name, refToJson(ref)])),
    snapshots: [],
    statistics: metadata.statistics.map(statisticsToJson),
    'partition-statistics': metadata.partitionStatistics.map(partitionStatisticsToJson),
    'snapshot-log': [],
    'metadata-log': [],
    ...metadata.unknown,
  };
}

function snapshotLogEntryToJson({ timestampMs, snapshotId, unknown }: SnapshotLogEntry): JsonObject {
  return { 'timestamp-ms': timestampMs, 'snapshot-id': snapshotId, ...unknown };
}

function metadataLogEntryToJson({ timestampMs, metadataFile, unknown }: MetadataLogEntry): JsonObject {
  return { 'timestamp-ms': timestampMs, 'metadata-file': metadataFile, ...unknown };
}

/** Readers of the first two versions want -1 for a table without a snapshot. */
function currentSnapshotJson({ formatVersion, currentSnapshotId }: TableMetadata): JsonObject {
  if (currentSnapshotId !== undefined) return { 'current-snapshot-id': currentSnapshotId };
  return formatVersion === 3 ? {} : { 'current-snapshot-id': -1 };
}

function currentSchemaJson({ schemas, currentSchemaId }: TableMetadata): JsonObject {
  const schema = schemas.find(({ schemaId }) => schemaId === currentSchemaId);
  return schema === undefined ? {} : schemaToJson(schema);
}

function defaultSpecJson({ partitionSpecs, defaultSpecId }: TableMetadata): readonly JsonObject[] {
  const spec = partitionSpecs.find(({ specId }) => specId === defaultSpecId);
  return spec === undefined ? [] : partitionFieldsToJson(spec);
}

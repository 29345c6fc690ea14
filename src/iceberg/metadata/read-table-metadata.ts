import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { checkTableMetadata } from './check-table-metadata.ts';
import { JsonMembers } from './json-members.ts';
import { metadataJson } from './metadata-json.ts';
import { firstPartitionFieldId, partitionFieldsFromJson, partitionSpecFromJson } from './partition-spec-json.ts';
import { schemaFromJson } from './schema-json.ts';
import { refFromJson, snapshotFromJson } from './snapshot-json.ts';
import { sortOrderFromJson } from './sort-order-json.ts';
import { invalidMetadata, unsupportedFormatVersion } from './spec-errors.ts';
import { partitionStatisticsFromJson, statisticsFromJson } from './statistics-json.ts';
import type {
  IcebergSchema,
  MetadataLogEntry,
  PartitionSpec,
  SnapshotLogEntry,
  SnapshotRef,
  SortOrder,
  TableMetadata,
} from './table-metadata.ts';

/**
 * The metadata in a file (https://iceberg.apache.org/spec/#table-metadata), packed with gzip or plain, whatever its name says. `location`
 * names the file in errors.
 *
 * @throws ServiceError `ICEBERG_METADATA_INVALID`, `JSON_INVALID` (kind corrupt); `ICEBERG_FORMAT_VERSION_UNSUPPORTED`,
 *   `ICEBERG_TYPE_UNSUPPORTED` (kind unsupported).
 */
export function readTableMetadata(bytes: Uint8Array, location: string): TableMetadata {
  return tableMetadataFromJson(metadataJson(bytes, location), location);
}

/** As `readTableMetadata`, of JSON that was parsed already. `where` names its origin in errors. */
export function tableMetadataFromJson(json: JsonValue | undefined, where: string): TableMetadata {
  const members = new JsonMembers(json, where);
  const formatVersion = formatVersionOf(members);
  const location = members.text('location');
  const schemas = schemasOf(members, formatVersion);
  const specs = specsOf(members, formatVersion);
  const orders = ordersOf(members, formatVersion);
  const current = members.optionalLong('current-snapshot-id');
  const currentSnapshotId = current === -1n ? undefined : current;
  const metadata: Omit<TableMetadata, 'unknown'> = {
    formatVersion,
    tableUuid: formatVersion === 1 ? (members.optionalText('table-uuid') ?? uuidOf(location)) : members.text('table-uuid'),
    location,
    lastSequenceNumber: formatVersion === 1 ? (members.optionalLong('last-sequence-number') ?? 0n) : members.long('last-sequence-number'),
    lastUpdatedMs: members.safeLong('last-updated-ms'),
    lastColumnId: members.int('last-column-id'),
    ...schemas,
    ...specs,
    ...orders,
    properties: members.optionalTextMap('properties') ?? {},
    currentSnapshotId,
    refs: refsOf(members, currentSnapshotId),
    snapshots: (members.optionalList('snapshots') ?? []).map((snapshot) => snapshotFromJson(snapshot, where)),
    snapshotLog: (members.optionalList('snapshot-log') ?? []).map((entry) => snapshotLogEntry(entry, where)),
    metadataLog: (members.optionalList('metadata-log') ?? []).map((entry) => metadataLogEntry(entry, where)),
    statistics: (members.optionalList('statistics') ?? []).map((file) => statisticsFromJson(file, where)),
    partitionStatistics: (members.optionalList('partition-statistics') ?? []).map((file) => partitionStatisticsFromJson(file, where)),
    nextRowId: nextRowIdOf(members, formatVersion),
  };
  const read = { ...metadata, unknown: members.rest ?? {} };
  checkTableMetadata(read, where);
  return read;
}

function formatVersionOf(members: JsonMembers): 1 | 2 | 3 {
  const version = members.int('format-version');
  if (version === 1 || version === 2 || version === 3) return version;
  if (version > 3) throw unsupportedFormatVersion(members.where, version);
  throw invalidMetadata(members.where, `${version} is no format version`);
}

/** A table without rows may leave it out. */
function nextRowIdOf(members: JsonMembers, formatVersion: number): bigint {
  if (formatVersion < 3) return 0n;
  const empty = (members.optionalList('snapshots') ?? []).length === 0;
  return empty ? (members.optionalLong('next-row-id') ?? 0n) : members.long('next-row-id');
}

/** Version 1 has one schema; when it lists several, the single one is what the list says. */
function schemasOf(members: JsonMembers, formatVersion: number): Pick<TableMetadata, 'schemas' | 'currentSchemaId'> {
  const { where } = members;
  const list = members.optionalList('schemas');
  if (list === undefined) {
    if (formatVersion !== 1) throw invalidMetadata(where, `schemas must exist in format v${formatVersion}`);
    const schema = schemaFromJson(members.value('schema'), where);
    members.value('current-schema-id');
    return { schemas: [schema], currentSchemaId: schema.schemaId };
  }
  if (formatVersion === 1) members.value('schema');
  const schemas = list.map((json): IcebergSchema => schemaFromJson(json, where));
  const currentSchemaId = members.optionalInt('current-schema-id');
  if (currentSchemaId === undefined && formatVersion === 1)
    return { schemas, currentSchemaId: highest(schemas.map((one) => one.schemaId)) };
  return { schemas, currentSchemaId: members.int('current-schema-id') };
}

function specsOf(members: JsonMembers, formatVersion: number): Pick<TableMetadata, 'partitionSpecs' | 'defaultSpecId' | 'lastPartitionId'> {
  const { where } = members;
  const list = members.optionalList('partition-specs');
  if (list === undefined && formatVersion !== 1) {
    throw invalidMetadata(where, `partition-specs must exist in format v${formatVersion}`);
  }
  const partitionSpecs: readonly PartitionSpec[] =
    list === undefined
      ? [{ specId: 0, fields: partitionFieldsFromJson(members.list('partition-spec'), where) }]
      : list.map((json) => partitionSpecFromJson(json, where));
  if (formatVersion === 1) members.value('partition-spec');
  const named = members.optionalInt('default-spec-id');
  const defaultSpecId = list === undefined ? 0 : formatVersion > 1 ? members.int('default-spec-id') : named;
  const lastPartitionId = members.optionalInt('last-partition-id');
  if (lastPartitionId === undefined && formatVersion !== 1) {
    throw invalidMetadata(where, `last-partition-id must exist in format v${formatVersion}`);
  }
  const specIds = partitionSpecs.map(({ specId }) => specId);
  return {
    partitionSpecs,
    defaultSpecId: defaultSpecId ?? highest(specIds),
    lastPartitionId: lastPartitionId ?? highestFieldId(partitionSpecs),
  };
}

/** Writers of the first version that name no current one among several mean the last. */
function highest(ids: readonly number[]): number {
  return ids.reduce((most, id) => Math.max(most, id), 0);
}

function highestFieldId(specs: readonly PartitionSpec[]): number {
  return specs.flatMap((spec) => spec.fields).reduce((highest, { fieldId }) => Math.max(highest, fieldId), firstPartitionFieldId - 1);
}

function ordersOf(members: JsonMembers, formatVersion: number): Pick<TableMetadata, 'sortOrders' | 'defaultSortOrderId'> {
  const list = members.optionalList('sort-orders');
  if (list !== undefined) {
    const sortOrders = list.map((json): SortOrder => sortOrderFromJson(json, members.where));
    return { sortOrders, defaultSortOrderId: members.int('default-sort-order-id') };
  }
  if (formatVersion !== 1) throw invalidMetadata(members.where, `sort-orders must exist in format v${formatVersion}`);
  members.value('default-sort-order-id');
  return { sortOrders: [{ orderId: 0, fields: [] }], defaultSortOrderId: 0 };
}

function refsOf(members: JsonMembers, currentSnapshotId: bigint | undefined): ReadonlyMap<string, SnapshotRef> {
  const json = members.value('refs');
  if (json !== undefined && !isJsonObject(json)) throw invalidMetadata(members.where, 'cannot parse refs from non-object');
  const refs = new Map(Object.entries(json ?? {}).map(([name, ref]) => [name, refFromJson(ref, members.where)] as const));
  if (currentSnapshotId !== undefined && !refs.has('main')) refs.set('main', mainBranch(currentSnapshotId));
  return refs;
}

/** The branch that the current snapshot stands for. */
export function mainBranch(snapshotId: bigint): SnapshotRef {
  return { snapshotId, type: 'branch', minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined };
}

function snapshotLogEntry(json: JsonValue, where: string): SnapshotLogEntry {
  const members = new JsonMembers(json, `${where}: snapshot log`);
  const entry = { timestampMs: members.safeLong('timestamp-ms'), snapshotId: members.long('snapshot-id') };
  return members.rest === undefined ? entry : { ...entry, unknown: members.rest };
}

function metadataLogEntry(json: JsonValue, where: string): MetadataLogEntry {
  const members = new JsonMembers(json, `${where}: metadata log`);
  const entry = { timestampMs: members.safeLong('timestamp-ms'), metadataFile: members.text('metadata-file') };
  return members.rest === undefined ? entry : { ...entry, unknown: members.rest };
}

/** The same for the same place, so that every reader of a table without a UUID calls it the same. */
function uuidOf(location: string): string {
  const hash = createHash('sha256').update(location).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import { JsonMembers } from './json-members.ts';
import { unknownMembers } from './schema-json.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { IcebergSnapshot, SnapshotRef } from './table-metadata.ts';

/** https://iceberg.apache.org/spec/#snapshots @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function snapshotFromJson(json: JsonValue | undefined, where: string): IcebergSnapshot {
  const members = new JsonMembers(json, `${where}: snapshot`);
  const snapshotId = members.long('snapshot-id');
  const manifestList = members.optionalText('manifest-list');
  const manifests = members.value('manifests') === undefined ? undefined : members.texts('manifests');
  if (manifestList === undefined && manifests === undefined) throw invalidMetadata(where, `snapshot ${snapshotId} has no manifest list`);
  return {
    snapshotId,
    parentSnapshotId: members.optionalLong('parent-snapshot-id'),
    sequenceNumber: members.optionalLong('sequence-number') ?? 0n,
    timestampMs: members.safeLong('timestamp-ms'),
    manifestList,
    manifests: manifestList === undefined ? manifests : undefined,
    summary: members.optionalTextMap('summary') ?? {},
    schemaId: members.optionalInt('schema-id'),
    firstRowId: members.optionalLong('first-row-id'),
    addedRows: members.optionalLong('added-rows'),
    keyId: members.optionalText('key-id'),
    ...unknownMembers(members.rest),
  };
}

/** Inverse of `snapshotFromJson`. */
export function snapshotToJson(snapshot: IcebergSnapshot): JsonObject {
  return {
    ...(snapshot.sequenceNumber > 0n ? { 'sequence-number': snapshot.sequenceNumber } : {}),
    'snapshot-id': snapshot.snapshotId,
    'parent-snapshot-id': snapshot.parentSnapshotId,
    'timestamp-ms': snapshot.timestampMs,
    ...(Object.keys(snapshot.summary).length === 0 ? {} : { summary: operationFirst(snapshot.summary) }),
    ...(snapshot.manifestList === undefined ? { manifests: snapshot.manifests ?? [] } : { 'manifest-list': snapshot.manifestList }),
    'schema-id': snapshot.schemaId,
    'first-row-id': snapshot.firstRowId,
    'added-rows': snapshot.addedRows,
    'key-id': snapshot.keyId,
    ...snapshot.unknown,
  };
}

/** https://iceberg.apache.org/spec/#snapshot-references @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function refFromJson(json: JsonValue | undefined, where: string): SnapshotRef {
  return refFromMembers(new JsonMembers(json, `${where}: reference`));
}

/** A reference among other members of its object. */
export function refFromMembers(members: JsonMembers): SnapshotRef {
  const type = members.text('type').toLowerCase();
  if (type !== 'branch' && type !== 'tag') throw invalidMetadata(members.where, `invalid snapshot ref type: ${type}`);
  const minSnapshotsToKeep = members.optionalInt('min-snapshots-to-keep');
  const maxSnapshotAgeMs = members.optionalLong('max-snapshot-age-ms');
  const maxRefAgeMs = members.optionalLong('max-ref-age-ms');
  const complaint =
    type === 'tag' && minSnapshotsToKeep !== undefined
      ? 'tags do not support setting minSnapshotsToKeep'
      : type === 'tag' && maxSnapshotAgeMs !== undefined
        ? 'tags do not support setting maxSnapshotAgeMs'
        : minSnapshotsToKeep !== undefined && minSnapshotsToKeep <= 0
          ? 'min snapshots to keep must be greater than 0'
          : maxSnapshotAgeMs !== undefined && maxSnapshotAgeMs <= 0n
            ? 'max snapshot age must be greater than 0 ms'
            : maxRefAgeMs !== undefined && maxRefAgeMs <= 0n
              ? 'max reference age must be greater than 0'
              : undefined;
  if (complaint !== undefined) throw invalidMetadata(members.where, complaint);
  const snapshotId = members.long('snapshot-id');
  return { snapshotId, type, minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs, ...unknownMembers(members.rest) };
}

/** Inverse of `refFromJson`. */
export function refToJson(ref: SnapshotRef): JsonObject {
  return {
    'snapshot-id': ref.snapshotId,
    type: ref.type,
    'min-snapshots-to-keep': ref.minSnapshotsToKeep,
    'max-snapshot-age-ms': ref.maxSnapshotAgeMs,
    'max-ref-age-ms': ref.maxRefAgeMs,
    ...ref.unknown,
  };
}

function operationFirst(summary: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { operation, ...others } = summary;
  return operation === undefined ? others : { operation, ...others };
}

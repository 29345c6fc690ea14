import { isJsonObject, type JsonObject, parseJson } from '../../src/base/bigint-json.ts';
import { applyUpdates } from '../../src/iceberg/metadata/apply-updates.ts';
import type { MetadataUpdate } from '../../src/iceberg/metadata/metadata-updates.ts';
import { printTableMetadata } from '../../src/iceberg/metadata/print-table-metadata.ts';
import type { IcebergSnapshot, PartitionField, SnapshotRef, TableMetadata } from '../../src/iceberg/metadata/table-metadata.ts';
import type { Field } from '../../src/schema/types.ts';

export interface TableOptions {
  readonly formatVersion?: 1 | 2 | 3 | undefined;
  readonly fields?: readonly Field[] | undefined;
  readonly partition?: readonly PartitionField[] | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly nowMs?: number | undefined;
}

/** Columns `id` (long), `label` (text), `day` (date). */
export const defaultFields: readonly Field[] = [
  { name: 'id', type: { kind: 'long' }, nullable: false, id: 1 },
  { name: 'label', type: { kind: 'string' }, nullable: true, id: 2 },
  { name: 'day', type: { kind: 'date' }, nullable: true, id: 3 },
];

/** What creates a table. */
export function creation(options: TableOptions = {}): readonly MetadataUpdate[] {
  const struct = { kind: 'struct', fields: options.fields ?? defaultFields } as const;
  const lastColumnId = struct.fields.reduce((most, { id }) => Math.max(most, id ?? 0), 0);
  return [
    { action: 'assign-uuid', uuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1' },
    { action: 'upgrade-format-version', formatVersion: options.formatVersion ?? 2 },
    { action: 'set-location', location: '/lake/t' },
    { action: 'add-schema', schema: { schemaId: 0, struct, identifierFieldIds: [] }, lastColumnId },
    { action: 'set-current-schema', schemaId: -1 },
    { action: 'add-spec', spec: { specId: 0, fields: options.partition ?? [] } },
    { action: 'set-default-spec', specId: -1 },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    ...(options.properties === undefined ? [] : [{ action: 'set-properties', updates: options.properties } as const]),
  ];
}

/** A table that was just created. */
export function createdTable(options: TableOptions = {}): TableMetadata {
  return applyUpdates(undefined, creation(options), { nowMs: options.nowMs ?? 1000, baseLocation: undefined });
}

export function snapshot(id: number | bigint, sequenceNumber: number, more: Partial<IcebergSnapshot> = {}): IcebergSnapshot {
  return {
    snapshotId: BigInt(id),
    parentSnapshotId: undefined,
    sequenceNumber: BigInt(sequenceNumber),
    timestampMs: 1000 + sequenceNumber,
    manifestList: `/lake/t/metadata/snap-${id}.avro`,
    manifests: undefined,
    summary: { operation: 'append' },
    schemaId: 0,
    firstRowId: undefined,
    addedRows: undefined,
    keyId: undefined,
    ...more,
  };
}

export function branch(id: number | bigint, more: Partial<SnapshotRef> = {}): SnapshotRef {
  return {
    snapshotId: BigInt(id),
    type: 'branch',
    minSnapshotsToKeep: undefined,
    maxSnapshotAgeMs: undefined,
    maxRefAgeMs: undefined,
    ...more,
  };
}

/** What adds a snapshot to the main branch. */
export function commit(one: IcebergSnapshot, refName = 'main'): readonly MetadataUpdate[] {
  return [
    { action: 'add-snapshot', snapshot: one },
    { action: 'set-snapshot-ref', refName, ref: branch(one.snapshotId) },
  ];
}

/** Metadata as its file's JSON. */
export function metadataJson(metadata: TableMetadata): JsonObject {
  const json = parseJson(printTableMetadata(metadata), 'printed metadata');
  if (!isJsonObject(json)) throw new Error('no object');
  return json;
}

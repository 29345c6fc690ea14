import type { MetadataUpdate } from '../../src/iceberg/metadata/metadata-updates.ts';
import { requirementsFor } from '../../src/iceberg/metadata/requirements.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../../src/iceberg/pointer/table-pointer.ts';

export interface Creation {
  readonly location: string;
  readonly uuid?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** The change that makes an empty table with one column. */
export function creation({ location, uuid = '11111111-2222-4333-8444-555555555555', properties = {} }: Creation): MetadataChange {
  const updates: readonly MetadataUpdate[] = [
    { action: 'assign-uuid', uuid },
    { action: 'upgrade-format-version', formatVersion: 2 },
    { action: 'add-schema', schema: idSchema, lastColumnId: 1 },
    { action: 'set-current-schema', schemaId: -1 },
    { action: 'add-spec', spec: { specId: 0, fields: [] } },
    { action: 'set-default-spec', specId: -1 },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    { action: 'set-location', location },
    { action: 'set-properties', updates: properties },
  ];
  return { requirements: requirementsFor(undefined, updates), updates };
}

const idSchema = {
  schemaId: 0,
  struct: {
    kind: 'struct',
    fields: [{ name: 'id', type: { kind: 'long' }, nullable: true, id: 1 }],
  },
  identifierFieldIds: [],
} as const;

/** A snapshot behind the base's, without files; of two that begin at one base only one may be committed. */
export function appended(base: LoadedMetadata, snapshotId: bigint): MetadataChange {
  const { metadata } = base;
  const updates: readonly MetadataUpdate[] = [
    {
      action: 'add-snapshot',
      snapshot: {
        snapshotId,
        parentSnapshotId: metadata.currentSnapshotId,
        sequenceNumber: metadata.lastSequenceNumber + 1n,
        timestampMs: metadata.lastUpdatedMs + 1,
        manifestList: `${metadata.location}/metadata/snap-${snapshotId}.avro`,
        manifests: undefined,
        summary: { operation: 'append' },
        schemaId: metadata.currentSchemaId,
        firstRowId: undefined,
        addedRows: undefined,
        keyId: undefined,
      },
    },
    {
      action: 'set-snapshot-ref',
      refName: 'main',
      ref: { snapshotId, type: 'branch', minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined },
    },
  ];
  return { requirements: requirementsFor(metadata, updates), updates };
}

export function withProperties(base: LoadedMetadata, properties: Readonly<Record<string, string>>): MetadataChange {
  const updates: readonly MetadataUpdate[] = [{ action: 'set-properties', updates: properties }];
  return { requirements: requirementsFor(base.metadata, updates), updates };
}

/** What a swap that must succeed has committed. */
export function committed(outcome: SwapOutcome): LoadedMetadata {
  if (outcome.kind === 'committed') return outcome.loaded;
  throw new Error(`not committed: ${outcome.kind === 'conflicted' ? outcome.reason : String(outcome.cause)}`, {
    cause: outcome.kind === 'unknown' ? outcome.cause : undefined,
  });
}

/** The newest metadata of a table that must be there. */
export async function loaded(pointer: TablePointer): Promise<LoadedMetadata> {
  const found = await pointer.load(undefined);
  if (found === undefined) throw new Error(`there is no table ${pointer.name}`);
  return found;
}

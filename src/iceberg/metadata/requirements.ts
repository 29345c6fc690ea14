import { assertNever } from '../../base/assert.ts';
import type { JsonObject } from '../../base/bigint-json.ts';
import type { MetadataRequirement, MetadataUpdate } from './metadata-updates.ts';
import type { TableMetadata } from './table-metadata.ts';

/** Why a requirement does not hold of the base (`undefined`: there is no table); `undefined` when all do. */
export function checkRequirements(base: TableMetadata | undefined, requirements: readonly MetadataRequirement[]): string | undefined {
  for (const requirement of requirements) {
    const complaint = complaintOf(base, requirement);
    if (complaint !== undefined) return `Requirement failed: ${complaint}`;
  }
  return undefined;
}

/**
 * What must still hold when updates that were worked out from a base are applied. A table that is created (`undefined`) must not be there;
 * of one that is replaced only the UUID counts and what the updates number by.
 */
export function requirementsFor(
  base: TableMetadata | undefined,
  updates: readonly MetadataUpdate[],
  options: { readonly replacing?: boolean | undefined } = {},
): readonly MetadataRequirement[] {
  if (base === undefined) return [{ type: 'assert-create' }];
  const requirements = new Map<string, MetadataRequirement>();
  const require = (requirement: MetadataRequirement): void => {
    const key = requirement.type === 'assert-ref-snapshot-id' ? `${requirement.type} ${requirement.ref}` : requirement.type;
    if (!requirements.has(key)) requirements.set(key, requirement);
  };
  require({ type: 'assert-table-uuid', uuid: base.tableUuid });
  for (const update of updates) {
    const derived = requirementsOf(base, update);
    for (const requirement of derived) if (options.replacing !== true || countsWhenReplaced(requirement)) require(requirement);
  }
  return [...requirements.values()];
}

/** A requirement as the REST protocol has it. */
export function requirementToJson(requirement: MetadataRequirement): JsonObject {
  switch (requirement.type) {
    case 'assert-create':
      return { type: requirement.type };
    case 'assert-table-uuid':
      return { type: requirement.type, uuid: requirement.uuid };
    case 'assert-ref-snapshot-id':
      return { type: requirement.type, ref: requirement.ref, 'snapshot-id': requirement.snapshotId ?? null };
    case 'assert-last-assigned-field-id':
      return { type: requirement.type, 'last-assigned-field-id': requirement.lastAssignedFieldId };
    case 'assert-current-schema-id':
      return { type: requirement.type, 'current-schema-id': requirement.currentSchemaId };
    case 'assert-last-assigned-partition-id':
      return { type: requirement.type, 'last-assigned-partition-id': requirement.lastAssignedPartitionId };
    case 'assert-default-spec-id':
      return { type: requirement.type, 'default-spec-id': requirement.defaultSpecId };
    case 'assert-default-sort-order-id':
      return { type: requirement.type, 'default-sort-order-id': requirement.defaultSortOrderId };
    default:
      return assertNever(requirement);
  }
}

function countsWhenReplaced({ type }: MetadataRequirement): boolean {
  return type === 'assert-table-uuid' || type === 'assert-last-assigned-field-id' || type === 'assert-last-assigned-partition-id';
}

function requirementsOf(base: TableMetadata, update: MetadataUpdate): readonly MetadataRequirement[] {
  switch (update.action) {
    case 'set-snapshot-ref': {
      const snapshotId = base.refs.get(update.refName)?.snapshotId;
      return [{ type: 'assert-ref-snapshot-id', ref: update.refName, snapshotId }];
    }
    case 'add-schema':
      return [{ type: 'assert-last-assigned-field-id', lastAssignedFieldId: base.lastColumnId }];
    case 'set-current-schema':
      return [{ type: 'assert-current-schema-id', currentSchemaId: base.currentSchemaId }];
    case 'add-spec':
      return [{ type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: base.lastPartitionId }];
    case 'set-default-spec':
      return [{ type: 'assert-default-spec-id', defaultSpecId: base.defaultSpecId }];
    case 'set-default-sort-order':
      return [{ type: 'assert-default-sort-order-id', defaultSortOrderId: base.defaultSortOrderId }];
    case 'remove-partition-specs':
      return [{ type: 'assert-default-spec-id', defaultSpecId: base.defaultSpecId }, ...branchesUnmoved(base)];
    case 'remove-schemas':
      return [{ type: 'assert-current-schema-id', currentSchemaId: base.currentSchemaId }, ...branchesUnmoved(base)];
    default:
      return [];
  }
}

/** A branch that moves may have been written with what is removed. */
function branchesUnmoved(base: TableMetadata): readonly MetadataRequirement[] {
  return [...base.refs]
    .filter(([, ref]) => ref.type === 'branch')
    .map(([ref, { snapshotId }]) => ({ type: 'assert-ref-snapshot-id', ref, snapshotId }));
}

function complaintOf(base: TableMetadata | undefined, requirement: MetadataRequirement): string | undefined {
  if (requirement.type === 'assert-create') return base === undefined ? undefined : 'table already exists';
  if (base === undefined) return 'table does not exist';
  switch (requirement.type) {
    case 'assert-table-uuid':
      return base.tableUuid.toLowerCase() === requirement.uuid.toLowerCase()
        ? undefined
        : `UUID does not match: expected ${base.tableUuid} != ${requirement.uuid}`;
    case 'assert-ref-snapshot-id':
      return refComplaint(base, requirement.ref, requirement.snapshotId);
    case 'assert-last-assigned-field-id':
      return changed('last assigned field id', requirement.lastAssignedFieldId, base.lastColumnId);
    case 'assert-current-schema-id':
      return changed('current schema', requirement.currentSchemaId, base.currentSchemaId);
    case 'assert-last-assigned-partition-id':
      return changed('last assigned partition id', requirement.lastAssignedPartitionId, base.lastPartitionId);
    case 'assert-default-spec-id':
      return changed('default partition spec', requirement.defaultSpecId, base.defaultSpecId);
    case 'assert-default-sort-order-id':
      return changed('default sort order', requirement.defaultSortOrderId, base.defaultSortOrderId);
    default:
      return assertNever(requirement);
  }
}

function refComplaint(base: TableMetadata, name: string, snapshotId: bigint | undefined): string | undefined {
  const ref = base.refs.get(name);
  if (ref === undefined) return snapshotId === undefined ? undefined : `branch or tag ${name} is missing, expected ${snapshotId}`;
  if (snapshotId === undefined) return `${ref.type} ${name} was created concurrently`;
  if (ref.snapshotId === snapshotId) return undefined;
  return `${ref.type} ${name} has changed: expected id ${snapshotId} != ${ref.snapshotId}`;
}

function changed(what: string, expected: number, found: number): string | undefined {
  return expected === found ? undefined : `${what} changed: expected id ${expected} != ${found}`;
}

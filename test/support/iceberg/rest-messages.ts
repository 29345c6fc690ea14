import type { JsonValue } from '../../../src/base/bigint-json.ts';
import { JsonMembers } from '../../../src/iceberg/metadata/json-members.ts';
import type { MetadataRequirement, MetadataUpdate } from '../../../src/iceberg/metadata/metadata-updates.ts';
import { partitionSpecFromJson } from '../../../src/iceberg/metadata/partition-spec-json.ts';
import { columnsById } from '../../../src/iceberg/metadata/schema-fields.ts';
import { schemaFromJson } from '../../../src/iceberg/metadata/schema-json.ts';
import { refFromMembers, snapshotFromJson } from '../../../src/iceberg/metadata/snapshot-json.ts';
import { sortOrderFromJson } from '../../../src/iceberg/metadata/sort-order-json.ts';
import { invalidMetadata } from '../../../src/iceberg/metadata/spec-errors.ts';
import { partitionStatisticsFromJson, statisticsFromJson } from '../../../src/iceberg/metadata/statistics-json.ts';

/** Inverse of `requirementToJson`. @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt), also for an unknown requirement. */
export function requirementFromJson(json: JsonValue | undefined, where: string): MetadataRequirement {
  const members = new JsonMembers(json, `${where}: requirement`);
  const type = members.text('type');
  switch (type) {
    case 'assert-create':
      return { type };
    case 'assert-table-uuid':
      return { type, uuid: members.text('uuid') };
    case 'assert-ref-snapshot-id':
      return { type, ref: members.text('ref'), snapshotId: members.optionalLong('snapshot-id') };
    case 'assert-last-assigned-field-id':
      return { type, lastAssignedFieldId: members.int('last-assigned-field-id') };
    case 'assert-current-schema-id':
      return { type, currentSchemaId: members.int('current-schema-id') };
    case 'assert-last-assigned-partition-id':
      return { type, lastAssignedPartitionId: members.int('last-assigned-partition-id') };
    case 'assert-default-spec-id':
      return { type, defaultSpecId: members.int('default-spec-id') };
    case 'assert-default-sort-order-id':
      return { type, defaultSortOrderId: members.int('default-sort-order-id') };
    default:
      throw invalidMetadata(where, `cannot convert update requirement, unrecognised type: ${type}`);
  }
}

/** Inverse of `updateToJson`. @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt), also for an unknown update. */
export function updateFromJson(json: JsonValue | undefined, where: string): MetadataUpdate {
  const members = new JsonMembers(json, `${where}: update`);
  const action = members.text('action');
  const read = readers.get(action);
  if (read === undefined) throw invalidMetadata(where, `cannot convert metadata update, unrecognised action: ${action}`);
  return read(members);
}

const readers: ReadonlyMap<string, (members: JsonMembers) => MetadataUpdate> = new Map<string, (members: JsonMembers) => MetadataUpdate>([
  ['assign-uuid', (members) => ({ action: 'assign-uuid', uuid: members.text('uuid') })],
  ['upgrade-format-version', upgradeOf],
  ['add-schema', addSchemaOf],
  ['set-current-schema', (members) => ({ action: 'set-current-schema', schemaId: members.int('schema-id') })],
  ['add-spec', (members) => ({ action: 'add-spec', spec: partitionSpecFromJson(members.value('spec'), members.where) })],
  ['set-default-spec', (members) => ({ action: 'set-default-spec', specId: members.int('spec-id') })],
  ['add-sort-order', (members) => ({ action: 'add-sort-order', sortOrder: sortOrderFromJson(members.value('sort-order'), members.where) })],
  ['set-default-sort-order', (members) => ({ action: 'set-default-sort-order', sortOrderId: members.int('sort-order-id') })],
  ['add-snapshot', (members) => ({ action: 'add-snapshot', snapshot: snapshotFromJson(members.value('snapshot'), members.where) })],
  ['set-snapshot-ref', (members) => ({ action: 'set-snapshot-ref', refName: members.text('ref-name'), ref: refFromMembers(members) })],
  ['remove-snapshots', (members) => ({ action: 'remove-snapshots', snapshotIds: members.longs('snapshot-ids') })],
  ['remove-snapshot-ref', (members) => ({ action: 'remove-snapshot-ref', refName: members.text('ref-name') })],
  ['set-location', (members) => ({ action: 'set-location', location: members.text('location') })],
  // Older clients say `updated` and `removed`.
  [
    'set-properties',
    (members) => ({ action: 'set-properties', updates: members.optionalTextMap('updates') ?? members.optionalTextMap('updated') ?? {} }),
  ],
  [
    'remove-properties',
    (members) => ({
      action: 'remove-properties',
      removals: members.value('removals') === undefined ? members.texts('removed') : members.texts('removals'),
    }),
  ],
  [
    'set-statistics',
    (members) => ({ action: 'set-statistics', statistics: statisticsFromJson(members.value('statistics'), members.where) }),
  ],
  ['remove-statistics', (members) => ({ action: 'remove-statistics', snapshotId: members.long('snapshot-id') })],
  [
    'set-partition-statistics',
    (members) => ({
      action: 'set-partition-statistics',
      statistics: partitionStatisticsFromJson(members.value('partition-statistics'), members.where),
    }),
  ],
  ['remove-partition-statistics', (members) => ({ action: 'remove-partition-statistics', snapshotId: members.long('snapshot-id') })],
  ['remove-partition-specs', (members) => ({ action: 'remove-partition-specs', specIds: members.optionalInts('spec-ids') ?? [] })],
  ['remove-schemas', (members) => ({ action: 'remove-schemas', schemaIds: members.optionalInts('schema-ids') ?? [] })],
]);

function upgradeOf(members: JsonMembers): MetadataUpdate {
  const formatVersion = members.int('format-version');
  if (formatVersion !== 1 && formatVersion !== 2 && formatVersion !== 3) {
    throw invalidMetadata(members.where, `cannot upgrade table to unsupported format version: v${formatVersion} (supported: v3)`);
  }
  return { action: 'upgrade-format-version', formatVersion };
}

function addSchemaOf(members: JsonMembers): MetadataUpdate {
  const schema = schemaFromJson(members.value('schema'), members.where);
  const highest = [...columnsById(schema).keys()].reduce((most, id) => Math.max(most, id), 0);
  return { action: 'add-schema', schema, lastColumnId: members.optionalInt('last-column-id') ?? highest };
}

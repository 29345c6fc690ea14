import { assertNever } from '../../base/assert.ts';
import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import { JsonMembers } from './json-members.ts';
import type { MetadataUpdate } from './metadata-updates.ts';
import { partitionSpecFromJson, partitionSpecToJson } from './partition-spec-json.ts';
import { columnsById } from './schema-fields.ts';
import { schemaFromJson, schemaToJson } from './schema-json.ts';
import { refFromMembers, refToJson, snapshotFromJson, snapshotToJson } from './snapshot-json.ts';
import { sortOrderFromJson, sortOrderToJson } from './sort-order-json.ts';
import { invalidMetadata } from './spec-errors.ts';
import { partitionStatisticsFromJson, partitionStatisticsToJson, statisticsFromJson, statisticsToJson } from './statistics-json.ts';

/** An update as the REST protocol has it. */
export function updateToJson(update: MetadataUpdate): JsonObject {
  const { action } = update;
  switch (action) {
    case 'assign-uuid':
      return { action, uuid: update.uuid };
    case 'upgrade-format-version':
      return { action, 'format-version': update.formatVersion };
    case 'add-schema':
      return { action, schema: schemaToJson(update.schema), 'last-column-id': update.lastColumnId };
    case 'set-current-schema':
      return { action, 'schema-id': update.schemaId };
    case 'add-spec':
      return { action, spec: partitionSpecToJson(update.spec) };
    case 'set-default-spec':
      return { action, 'spec-id': update.specId };
    case 'add-sort-order':
      return { action, 'sort-order': sortOrderToJson(update.sortOrder) };
    case 'set-default-sort-order':
      return { action, 'sort-order-id': update.sortOrderId };
    case 'add-snapshot':
      return { action, snapshot: snapshotToJson(update.snapshot) };
    case 'set-snapshot-ref':
      return { action, 'ref-name': update.refName, ...refToJson(update.ref) };
    case 'remove-snapshots':
      return { action, 'snapshot-ids': update.snapshotIds };
    case 'remove-snapshot-ref':
      return { action, 'ref-name': update.refName };
    case 'set-location':
      return { action, location: update.location };
    case 'set-properties':
      return { action, updates: update.updates };
    case 'remove-properties':
      return { action, removals: update.removals };
    case 'set-statistics':
      return { action, 'snapshot-id': update.statistics.snapshotId, statistics: statisticsToJson(update.statistics) };
    case 'remove-statistics':
    case 'remove-partition-statistics':
      return { action, 'snapshot-id': update.snapshotId };
    case 'set-partition-statistics':
      return { action, 'partition-statistics': partitionStatisticsToJson(update.statistics) };
    case 'remove-partition-specs':
      return { action, 'spec-ids': update.specIds };
    case 'remove-schemas':
      return { action, 'schema-ids': update.schemaIds };
    default:
      return assertNever(action);
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

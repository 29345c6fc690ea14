import { assertNever } from '../../base/assert.ts';
import type { JsonObject } from '../../base/bigint-json.ts';
import type { MetadataUpdate } from './metadata-updates.ts';
import { partitionSpecToJson } from './partition-spec-json.ts';
import { schemaToJson } from './schema-json.ts';
import { refToJson, snapshotToJson } from './snapshot-json.ts';
import { sortOrderToJson } from './sort-order-json.ts';
import { partitionStatisticsToJson, statisticsToJson } from './statistics-json.ts';

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

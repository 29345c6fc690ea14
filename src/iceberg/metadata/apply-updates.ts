import { MetadataDraft } from './metadata-draft.ts';
import type { MetadataUpdate } from './metadata-updates.ts';
import type { TableMetadata } from './table-metadata.ts';

export interface ApplyOptions {
  /** The instant of the change, milliseconds since the epoch; times of the metadata never go back. */
  readonly nowMs: number;
  /** Where the base was read from: it goes to the metadata log. */
  readonly baseLocation: string | undefined;
}

/**
 * The metadata that follows from a base (`undefined`: there is no table yet) and changes of it, checked as if it had been read. The base is
 * returned itself when the updates change nothing. Any implementation must come to the same: ids of equal schemas, specs and orders are
 * reused, -1 stands for what was added before, snapshots that were current only within these updates are not logged.
 *
 * @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid) for a change that the metadata does not allow.
 */
export function applyUpdates(base: TableMetadata | undefined, updates: readonly MetadataUpdate[], options: ApplyOptions): TableMetadata {
  const draft = new MetadataDraft(base, options.nowMs);
  for (const update of updates) apply(draft, update);
  return draft.finish(options.baseLocation);
}

function apply(draft: MetadataDraft, update: MetadataUpdate): void {
  const { action } = update;
  if (action === 'assign-uuid') draft.assignUuid(update.uuid);
  else if (action === 'upgrade-format-version') draft.upgrade(update.formatVersion);
  else if (action === 'add-schema') draft.definition.addSchema(update.schema, update.lastColumnId);
  else if (action === 'set-current-schema') draft.definition.setCurrentSchema(update.schemaId);
  else if (action === 'add-spec') draft.definition.addSpec(update.spec);
  else if (action === 'set-default-spec') draft.definition.setDefaultSpec(update.specId);
  else if (action === 'add-sort-order') draft.definition.addSortOrder(update.sortOrder);
  else if (action === 'set-default-sort-order') draft.definition.setDefaultSortOrder(update.sortOrderId);
  else if (action === 'add-snapshot') draft.addSnapshot(update.snapshot);
  else if (action === 'set-snapshot-ref') draft.setRef(update.refName, update.ref);
  else if (action === 'remove-snapshots') draft.removeSnapshots(update.snapshotIds);
  else if (action === 'remove-snapshot-ref') draft.removeRef(update.refName);
  else if (action === 'set-location') draft.setLocation(update.location);
  else if (action === 'set-properties') draft.setProperties(update.updates);
  else if (action === 'remove-properties') draft.removeProperties(update.removals);
  else if (action === 'set-statistics') draft.setStatistics(update.statistics);
  else if (action === 'remove-statistics') draft.removeStatistics(update.snapshotId);
  else if (action === 'set-partition-statistics') draft.setPartitionStatistics(update.statistics);
  else if (action === 'remove-partition-statistics') draft.removePartitionStatistics(update.snapshotId);
  else if (action === 'remove-partition-specs') draft.definition.removeSpecs(update.specIds);
  else draft.definition.removeSchemas(update.schemaIds);
}

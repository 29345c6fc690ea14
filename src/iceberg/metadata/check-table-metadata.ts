import { columnsById } from './schema-fields.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { IcebergSchema, TableMetadata } from './table-metadata.ts';

/** Writers' clocks may differ by so much. */
const clockSkewMs = 60_000;

/**
 * Checks what metadata says of itself: every id that is referred to is there and there once, times do not go back.
 *
 * @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt).
 */
export function checkTableMetadata(metadata: TableMetadata, where: string): void {
  const complaint =
    idComplaint(metadata) ?? currentComplaint(metadata) ?? snapshotComplaint(metadata) ?? refComplaint(metadata) ?? logComplaint(metadata);
  if (complaint !== undefined) throw invalidMetadata(where, complaint);
}

/** The source of the default partitioning, or of the default order, that the current schema does not have. */
export function missingSource(metadata: TableMetadata, schema: IcebergSchema): string | undefined {
  const columns = columnsById(schema);
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const partitionField = spec?.fields.find(({ sourceId, transform }) => transform.kind !== 'void' && !columns.has(sourceId));
  if (partitionField !== undefined) return `cannot find source column for partition field: ${partitionField.name}`;
  const order = metadata.sortOrders.find(({ orderId }) => orderId === metadata.defaultSortOrderId);
  const sortField = order?.fields.find(({ sourceId }) => !columns.has(sourceId));
  return sortField === undefined ? undefined : `cannot find source column for sort field: ${sortField.sourceId}`;
}

function idComplaint(metadata: TableMetadata): string | undefined {
  const lists = [
    ['schema id', metadata.schemas.map(({ schemaId }) => schemaId)],
    ['partition spec id', metadata.partitionSpecs.map(({ specId }) => specId)],
    ['sort order id', metadata.sortOrders.map(({ orderId }) => orderId)],
    ['snapshot id', metadata.snapshots.map(({ snapshotId }) => snapshotId)],
  ] as const;
  for (const [what, ids] of lists) {
    const seen = new Set<number | bigint>();
    for (const id of ids) {
      if (seen.has(id)) return `${what} ${id} is used twice`;
      seen.add(id);
    }
  }
  if (metadata.partitionSpecs.length === 0) return 'partition specs cannot be null or empty';
  if (metadata.sortOrders.length === 0) return 'sort orders cannot be null or empty';
  return undefined;
}

function currentComplaint(metadata: TableMetadata): string | undefined {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
  if (schema === undefined) return `cannot find schema with current-schema-id=${metadata.currentSchemaId}`;
  if (!metadata.partitionSpecs.some(({ specId }) => specId === metadata.defaultSpecId)) {
    return `cannot find partition spec with default-spec-id=${metadata.defaultSpecId}`;
  }
  if (!metadata.sortOrders.some(({ orderId }) => orderId === metadata.defaultSortOrderId)) {
    return `cannot find sort order with default-sort-order-id=${metadata.defaultSortOrderId}`;
  }
  return missingSource(metadata, schema);
}

function snapshotComplaint({ formatVersion, lastSequenceNumber, snapshots }: TableMetadata): string | undefined {
  const negative = [lastSequenceNumber, ...snapshots.map(({ sequenceNumber }) => sequenceNumber)].find((number) => number < 0n);
  if (negative !== undefined) return `invalid sequence number ${negative}, it must be zero or more`;
  if (formatVersion === 1) return lastSequenceNumber === 0n ? undefined : `sequence number must be 0 in v1: ${lastSequenceNumber}`;
  const ahead = snapshots.find(({ sequenceNumber }) => sequenceNumber > lastSequenceNumber);
  if (ahead === undefined) return undefined;
  return `invalid snapshot with sequence number ${ahead.sequenceNumber} greater than last sequence number ${lastSequenceNumber}`;
}

function refComplaint({ snapshots, refs, currentSnapshotId }: TableMetadata): string | undefined {
  const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId));
  if (currentSnapshotId !== undefined && !ids.has(currentSnapshotId)) return 'invalid table metadata: cannot find current version';
  for (const [name, { snapshotId }] of refs) {
    if (!ids.has(snapshotId)) return `snapshot ${snapshotId} for reference ${name} does not exist in the existing snapshots list`;
  }
  const main = refs.get('main');
  if (main?.type === 'tag') return 'main must be a branch, not a tag';
  if (main !== undefined && currentSnapshotId === undefined) return 'current snapshot is not set, but main branch exists';
  if (main !== undefined && main.snapshotId !== currentSnapshotId) {
    return `current snapshot ID does not match main branch (${currentSnapshotId} != ${main.snapshotId})`;
  }
  return undefined;
}

function logComplaint({ snapshotLog, metadataLog, lastUpdatedMs }: TableMetadata): string | undefined {
  if (goesBack(snapshotLog)) return 'expected sorted snapshot log entries';
  const lastSnapshot = snapshotLog.at(-1)?.timestampMs ?? lastUpdatedMs;
  if (lastUpdatedMs - lastSnapshot < -clockSkewMs) {
    return `invalid update timestamp ${lastUpdatedMs}: before last snapshot log entry at ${lastSnapshot}`;
  }
  if (goesBack(metadataLog)) return 'expected sorted previous metadata log entries';
  const lastMetadata = metadataLog.at(-1)?.timestampMs ?? lastUpdatedMs;
  if (lastUpdatedMs - lastMetadata < -clockSkewMs) {
    return `invalid update timestamp ${lastUpdatedMs}: before the latest metadata log entry timestamp ${lastMetadata}`;
  }
  return undefined;
}

function goesBack(entries: readonly { readonly timestampMs: number }[]): boolean {
  return entries.some(({ timestampMs }, index) => timestampMs - (entries[index - 1]?.timestampMs ?? timestampMs) < -clockSkewMs);
}

import { quotedWhenNeeded } from '../schema/sql-type.ts';
import type { TableDetail } from '../table/definition-changes.ts';
import { printWriteOrder, transformText } from '../table/partitioning/write-order.ts';
import { columnPath, fieldById } from './metadata/schema-fields.ts';
import type { SnapshotState } from './snapshot-state.ts';

/** What DESCRIBE and SHOW CREATE TABLE show of a table. */
export function icebergDetail(name: string, state: SnapshotState): TableDetail {
  const { metadata, snapshot, icebergSchema, properties } = state;
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const partitioning = (spec?.fields ?? []).flatMap(({ transform, sourceId }) => {
    const column = fieldById(icebergSchema, sourceId)?.path.map(quotedWhenNeeded).join('.');
    return column === undefined || transform.kind === 'void' ? [] : [transformText(transform, column)];
  });
  return {
    format: 'iceberg',
    id: metadata.tableUuid,
    name,
    description: properties['comment'],
    location: metadata.location,
    createdAtMs: undefined,
    lastModifiedMs: metadata.lastUpdatedMs,
    partitionColumns: state.partitionColumns,
    clusteringColumns: [],
    numFiles: state.fileCount,
    sizeInBytes: state.sizeBytes,
    properties,
    minReaderVersion: undefined,
    minWriterVersion: undefined,
    tableFeatures: [],
    partitioning,
    shownProperties: {
      'current-snapshot-id': snapshot === undefined ? 'none' : String(snapshot.snapshotId),
      format: `iceberg/${properties['write.format.default'] ?? 'parquet'}`,
      'format-version': String(metadata.formatVersion),
      ...sortOrderText(state),
      ...(icebergSchema.identifierFieldIds.length === 0
        ? {}
        : { 'identifier-fields': `[${icebergSchema.identifierFieldIds.map((id) => columnPath(icebergSchema, id) ?? '').join(',')}]` }),
    },
  };
}

/** As Iceberg describes the order that rows are written in; nothing where there is none. */
function sortOrderText({ metadata, icebergSchema }: SnapshotState): Readonly<Record<string, string>> {
  const order = metadata.sortOrders.find(({ orderId }) => orderId === metadata.defaultSortOrderId);
  if (order === undefined || order.fields.length === 0) return {};
  const keys = order.fields.map(({ transform, sourceId, direction, nullOrder }) => ({
    column: columnPath(icebergSchema, sourceId) ?? String(sourceId),
    transform,
    descending: direction === 'desc',
    nullsFirst: nullOrder === 'nulls-first',
  }));
  return { 'sort-order': printWriteOrder(keys) };
}

import { quotedWhenNeeded } from '../schema/sql-type.ts';
import type { TableDetail } from '../table/definition-changes.ts';
import { printTransform, type Transform } from '../table/partitioning/transform.ts';
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
  const fields = order.fields.map(({ transform, sourceId, direction, nullOrder }) => {
    const column = columnPath(icebergSchema, sourceId) ?? String(sourceId);
    // Of this transform alone Iceberg names the column first.
    const term = transform.kind === 'truncate' ? `truncate(${column}, ${transform.width})` : transformText(transform, column);
    return `${term} ${direction.toUpperCase()} ${nullOrder.replace('-', ' ').toUpperCase()}`;
  });
  return { 'sort-order': fields.join(', ') };
}

/** As SHOW CREATE TABLE writes a transform: `id`, `bucket(16, id)`, `truncate(4, s)`, `days(ts)`. */
function transformText(transform: Transform, column: string): string {
  switch (transform.kind) {
    case 'identity':
      return column;
    case 'bucket':
      return `bucket(${transform.count}, ${column})`;
    case 'truncate':
      return `truncate(${transform.width}, ${column})`;
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return `${transform.kind}s(${column})`;
    default:
      return `${printTransform(transform)}(${column})`;
  }
}

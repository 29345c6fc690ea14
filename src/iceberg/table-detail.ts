import type { TableDetail } from '../table/definition-changes.ts';
import { printTransform, type Transform } from '../table/partitioning/transform.ts';
import type { IcebergView } from './iceberg-view.ts';
import { columnPath, fieldById } from './spec/schema-fields.ts';

/** What DESCRIBE and SHOW CREATE TABLE show of a table. */
export function icebergDetail(name: string, view: IcebergView): TableDetail {
  const { metadata, snapshot, icebergSchema, properties } = view;
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const partitioning = (spec?.fields ?? []).flatMap(({ transform, sourceId }) => {
    const column = fieldById(icebergSchema, sourceId)?.path.map(quotedIfNeeded).join('.');
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
    partitionColumns: view.partitionColumns,
    clusteringColumns: [],
    numFiles: view.fileCount,
    sizeInBytes: view.sizeBytes,
    properties,
    minReaderVersion: undefined,
    minWriterVersion: undefined,
    tableFeatures: [],
    partitioning,
    shownProperties: {
      'current-snapshot-id': snapshot === undefined ? 'none' : String(snapshot.snapshotId),
      format: `iceberg/${properties['write.format.default'] ?? 'parquet'}`,
      'format-version': String(metadata.formatVersion),
      ...(icebergSchema.identifierFieldIds.length === 0
        ? {}
        : { 'identifier-fields': `[${icebergSchema.identifierFieldIds.map((id) => columnPath(icebergSchema, id) ?? '').join(',')}]` }),
    },
  };
}

function quotedIfNeeded(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
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

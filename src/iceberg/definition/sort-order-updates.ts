import type { WriteOrderKey } from '../../table/partitioning/write-order.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { IcebergSchema, SortField } from '../metadata/table-metadata.ts';
import { findSource } from './find-source.ts';

/** Updates that give a table the order its files are to be written in; no keys: none. @throws AnalysisException `FIELD_NOT_FOUND` (42704). */
export function sortOrderUpdates(schema: IcebergSchema, keys: readonly WriteOrderKey[]): readonly MetadataUpdate[] {
  return [
    { action: 'add-sort-order', sortOrder: { orderId: keys.length === 0 ? 0 : 1, fields: keys.map((key) => sortFieldOf(schema, key)) } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
  ];
}

function sortFieldOf(schema: IcebergSchema, { source, transform, descending, nullsFirst }: WriteOrderKey): SortField {
  return {
    transform,
    sourceId: findSource(schema, source).id,
    direction: descending ? 'desc' : 'asc',
    nullOrder: nullsFirst ? 'nulls-first' : 'nulls-last',
  };
}

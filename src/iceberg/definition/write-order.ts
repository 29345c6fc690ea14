import type { DefinitionChange, WriteOrderKey } from '../../table/definition-changes.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { IcebergSchema, SortField } from '../metadata/table-metadata.ts';
import { findSource } from './find-source.ts';

/** How rows are spread over writers before they are ordered. */
const distributionProperty = 'write.distribution-mode';

/** Updates for WRITE ORDERED BY and its kin; no keys: unordered. For files to come. @throws AnalysisException `FIELD_NOT_FOUND` (42704). */
export function writeOrderUpdates(
  schema: IcebergSchema,
  { keys, distribution }: Extract<DefinitionChange, { readonly kind: 'write-order' }>,
): readonly MetadataUpdate[] {
  return [
    { action: 'add-sort-order', sortOrder: { orderId: keys.length === 0 ? 0 : 1, fields: keys.map((key) => sortFieldOf(schema, key)) } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    ...(distribution === undefined ? [] : [{ action: 'set-properties', updates: { [distributionProperty]: distribution } } as const]),
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

import { sameOrder, sameSchema, sameSpec } from '../../iceberg/metadata/definition-draft.ts';
import type { MetadataUpdate } from '../../iceberg/metadata/metadata-updates.ts';
import type { TableMetadata } from '../../iceberg/metadata/table-metadata.ts';

const lastAdded = -1;

/**
 * Updates without the adding of schemas, specs and orders that the table has already: Java's servers take -1 only for one that is added
 * anew, and refuse it for one that was found to be there.
 */
export function effectiveUpdates(base: TableMetadata | undefined, updates: readonly MetadataUpdate[]): readonly MetadataUpdate[] {
  if (base === undefined) return updates;
  const present: Record<'schema' | 'spec' | 'order', number | undefined> = { schema: undefined, spec: undefined, order: undefined };
  return updates.flatMap((update): readonly MetadataUpdate[] => {
    switch (update.action) {
      case 'add-schema':
        present.schema =
          update.lastColumnId === base.lastColumnId ? base.schemas.find((known) => sameSchema(known, update.schema))?.schemaId : undefined;
        return present.schema === undefined ? [update] : [];
      case 'add-spec':
        present.spec = base.partitionSpecs.find((known) => sameSpec(known, update.spec))?.specId;
        return present.spec === undefined ? [update] : [];
      case 'add-sort-order':
        present.order = base.sortOrders.find((known) => sameOrder(known, update.sortOrder))?.orderId;
        return present.order === undefined ? [update] : [];
      case 'set-current-schema':
        return [{ ...update, schemaId: update.schemaId === lastAdded ? (present.schema ?? lastAdded) : update.schemaId }];
      case 'set-default-spec':
        return [{ ...update, specId: update.specId === lastAdded ? (present.spec ?? lastAdded) : update.specId }];
      case 'set-default-sort-order':
        return [{ ...update, sortOrderId: update.sortOrderId === lastAdded ? (present.order ?? lastAdded) : update.sortOrderId }];
      default:
        return [update];
    }
  });
}

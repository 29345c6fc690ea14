import type { MetadataUpdate } from '../../iceberg/metadata/metadata-updates.ts';
import { metadataPathProperty } from '../../iceberg/pointer/metadata-names.ts';
import type { ViewUpdate } from '../../iceberg/view/view-updates.ts';

/** Whether an update of a table or of a view says where its metadata goes from then on. */
export function movesMetadata(update: MetadataUpdate | ViewUpdate): boolean {
  switch (update.action) {
    case 'set-location':
      return true;
    case 'set-properties':
      return Object.hasOwn(update.updates, metadataPathProperty);
    case 'remove-properties':
      return update.removals.includes(metadataPathProperty);
    default:
      return false;
  }
}

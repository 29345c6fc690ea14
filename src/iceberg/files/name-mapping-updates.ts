import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { nameMappingOf, nameMappingProperty, printNameMapping } from '../metadata/name-mapping.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/** A table that is to have files without field ids: the state with a mapping of their names, and what gives it to the table. It keeps one that it has. */
export function withNameMapping(base: SnapshotState): { readonly state: SnapshotState; readonly updates: readonly MetadataUpdate[] } {
  const { metadata, icebergSchema } = base;
  if (metadata.properties[nameMappingProperty] !== undefined) return { state: base, updates: [] };
  const mapping = { [nameMappingProperty]: printNameMapping(nameMappingOf(icebergSchema.struct)) };
  const properties = { ...metadata.properties, ...mapping };
  return { state: { ...base, metadata: { ...metadata, properties } }, updates: [{ action: 'set-properties', updates: mapping }] };
}

import { isServiceError } from '../../base/errors.ts';
import { type MappedField, mappedId, nameMappingProperty, parseNameMapping } from '../metadata/name-mapping.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';

/**
 * Ids of columns that the table's name mapping does not find any more under a name they once had. The metrics of files without ids were made
 * by the mapping of their time: of such a column they may be those of another one, and nothing may be left out by them.
 */
export function remappedColumns(metadata: TableMetadata): ReadonlySet<number> {
  const mapping = mappingOf(metadata);
  const remapped = new Set<number>();
  if (mapping === undefined) return remapped;
  for (const schema of metadata.schemas) {
    for (const [id, { path }] of columnsById(schema)) if (mappedId(mapping, path) !== id) remapped.add(id);
  }
  return remapped;
}

/** A mapping that cannot be read is refused when a file needs it, and not before. */
function mappingOf({ properties }: TableMetadata): readonly MappedField[] | undefined {
  const text = properties[nameMappingProperty];
  try {
    return text === undefined ? undefined : parseNameMapping(text);
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

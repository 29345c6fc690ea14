import { isJsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { Field } from '../../schema/types.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { nameMappingJson, nameMappingProperty } from '../metadata/name-mapping.ts';
import { columnPath, columnsById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, TableMetadata } from '../metadata/table-metadata.ts';

/** Properties whose keys end in a column's name. */
const columnPrefixes = [
  'write.metadata.metrics.column.',
  'write.parquet.bloom-filter-enabled.column.',
  'write.parquet.stats-enabled.column.',
];

/** Changes of properties that name columns, so that they go with columns that are renamed, and go away with dropped ones. */
export function columnPropertyUpdates(metadata: TableMetadata, before: IcebergSchema, after: IcebergSchema): readonly MetadataUpdate[] {
  const updates: Record<string, string> = {};
  const removals: string[] = [];
  const ids = new Map([...columnsById(before).values()].map(({ id, path }) => [path.join('.'), id]));
  for (const [key, value] of Object.entries(metadata.properties)) {
    const prefix = columnPrefixes.find((candidate) => key.startsWith(candidate));
    const id = prefix === undefined ? undefined : ids.get(key.slice(prefix.length));
    if (prefix === undefined || id === undefined) continue;
    const name = columnPath(after, id);
    if (name !== undefined && prefix + name === key) continue;
    removals.push(key);
    if (name !== undefined) updates[prefix + name] = value;
  }
  const mapping = metadata.properties[nameMappingProperty];
  const mapped = mapping === undefined ? undefined : extendedMapping(mapping, after);
  if (mapped !== undefined && mapped !== mapping) updates[nameMappingProperty] = mapped;
  return [
    ...(removals.length === 0 ? [] : [{ action: 'remove-properties', removals } as const]),
    ...(Object.keys(updates).length === 0 ? [] : [{ action: 'set-properties', updates } as const]),
  ];
}

/** The name mapping with the names that columns have; `undefined` for text that is no mapping, which stays as it is. */
function extendedMapping(text: string, schema: IcebergSchema): string | undefined {
  let json: JsonValue;
  try {
    json = parseJson(text, nameMappingProperty);
  } catch {
    return undefined;
  }
  return Array.isArray(json) ? printJson(extended(json as readonly JsonValue[], schema.struct.fields)) : undefined;
}

/** Columns keep the names they had; a name that another column has taken is no longer theirs. */
function extended(entries: readonly JsonValue[], columns: readonly Field[]): readonly JsonValue[] {
  const owners = new Map(columns.map(({ name, id }) => [name, id]));
  const byId = new Map(columns.map((column) => [column.id, column]));
  const seen = new Set<number | undefined>();
  const kept = entries.map((entry): JsonValue => {
    if (!isJsonObject(entry)) return entry;
    const id = typeof entry['field-id'] === 'number' ? entry['field-id'] : undefined;
    const column = id === undefined ? undefined : byId.get(id);
    seen.add(id);
    const names = listOf(entry['names']).filter((name) => typeof name !== 'string' || !owners.has(name) || owners.get(name) === id);
    if (column === undefined) return { ...entry, names };
    const inside = extended(listOf(entry['fields']), innerFields(column.type));
    return {
      ...entry,
      names: names.includes(column.name) ? names : [...names, column.name],
      ...(inside.length === 0 ? {} : { fields: inside }),
    };
  });
  return [...kept, ...nameMappingJson(columns.filter(({ id }) => !seen.has(id)))];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import { columnsById, type SchemaColumn } from '../metadata/schema-fields.ts';
import type { IcebergSchema, SortOrder } from '../metadata/table-metadata.ts';

/** How much is kept of a column for each file; `truncate`: bounds of so many code points or bytes. */
export type MetricsMode = { readonly kind: 'none' | 'counts' | 'full' } | { readonly kind: 'truncate'; readonly length: number };

const prefix = 'write.metadata.metrics.';
const defaultMode: MetricsMode = { kind: 'truncate', length: 16 };
const defaultMaxColumns = 100;

/**
 * The mode of each leaf column by its id, from the table's properties: `write.metadata.metrics.default`, `….column.<name>`, and
 * `….max-inferred-column-defaults`, beyond which columns have none unless they are asked for. Sort columns have bounds always.
 *
 * @throws AnalysisException `INVALID_TABLE_PROPERTY` for a mode that does not exist.
 */
export function metricsModes(
  properties: Readonly<Record<string, string>>,
  schema: IcebergSchema,
  sortOrder: SortOrder | undefined,
): ReadonlyMap<number, MetricsMode> {
  const leaves = [...columnsById(schema).values()].filter(isLeaf);
  const stated = properties[`${prefix}default`];
  const general = stated === undefined ? defaultMode : parseMode(`${prefix}default`, stated);
  const maxColumns = Number(properties[`${prefix}max-inferred-column-defaults`] ?? defaultMaxColumns);
  // Shallow columns first, as they are the ones filtered by.
  const inferred = new Set(
    leaves
      .toSorted((a, b) => a.path.length - b.path.length)
      .slice(0, stated === undefined ? maxColumns : leaves.length)
      .map(({ id }) => id),
  );
  const sorted = new Set(sortOrder?.fields.map(({ sourceId }) => sourceId));
  return new Map(
    leaves.map((leaf) => {
      const key = `${prefix}column.${leaf.path.join('.')}`;
      const own = properties[key];
      if (own !== undefined) return [leaf.id, parseMode(key, own)] as const;
      const mode: MetricsMode = inferred.has(leaf.id) ? general : { kind: 'none' };
      const weak = mode.kind === 'none' || mode.kind === 'counts';
      return [leaf.id, weak && sorted.has(leaf.id) ? defaultMode : mode] as const;
    }),
  );
}

function isLeaf({ type }: SchemaColumn): boolean {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map';
}

function parseMode(key: string, text: string): MetricsMode {
  const lower = text.trim().toLowerCase();
  if (lower === 'none' || lower === 'counts' || lower === 'full') return { kind: lower };
  const length = Number(/^truncate\((\d{1,9})\)$/.exec(lower)?.[1] ?? 0);
  if (length > 0) return { kind: 'truncate', length };
  throw new AnalysisException({
    errorClass: 'INVALID_TABLE_PROPERTY',
    message: `Invalid metrics mode for table property ${key}: ${text}`,
    parameters: { key, value: text },
    hint: 'use none, counts, truncate(16) or full',
  });
}

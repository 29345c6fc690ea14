import { schemaOfColumns } from '../ingest/column-settings.ts';
import { compileTransform } from '../ingest/transform/compile-transform.ts';
import { isTransform, type TransformSettings } from '../ingest/transform/transform-settings.ts';
import type { ColumnSource } from '../protocol/sealed-batch.ts';
import type { TableSettings } from './table-settings.ts';

/** What of a record is in each column of the table as it is, by the column's name: with a transform, what it takes over unchanged. */
export function sourcesInTable(
  { definition, sources }: TableSettings,
  route: TransformSettings,
): readonly (readonly [string, ColumnSource])[] {
  if (!isTransform(route)) return [...sources];
  const table = definition.schema;
  const { columns } = route;
  const record = columns === undefined ? table : schemaOfColumns(columns);
  const given = columns?.map(({ source }) => source) ?? [...sources.values()];
  return compileTransform(route, { record, table }).spec.outputs.flatMap((output, index) => {
    const source = output.kind === 'record' ? given[output.column] : undefined;
    const name = table.fields[index]?.name;
    return source === undefined || name === undefined ? [] : [[name, source] as const];
  });
}

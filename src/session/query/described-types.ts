import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { DataType } from '../../schema/types.ts';
import type { QueryEnvironment } from './analyzed-query.ts';
import { engineFailure } from './engine-failure.ts';
import type { QueryContext } from './query-context.ts';
import type { NameScope } from './scope.ts';
import { standInRows } from './stand-in.ts';

/**
 * Types of a query's columns as the engine sees them, without reading rows: sources stand in by empty ones, and so do the rows of the
 * queries around it.
 *
 * @throws AnalysisException what the engine has against the query.
 */
export async function describedTypes(
  tools: { readonly context: QueryContext; readonly environment: QueryEnvironment },
  sql: string,
): Promise<readonly DataType[]> {
  const { engine, signal } = tools.context.options;
  const around: string[] = [];
  for (let scope: NameScope | undefined = tools.environment.parent; scope !== undefined; scope = scope.parent) {
    for (const entry of scope.entries) {
      const names = entry.columns.map((column) => quoteName(column.sqlName)).join(', ');
      const rows = standInRows(entry.columns.map((column) => column.field));
      around.push(`(${rows}) AS ${quoteName(entry.id)}${names === '' ? '' : `(${names})`}`);
    }
  }
  const withs: string[] = [];
  for (const named of tools.environment.named.values()) {
    const { fields } = await named.analyzed();
    withs.push(`${quoteName(named.sqlName)} AS (${standInRows(fields)})`);
  }
  const select =
    around.length === 0 ? sql : `SELECT described.* FROM ${around.join(' CROSS JOIN ')} CROSS JOIN LATERAL (${sql}) AS described`;
  try {
    const schema = await engine.describe(`${withs.length === 0 ? '' : `WITH ${withs.join(', ')} `}${select}`, signal);
    return schema.fields.map((field) => field.type);
  } catch (error) {
    throw engineFailure(error);
  }
}

import { unsupported } from '../../base/unsupported-feature.ts';
import type { StructType } from '../../schema/types.ts';
import type { CatalogViews, CreateViewMode, ViewDefinition } from '../../table/catalog-views.ts';
import { quotedName } from '../../table/table-names.ts';
import { emptyScope } from '../analyze/analysis.ts';
import { analyzePlan } from '../analyze/analyze.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import type { ResolvedName } from '../names/session-tables.ts';
import { schemaOf } from '../plan/analyzed.ts';
import { refuseDuplicateNames } from '../rows/duplicate-names.ts';
import { withExecution } from '../run/execution.ts';
import { withoutViews } from '../session-errors.ts';
import type { CreateCatalogViewStatement, ObjectName, QueryText, ViewColumn } from '../statements/statement.ts';
import { requireSameNumber } from './execute-views.ts';
import { queryPlan, type StatementContext } from './statement-context.ts';

const productName = 'tidewater';

/**
 * CREATE VIEW: the query is checked at once, and kept as it was written with the catalog and namespace that are current.
 *
 * @throws AnalysisException `CREATE_VIEW_COLUMN_ARITY_MISMATCH.…`, `COLUMN_ALREADY_EXISTS`, `INVALID_TEMP_OBJ_REFERENCE`, `RECURSIVE_VIEW`,
 * and what the catalog's `create` throws.
 */
export async function createCatalogView(context: StatementContext, statement: CreateCatalogViewStatement): Promise<CommandResult> {
  const { name, mode, query, comment } = statement;
  const properties = { ...statement.properties, ...(comment === undefined ? {} : { comment }) };
  await keepView(context, { ...viewPlace(context, name), mode, query, columns: statement.columns, properties });
  return noResult;
}

export interface KeptView extends ResolvedName {
  readonly views: CatalogViews;
  readonly mode: CreateViewMode;
  readonly query: QueryText;
  readonly columns?: readonly ViewColumn[] | undefined;
  readonly properties: Readonly<Record<string, string>>;
}

/** Makes or replaces a view of a catalog. @throws as `createCatalogView`. */
export async function keepView(context: StatementContext, kept: KeptView): Promise<void> {
  const { runtime, signal } = context;
  const { views, ident, mode, properties } = kept;
  const { schema, queryColumns } = await shapeOf(context, kept);
  const { location } = properties;
  const { tables, version } = runtime;
  const definition: ViewDefinition = {
    query: kept.query.text,
    schema,
    queryColumns,
    catalog: tables.currentCatalog.name,
    namespace: tables.currentNamespace,
    properties,
    location: location === undefined ? undefined : tables.absolutePath(location),
    engine: { name: productName, version },
  };
  await views.create(ident, definition, mode, signal);
}

/** Where a catalog keeps a view of the name. @throws AnalysisException `UNSUPPORTED_FEATURE.CATALOG_OPERATION` where it keeps none. */
export function viewPlace({ runtime }: StatementContext, { parts }: ObjectName): ResolvedName & { readonly views: CatalogViews } {
  const place = runtime.tables.resolve(parts);
  const { views } = place.catalog;
  if (views === undefined) throw withoutViews(place.catalog.name);
  return { ...place, views };
}

/** The columns that a view shows, and what its query calls them. */
async function shapeOf(
  context: StatementContext,
  { catalog, ident, query, columns }: KeptView,
): Promise<{ readonly schema: StructType; readonly queryColumns: readonly string[] }> {
  const { runtime, signal } = context;
  if (query.parameters.length > 0) throw unsupported('a parameter in the query of a view', 'write its value: the view is read without it');
  const whole = [catalog.name, ...ident.namespace, ident.name];
  const permanentView = quotedName(whole);
  // A view is read without parameters.
  const plan = { ...queryPlan(context, query), parameters: undefined };
  const scope = { ...emptyScope, permanentView, viewsAround: [permanentView] };
  const found = await withExecution(runtime, signal, async (execution) => schemaOf((await analyzePlan(execution, plan, scope)).attributes));
  const queryColumns = found.fields.map(({ name }) => name);
  if (columns !== undefined)
    requireSameNumber(
      whole.join('.'),
      columns.map((column) => column.name),
      queryColumns,
    );
  const schema: StructType = {
    kind: 'struct',
    fields: found.fields.map((field, index) => {
      const { name = field.name, comment } = columns?.[index] ?? {};
      return { ...field, name, ...(comment === undefined ? {} : { metadata: { comment } }) };
    }),
  };
  refuseDuplicateNames({ kind: 'struct', fields: schema.fields.map((field) => ({ ...field, name: field.name.toLowerCase() })) });
  return { schema, queryColumns };
}

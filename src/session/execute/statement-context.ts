import type { ParameterValues } from '../../expr/bind-parameters.ts';
import type { QueryableTable } from '../../table/table.ts';
import { quotedName, tableNotFound } from '../../table/table-names.ts';
import type { CommandTarget } from '../commands/row-commands.ts';
import type { Plan, TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { expectTable, notATable } from '../session-errors.ts';
import { parametersOf } from '../statements/query-text.ts';
import type { ObjectName, QueryText } from '../statements/statement.ts';
import { viewKeyOf } from '../temp-view-names.ts';

/** What the execution of one statement needs. */
export interface StatementContext {
  readonly runtime: SessionRuntime;
  readonly parameters: ParameterValues | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The plan of a query inside a statement. Views are those that exist as the statement is executed. */
export function queryPlan({ runtime, parameters }: StatementContext, query: QueryText): Plan & { readonly kind: 'query' } {
  return { kind: 'query', text: query.text, parameters: parametersOf(query, parameters), views: new Map(runtime.views), at: query.at };
}

/** The temporary view that a name means where views are looked for too. */
export function viewNamed({ runtime }: StatementContext, { parts }: ObjectName): Plan | undefined {
  const key = viewKeyOf(parts);
  return key === undefined ? undefined : runtime.views.get(key);
}

/**
 * The table of a statement.
 *
 * @param operation for statements that would otherwise look for a view too.
 * @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`, `PATH_NOT_FOUND`, `EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE`.
 */
export async function targetOf(context: StatementContext, name: ObjectName, operation?: string): Promise<CommandTarget> {
  const { runtime, signal } = context;
  if (operation !== undefined && viewNamed(context, name) !== undefined) throw expectTable(shownName(name), operation);
  const table = await runtime.tables.load(runtime.tables.referenceOf(name.parts), signal, operation);
  return { runtime, table, signal };
}

/** As `targetOf`, for statements that only tables of a format have. @throws AnalysisException `DELTA_TABLE_ONLY_OPERATION`. */
export async function tableOf(context: StatementContext, name: ObjectName, operation: string): Promise<QueryableTable> {
  const { runtime, signal } = context;
  const reference = referenceIn(context, name);
  const table = await runtime.tables.find(reference, signal);
  if (table !== undefined) return table;
  if ((await runtime.tables.findView(reference, signal)) !== undefined) throw expectTable(shownName(name), operation);
  throw reference.kind === 'path' ? notATable(`\`${reference.path}\``, operation) : tableNotFound(reference.parts);
}

/** What the name stands for where a bare path is the table of a directory: DESCRIBE DETAIL '/path'. */
export function referenceIn({ runtime }: StatementContext, name: ObjectName): TableReference {
  const [only = '', ...more] = name.parts;
  const isPath = more.length === 0 && only.includes('/');
  return isPath ? { kind: 'path', format: 'delta', path: only } : runtime.tables.referenceOf(name.parts);
}

/** For messages. */
export function shownName(name: ObjectName): string {
  return quotedName(name.parts);
}

import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import type { ObjectName, Statement } from '../statements/statement.ts';
import { createView } from './execute-views.ts';
import { catalogViewNamed } from './show-view.ts';
import { type StatementContext, targetOf, viewNamed } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

const result: CommandResult = {
  schema: resultSchema({ result: 'string' }),
  rows: [{ result: 'nothing is cached: tables are read from their files; DataFrame.cache() keeps the rows of a query' }],
};

/** CACHE TABLE, UNCACHE TABLE, CLEAR CACHE: nothing, and they say so; a query behind CACHE TABLE becomes a temporary view. */
export async function cacheTable(context: StatementContext, { name, optional, view }: Kind<'cache'>): Promise<CommandResult> {
  if (view !== undefined) await createView(context, view);
  else if (name !== undefined && !optional && viewNamed(context, name) === undefined) await requireThere(context, name);
  return result;
}

/** A view's query is not looked at. @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`. */
export async function requireThere(context: StatementContext, name: ObjectName): Promise<void> {
  if ((await catalogViewNamed(context, name)) !== undefined) return;
  const { table, signal } = await targetOf(context, name);
  await table.refresh(signal);
}

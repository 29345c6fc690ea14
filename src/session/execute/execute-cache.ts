import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import type { Statement } from '../statements/statement.ts';
import { createView } from './execute-views.ts';
import { type StatementContext, targetOf, viewNamed } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

const result: CommandResult = {
  schema: resultSchema({ result: 'string' }),
  rows: [{ result: 'nothing is cached: tables are read from their files; DataFrame.cache() keeps the rows of a query' }],
};

/** CACHE TABLE, UNCACHE TABLE, CLEAR CACHE: nothing, and they say so; a query behind CACHE TABLE becomes a temporary view. */
export async function cacheTable(context: StatementContext, { name, optional, view }: Kind<'cache'>): Promise<CommandResult> {
  if (view !== undefined) await createView(context, view);
  else if (name !== undefined && !optional && viewNamed(context, name) === undefined) await targetOf(context, name);
  return result;
}

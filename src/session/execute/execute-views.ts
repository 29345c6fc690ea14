import { tableNotFound } from '../../table/table-names.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import { schemaOfPlan } from '../plan/actions.ts';
import { unsupported } from '../session-errors.ts';
import type { ObjectName, Statement } from '../statements/statement.ts';
import { viewExists } from '../temp-view-names.ts';
import { queryPlan, type StatementContext, shownName } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

/** CREATE [OR REPLACE] TEMPORARY VIEW: checked at once, computed whenever it is used. */
export async function createView(context: StatementContext, statement: Kind<'create-view'>): Promise<CommandResult> {
  const { views } = context.runtime;
  const name = viewName(statement.name);
  if (views.has(name) && !statement.replace) {
    throw viewExists(shownName(statement.name), 'write CREATE OR REPLACE TEMPORARY VIEW');
  }
  const plan = queryPlan(context, statement.query);
  await schemaOfPlan(context.runtime, plan, context.signal);
  views.set(name, plan);
  return noResult;
}

export function dropView({ runtime }: StatementContext, statement: Kind<'drop-view'>): CommandResult {
  const dropped = runtime.views.delete(viewName(statement.name));
  if (!dropped && !statement.ifExists) throw tableNotFound(statement.name.parts);
  return noResult;
}

function viewName({ parts }: ObjectName): string {
  const [name = '', ...more] = parts;
  if (more.length > 0) throw unsupported('a view in a catalog', 'temporary views have names of one part');
  return name.toLowerCase();
}

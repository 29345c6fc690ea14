import type { CommandResult } from '../commands/command-result.ts';
import { deleteCommand, mergeCommand, updateCommand } from '../commands/row-commands.ts';
import type { Plan } from '../plan/plan.ts';
import { tableAt } from '../read/path-version.ts';
import type { MergeStatement, Statement } from '../statements/statement.ts';
import { queryPlan, type StatementContext, targetOf } from './statement-context.ts';
import { readPointFor } from './time-travel.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export async function deleteRows(context: StatementContext, statement: Kind<'delete'>): Promise<CommandResult> {
  const { condition, alias = statement.name.parts.at(-1) } = statement;
  return deleteCommand(await targetOf(context, statement.name), { condition, alias });
}

export async function updateRows(context: StatementContext, statement: Kind<'update'>): Promise<CommandResult> {
  const { condition, assignments, alias = statement.name.parts.at(-1) } = statement;
  return updateCommand(await targetOf(context, statement.name), { condition, assignments, alias });
}

export async function mergeRows(context: StatementContext, statement: MergeStatement): Promise<CommandResult> {
  const target = await targetOf(context, statement.target);
  const source = await sourcePlan(context, statement.source);
  const named = statement.source.kind === 'table' ? statement.source.table.parts.at(-1) : undefined;
  return mergeCommand(target, {
    source,
    targetAlias: statement.targetAlias ?? statement.target.parts.at(-1),
    sourceAlias: statement.sourceAlias ?? named,
    condition: statement.condition,
    clauses: statement.clauses,
    schemaEvolution: statement.schemaEvolution,
  });
}

async function sourcePlan(context: StatementContext, source: MergeStatement['source']): Promise<Plan> {
  if (source.kind === 'query') return queryPlan(context, source.query);
  const { parts, asOf } = source.table;
  const view = parts.length === 1 ? context.runtime.views.get((parts[0] ?? '').toLowerCase()) : undefined;
  if (view !== undefined) return view;
  const at = await readPointFor(context, asOf);
  return { kind: 'table', source: tableAt(context.runtime.tables.referenceOf(parts), at) };
}

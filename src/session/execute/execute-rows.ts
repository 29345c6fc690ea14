import { type Expression, nullExpression } from '../../expr/expression.ts';
import { traitsOf } from '../../table/formats.ts';
import { quotedName } from '../../table/table-names.ts';
import type { CommandResult } from '../commands/command-result.ts';
import { type CommandTarget, deleteCommand, mergeCommand, updateCommand } from '../commands/row-commands.ts';
import type { Plan } from '../plan/plan.ts';
import { tableAt } from '../read/path-version.ts';
import { joinedText } from '../statements/query-text.ts';
import type { AskedRows, MergeStatement, ObjectName, Statement } from '../statements/statement.ts';
import { asksQueries, ownExpression, valuesAnswered } from './scalar-values.ts';
import { queryPlan, type StatementContext, targetOf, viewNamed } from './statement-context.ts';
import { readPointFor } from './time-travel.ts';
import { overTable, refuseForeign, requireWhole, type ViewTarget, viewTarget } from './view-target.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export async function deleteRows(context: StatementContext, statement: Kind<'delete'>): Promise<CommandResult> {
  const { condition, alias = statement.name.parts.at(-1), name, asks } = statement;
  const view = await viewTarget(context, name, 'DELETE');
  if (view !== undefined) {
    refuseForeign(view, 'DELETE', condition === undefined && asks === undefined);
    const places = asks === undefined ? undefined : placesPlan(context, { name, alias, asks });
    return deleteCommand(targetBehind(context, view), { condition: optional(condition, view, alias), places });
  }
  const places = asks === undefined ? undefined : placesPlan(context, { name, alias, asks });
  return deleteCommand(await targetOf(context, name), { condition, alias, places });
}

export async function updateRows(context: StatementContext, statement: Kind<'update'>): Promise<CommandResult> {
  const { alias = statement.name.parts.at(-1), name } = statement;
  const view = await viewTarget(context, name, 'UPDATE');
  if (view !== undefined) refuseForeign(view, 'UPDATE', false);
  const target = view === undefined ? await targetOf(context, name) : targetBehind(context, view);
  const { condition, assignments, asks } = await withAnswers(context, statement, target);
  const places = asks === undefined ? undefined : placesPlan(context, { name, alias, asks });
  if (view === undefined) return updateCommand(target, { condition, assignments, alias, places });
  const assigned = assignments.map((each) => ({ target: view.column(each.target), value: overTable(each.value, view, alias) }));
  return updateCommand(target, { condition: optional(condition, view, alias), assignments: assigned, places });
}

/** Delta asks the queries of values once, before it looks at a row; queries that choose rows are its table's to refuse. */
async function withAnswers(
  context: StatementContext,
  statement: Kind<'update'>,
  { table, signal }: CommandTarget,
): Promise<Pick<Kind<'update'>, 'condition' | 'assignments' | 'asks'>> {
  const { asks, assignments } = statement;
  if (asks === undefined || !traitsOf[table.format].asksValuesOnce) return statement;
  if (asks.condition !== undefined && asksQueries(asks.condition.text)) return statement;
  const { schema } = await table.refresh(signal);
  const values = await valuesAnswered(context, asks, schema);
  return {
    condition: asks.condition === undefined ? undefined : ownExpression(context, asks.condition.text),
    assignments: assignments.map(({ target }, index) => ({ target, value: values[index] ?? nullExpression })),
  };
}

export async function mergeRows(context: StatementContext, statement: MergeStatement): Promise<CommandResult> {
  const view = await viewTarget(context, statement.target, 'MERGE');
  if (view !== undefined) {
    refuseForeign(view, 'MERGE', false);
    requireWhole(view);
  }
  const target = view === undefined ? await targetOf(context, statement.target) : targetBehind(context, view);
  const source = await sourcePlan(context, statement.source);
  const named = statement.source.kind === 'table' ? statement.source.table.parts.at(-1) : undefined;
  return mergeCommand(target, {
    source,
    targetAlias: statement.targetAlias ?? statement.target.parts.at(-1),
    sourceAlias: statement.sourceAlias ?? named,
    condition: statement.condition,
    clauses: statement.clauses,
    schemaEvolution: statement.schemaEvolution,
    asks: statement.asks,
  });
}

function targetBehind({ runtime, signal }: StatementContext, { table }: ViewTarget): CommandTarget {
  return { runtime, table, signal };
}

function optional(condition: Expression | undefined, view: ViewTarget, alias: string | undefined): Expression | undefined {
  return condition === undefined ? undefined : overTable(condition, view, alias);
}

/** The query for rows that a statement is about, in the snapshot that it changes: file and position of each, and its new values. */
function placesPlan(
  context: StatementContext,
  chosen: { readonly name: ObjectName; readonly alias: string | undefined; readonly asks: AskedRows },
): (snapshotId: bigint | undefined) => Plan {
  const { condition, values, named } = chosen.asks;
  const { parts, at } = chosen.name;
  const alias = quotedName([chosen.alias ?? '']);
  const columns = values.flatMap((value, index) => [', (', value, `) AS v${index}`]);
  const where = condition === undefined ? [] : [' WHERE ', condition];
  // A name that says which branch it means says it instead of a version.
  const selects = /^branch_/i.test(parts.at(-1) ?? '');
  return (snapshotId) => {
    const version = snapshotId === undefined || selects ? '' : ` VERSION AS OF ${snapshotId}`;
    const from = ` FROM ${quotedName(parts)}${version} AS ${alias}`;
    return queryPlan(context, joinedText(at, named, ` SELECT ${alias}._file, ${alias}._pos`, ...columns, from, ...where));
  };
}

/** The rows that a MERGE has for its table. */
export async function sourcePlan(context: StatementContext, source: MergeStatement['source']): Promise<Plan> {
  if (source.kind === 'query') return queryPlan(context, source.query);
  const { parts, asOf } = source.table;
  const view = viewNamed(context, source.table);
  if (view !== undefined) return view;
  const at = await readPointFor(context, asOf);
  return { kind: 'table', source: tableAt(context.runtime.tables.referenceOf(parts), at, context.runtime.conf.zone?.rule) };
}

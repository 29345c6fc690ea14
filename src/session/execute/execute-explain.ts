import type { Expression } from '../../expr/expression.ts';
import type { Assignment } from '../../table/row-operations.ts';
import { quotedName } from '../../table/table-names.ts';
import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import type { Plan } from '../plan/plan.ts';
import { explainPlan } from '../run/actions.ts';
import { explanationText } from '../show/explanation-text.ts';
import { joinedText } from '../statements/query-text.ts';
import type { AskedRows, ExplainStatement, MergeStatement, ObjectName, RowStatement } from '../statements/statement.ts';
import { insertedPlan } from './execute-insert.ts';
import { sourcePlan } from './execute-rows.ts';
import { queryPlan, type StatementContext, shownName } from './statement-context.ts';

/**
 * EXPLAIN of a query, or of a statement that changes rows: then the plan of the rows it looks at or writes. Nothing is changed.
 *
 * @throws AnalysisException what the query would throw when its names are looked for.
 */
export async function explain(context: StatementContext, { extended, of }: ExplainStatement): Promise<CommandResult> {
  const plan = of.kind === 'query' ? queryPlan(context, of.query) : await rowsOf(context, of);
  const explanation = await explainPlan(context.runtime, plan, context.signal);
  const command = of.kind === 'query' ? undefined : commandText(of);
  return { schema: resultSchema({ plan: 'string' }), rows: [{ plan: explanationText(explanation, { extended, command }) }] };
}

const commands = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE', merge: 'MERGE' } as const;

function commandText(statement: RowStatement): string {
  const name = statement.kind === 'merge' ? statement.target : statement.name;
  const overwrites = statement.kind === 'insert' && statement.mode === 'overwrite' ? ' OVERWRITE' : '';
  return `${commands[statement.kind]}${overwrites} ${shownName(name)}`;
}

async function rowsOf(context: StatementContext, statement: RowStatement): Promise<Plan> {
  switch (statement.kind) {
    case 'insert':
      return insertedPlan(context, statement);
    case 'merge':
      return mergedRows(context, statement);
    default: {
      const { name, alias, condition, asks } = statement;
      const values = statement.kind === 'update' && asks === undefined ? statement.assignments.flatMap(assigned) : [];
      return asks === undefined ? chosenRows({ name, alias, condition, values }) : askedRows(context, { name, alias, asks });
    }
  }
}

interface Chosen {
  readonly name: ObjectName;
  readonly alias: string | undefined;
}

function chosenRows({
  name,
  alias,
  condition,
  values,
}: Chosen & { readonly condition: Expression | undefined; readonly values: readonly Expression[] }): Plan {
  const table = targetRows({ name, alias });
  const input: Plan = condition === undefined ? table : { kind: 'filter', condition, input: table };
  return { kind: 'select', columns: [{ kind: 'star-item', except: [] }, ...values], input };
}

/** A column and its new value; the word DEFAULT stands for what the column says. */
function assigned({ target, value }: Assignment): readonly Expression[] {
  const column: Expression = { kind: 'column', path: target };
  return isDefault(value) ? [column] : [column, value];
}

function isDefault(value: Expression): boolean {
  return value.kind === 'column' && value.path.length === 1 && value.path[0]?.toUpperCase() === 'DEFAULT';
}

function askedRows(context: StatementContext, { name, alias, asks }: Chosen & { readonly asks: AskedRows }): Plan {
  const columns = asks.values.flatMap((value) => [', (', value, ')']);
  const where = asks.condition === undefined ? [] : [' WHERE ', asks.condition];
  const shown = quotedName([alias ?? name.parts.at(-1) ?? '']);
  const from = ` FROM ${quotedName(name.parts)} AS ${shown}`;
  return queryPlan(context, joinedText(name.at, asks.named, ' SELECT *', ...columns, from, ...where));
}

async function mergedRows(context: StatementContext, statement: MergeStatement): Promise<Plan> {
  const source = await sourcePlan(context, statement.source);
  const sourceName = statement.sourceAlias ?? (statement.source.kind === 'table' ? statement.source.table.parts.at(-1) : undefined);
  const right: Plan = sourceName === undefined ? source : { kind: 'alias', name: sourceName, input: source };
  const left = targetRows({ name: statement.target, alias: statement.targetAlias });
  return { kind: 'join', join: 'full', condition: statement.condition, left, right };
}

function targetRows({ name, alias }: Chosen): Plan {
  return { kind: 'alias', name: alias ?? name.parts.at(-1) ?? '', input: { kind: 'named', parts: name.parts } };
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Field } from '../../schema/types.ts';
import { tableNotFound } from '../../table/table-names.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import type { Plan } from '../plan/plan.ts';
import { schemaOfPlan } from '../run/actions.ts';
import { unsupported } from '../session-errors.ts';
import type { ObjectName, Statement } from '../statements/statement.ts';
import { globalKey, requireNoView, viewKeyOf } from '../temp-view-names.ts';
import { queryPlan, type StatementContext, shownName } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

/** CREATE [OR REPLACE] TEMPORARY VIEW: checked at once, computed whenever it is used. */
export async function createView(context: StatementContext, statement: Kind<'create-view'>): Promise<CommandResult> {
  const { views } = context.runtime;
  const key = newViewKey(statement);
  if (!statement.replace) requireNoView(key, views, 'write CREATE OR REPLACE TEMPORARY VIEW');
  const input = queryPlan(context, statement.query);
  const { fields } = await schemaOfPlan(context.runtime, input, context.signal);
  const { columns } = statement;
  if (columns !== undefined && columns.length !== fields.length) throw otherNumber(statement.name, columns.length, fields.length);
  const fixed = fixedColumns(input, fields);
  const plan: Plan = columns === undefined ? fixed : { kind: 'to-names', names: columns, input: fixed };
  views.set(key, plan);
  return noResult;
}

/** A view has the columns that it had when it was made, whatever its tables get later. */
function fixedColumns(input: Plan, fields: readonly Field[]): Plan {
  const names = new Set(fields.map((field) => field.name.toLowerCase()));
  if (names.size < fields.length) return input;
  return { kind: 'select', columns: fields.map(({ name }) => ({ kind: 'column', path: [name] })), input };
}

export function dropView({ runtime }: StatementContext, statement: Kind<'drop-view'>): CommandResult {
  const key = viewKeyOf(statement.name.parts);
  if (key === undefined) throw inCatalog();
  const dropped = runtime.views.delete(key);
  if (!dropped && !statement.ifExists) throw tableNotFound(statement.name.parts);
  return noResult;
}

function otherNumber(name: ObjectName, given: number, found: number): AnalysisException {
  const what = given > found ? 'NOT_ENOUGH_DATA_COLUMNS' : 'TOO_MANY_DATA_COLUMNS';
  return new AnalysisException({
    errorClass: `CREATE_VIEW_COLUMN_ARITY_MISMATCH.${what}`,
    sqlState: '21S01',
    message: `Cannot create view ${shownName(name)}, the reason is ${given > found ? 'not enough' : 'too many'} data columns: the view has ${given}, the query ${found}.`,
  });
}

function newViewKey({ name: { parts }, global }: Kind<'create-view'>): string {
  const [name = '', ...more] = parts;
  if (more.length > 0) throw inCatalog();
  return global === true ? globalKey(name) : name.toLowerCase();
}

function inCatalog(): AnalysisException {
  return unsupported('a view in a catalog', 'temporary views have names of one part, global ones are in global_temp');
}

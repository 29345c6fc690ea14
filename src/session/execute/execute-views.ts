import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Field } from '../../schema/types.ts';
import { quotedName, tableNotFound, viewNotFound } from '../../table/table-names.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import type { Plan } from '../plan/plan.ts';
import { schemaOfPlan } from '../run/actions.ts';
import { wrongCommand } from '../session-errors.ts';
import type { Statement } from '../statements/statement.ts';
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
  if (columns !== undefined) {
    requireSameNumber(
      shownName(statement.name),
      columns,
      fields.map(({ name }) => name),
    );
  }
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

/** DROP VIEW: a temporary view of the name, else one of a catalog. */
export async function dropView({ runtime, signal }: StatementContext, statement: Kind<'drop-view'>): Promise<CommandResult> {
  const { parts } = statement.name;
  const key = viewKeyOf(parts);
  if (key !== undefined && runtime.views.delete(key)) return noResult;
  const { catalog, ident } = runtime.tables.resolve(parts);
  if (catalog.views !== undefined && (await catalog.views.drop(ident, signal))) return noResult;
  if (statement.ifExists) return noResult;
  if ((await catalog.load(ident, signal)) !== undefined) throw wrongCommand('DROP VIEW', parts, { isTable: true });
  throw catalog.views === undefined ? tableNotFound(parts) : viewNotFound([...ident.namespace, ident.name]);
}

/** @throws AnalysisException `CREATE_VIEW_COLUMN_ARITY_MISMATCH.…` (21S01) */
export function requireSameNumber(viewName: string, columns: readonly string[], data: readonly string[]): void {
  if (columns.length === data.length) return;
  const many = columns.length < data.length;
  const parameters = { viewName, viewColumns: columns.join(', '), dataColumns: data.join(', ') };
  throw new AnalysisException({
    errorClass: `CREATE_VIEW_COLUMN_ARITY_MISMATCH.${many ? 'TOO_MANY_DATA_COLUMNS' : 'NOT_ENOUGH_DATA_COLUMNS'}`,
    message: `Cannot create view ${viewName}, the reason is ${many ? 'too many' : 'not enough'} data columns:\nView columns: ${parameters.viewColumns}.\nData columns: ${parameters.dataColumns}.`,
    parameters,
  });
}

function newViewKey({ name: { parts }, global }: Kind<'create-view'>): string {
  const [name = '', ...more] = parts;
  if (more.length > 0) throw severalParts(parts);
  return global === true ? globalKey(name) : name.toLowerCase();
}

export function severalParts(parts: readonly string[]): AnalysisException {
  const actualName = quotedName(parts);
  return new AnalysisException({
    errorClass: 'TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS',
    message: `CREATE TEMPORARY VIEW or the corresponding Dataset APIs only accept single-part view names, but got: ${actualName}.`,
    hint: 'temporary views have names of one part, global ones are in global_temp; without TEMPORARY a catalog keeps the view',
    parameters: { actualName },
  });
}

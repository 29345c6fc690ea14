import { hasAggregate } from '../../expr/expression-tree.ts';
import { expressionSql, quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import { answeredValue, extentQuestion, type FieldOf } from './answer-from-extent.ts';
import { columnSql } from './column-sql.ts';

/** Aggregates over a whole table that its metadata tells, without its rows. */
export async function toldByMetadata(
  { outputs, input }: Extract<Analyzed, { readonly kind: 'aggregate' | 'project' }>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { source, fields } = wholeRows(input);
  if (source.kind !== 'table' || source.appendedAfter !== undefined) return undefined;
  const fieldOf: FieldOf = ({ path: [id = '', ...members] }) => (members.length === 0 ? fields.get(id) : undefined);
  const question = extentQuestion(
    outputs.map(({ value }) => value),
    fieldOf,
  );
  const extent = question === undefined ? undefined : await source.table.extent(source.snapshot, question, signal);
  if (extent === undefined) return undefined;
  const columns = outputs.map(
    ({ attribute, value }) => `${expressionSql(answeredValue(value, extent, fieldOf), columnSql)} AS ${quoteName(attribute.id)}`,
  );
  return `SELECT ${columns.join(', ')}`;
}

/** Where the rows of a plan come from that has as many, and what of its columns are columns there. */
function wholeRows(plan: Analyzed): { readonly source: Analyzed; readonly fields: ReadonlyMap<string, Field> } {
  if (plan.kind !== 'project' || plan.outputs.some(({ value }) => hasAggregate(value))) {
    return { source: plan, fields: new Map(plan.attributes.map(({ id, field }) => [id, field])) };
  }
  const { source, fields } = wholeRows(plan.input);
  const passed = plan.outputs.flatMap(({ attribute, value }) => {
    const field = value.kind === 'column' && value.path.length === 1 ? fields.get(value.path[0] ?? '') : undefined;
    return field === undefined ? [] : [[attribute.id, field] as const];
  });
  return { source, fields: new Map(passed) };
}

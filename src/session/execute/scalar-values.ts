import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { bindParameters } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { DataFrame } from '../data-frame.ts';
import type { Plan } from '../plan/plan.ts';
import { type SubqueryForm, subqueryOf } from '../plan/subquery-name.ts';
import { schemaOfPlan } from '../run/actions.ts';
import { splitSubqueries } from '../sql/split-subqueries.ts';
import { joinedText } from '../statements/query-text.ts';
import type { AskedRows, QueryText } from '../statements/statement.ts';
import { queryPlan, type StatementContext } from './statement-context.ts';

/** Where the queries stand, and what they cannot know of. */
interface Asking {
  readonly context: StatementContext;
  /** `WITH …` before the statement. */
  readonly named: QueryText | undefined;
  /** Columns of the rows that the values are for: queries are asked once, for all of them. */
  readonly schema: StructType;
}

/**
 * Values of an UPDATE with each query in them answered: a constant in its place.
 *
 * @throws AnalysisException `UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.…` (0A000) for a query that is no single value or differs from row to
 * row, and what queries throw.
 */
export async function valuesAnswered(context: StatementContext, asks: AskedRows, schema: StructType): Promise<readonly Expression[]> {
  const asking: Asking = { context, named: asks.named, schema };
  const answered: Expression[] = [];
  for (const { text } of asks.values) answered.push(await valueAnswered(asking, text));
  return answered;
}

export function asksQueries(text: string): boolean {
  return splitSubqueries(text).queries.size > 0;
}

/** A part of the statement's text that asks nothing. @throws AnalysisException `UNSUPPORTED_FEATURE` for `?`, whose number is not known here. */
export function ownExpression({ parameters }: StatementContext, text: string): Expression {
  if (Array.isArray(parameters) && parameters.length > 0)
    throw unsupported('? in an UPDATE that asks queries', 'name the parameters: :name');
  return bindParameters(parseExpression(text), parameters ?? {});
}

async function valueAnswered(asking: Asking, text: string): Promise<Expression> {
  const { main, queries } = splitSubqueries(text);
  const answers = new Map<string, Expression>();
  let written = '';
  let from = 0;
  for (const { kind, value, position, end } of main) {
    const asked = kind === 'quoted-name' ? subqueryOf(value) : undefined;
    if (asked === undefined) continue;
    if (asked.form !== 'scalar') throw refused(asked.form);
    const tokens = queries.get(asked.key) ?? [];
    const query = text.slice(tokens[0]?.position.offset ?? 0, tokens.at(-1)?.position.offset ?? 0);
    answers.set(value, await answer(asking, query));
    written += `${text.slice(from, position.offset)}\`${value}\``;
    from = end;
  }
  const expression = ownExpression(asking.context, written + text.slice(from));
  return mapExpression(expression, (node) => (node.kind === 'column' ? (answers.get(node.path[0] ?? '') ?? node) : node));
}

/** The one value of a query, as a constant of its type. */
async function answer(asking: Asking, query: string): Promise<Expression> {
  try {
    const { fields } = await schemaOfPlan(asking.context.runtime, planOf(asking, `(${query})`), asking.context.signal);
    const type: DataType = fields[0]?.type ?? { kind: 'void' };
    refuseNested(type);
    // Text says every value of a plain type exactly; bytes as hexadecimal digits.
    const shown = type.kind === 'binary' ? `hex((${query}))` : `CAST((${query}) AS STRING)`;
    const [row] = await new DataFrame(asking.context.runtime, planOf(asking, shown)).collect();
    const text: unknown = row?.['v'];
    if (typeof text !== 'string') return { kind: 'cast', operand: { kind: 'literal', literal: { type: 'null' } }, type, safe: false };
    const literal: Expression = { kind: 'literal', literal: { type: 'string', value: text } };
    if (type.kind === 'binary') return { kind: 'call', name: 'unhex', arguments: [literal] };
    return { kind: 'cast', operand: literal, type, safe: false };
  } catch (error) {
    throw isOfRows(error, asking.schema) ? refused('correlated') : error;
  }
}

function planOf({ context, named }: Asking, value: string): Plan {
  return queryPlan(context, joinedText({ offset: 0, line: 1, column: 1 }, named, ` SELECT ${value} AS v`));
}

/** A name that the query does not know may be one of the rows that are updated. */
function isOfRows(error: unknown, schema: StructType): boolean {
  if (!(error instanceof AnalysisException) || !error.errorClass.startsWith('UNRESOLVED_COLUMN')) return false;
  const name = error.parameters['objectName']?.split('.').at(-1)?.replaceAll('`', '').toLowerCase();
  return schema.fields.some((field) => field.name.toLowerCase() === name);
}

function refuseNested(type: DataType): void {
  if (!['struct', 'list', 'map', 'variant'].includes(type.kind)) return;
  throw unsupported('a query in SET that gives a nested value', 'MERGE with the query as its source');
}

function refused(form: Exclude<SubqueryForm, 'scalar'> | 'correlated'): AnalysisException {
  const [category, what] =
    form === 'correlated'
      ? ['UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY', 'Correlated scalar subqueries can only be used in filters, aggregations, projections']
      : ['UNSUPPORTED_IN_EXISTS_SUBQUERY', 'IN/EXISTS predicate subqueries can only be used in filters, joins, aggregations, projections'];
  return new AnalysisException({
    errorClass: `UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.${category}`,
    kind: 'unsupported',
    message: `Unsupported subquery expression: ${what}.`,
    hint: 'MERGE with the query as its source',
  });
}

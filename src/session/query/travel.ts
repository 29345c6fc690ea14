import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Expression } from '../../expr/expression.ts';
import { printExpression } from '../../expr/print-expression.ts';
import type { QueryExpressions } from './expressions.ts';
import type { QueryContext } from './query-context.ts';
import type { QueryChangePoint, QueryPoint } from './query-source.ts';
import { emptyScope } from './scope.ts';
import type { TravelClause } from './select-tree.ts';

export interface TravelTools {
  readonly context: QueryContext;
  readonly expressions: QueryExpressions;
}

/** @throws AnalysisException `INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT` 42K0E, `INVALID_TIME_TRAVEL_VERSION`. */
export function travelPoint(tools: TravelTools, travel: TravelClause): Promise<QueryPoint> {
  return travel.kind === 'version' ? versionPoint(tools, travel.value) : timestampPoint(tools, travel.value, travel.text);
}

/** A version by number, or a time by text: the ends of a range of changes. */
export async function changePoint(tools: TravelTools, value: Expression): Promise<QueryChangePoint> {
  const prepared = tools.context.prepared(value);
  const literal = prepared.kind === 'literal' ? prepared.literal : undefined;
  if (literal?.type === 'integer') return { kind: 'version', version: Number(literal.value) };
  return timestampPoint(tools, value, literal?.type === 'string' ? literal.value : printExpression(prepared));
}

async function versionPoint(tools: TravelTools, value: Expression): Promise<QueryPoint> {
  const text = textOf(value);
  if (text !== undefined) return { kind: 'version', version: text };
  const version = await evaluate(tools, value, 'BIGINT').catch(() => undefined);
  if (typeof version === 'bigint') return { kind: 'version', version };
  throw new AnalysisException({
    errorClass: 'INVALID_TIME_TRAVEL_VERSION',
    sqlState: '42K0E',
    message: `The time travel version ${printExpression(value)} is not a whole number.`,
  });
}

async function timestampPoint(
  tools: TravelTools,
  value: Expression,
  text: string,
): Promise<Extract<QueryPoint, { readonly kind: 'timestamp' }>> {
  try {
    const micros = await evaluate(tools, value, 'TIMESTAMP WITH TIME ZONE');
    if (typeof micros === 'bigint') return { kind: 'timestamp', micros, text: textOf(value) ?? text };
  } catch (error) {
    if (isServiceError(error, 'aborted', 'unavailable') || error instanceof AnalysisException) throw error;
  }
  throw new AnalysisException({
    errorClass: 'INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT',
    sqlState: '42K0E',
    message: `The time travel timestamp expression "${text}" is invalid. Cannot be casted to the "TIMESTAMP" type.`,
    parameters: { expr: text },
  });
}

async function evaluate({ context, expressions }: TravelTools, value: Expression, type: string): Promise<unknown> {
  const sql = expressions.print(await expressions.bind(value, emptyScope));
  const cast = `CAST(${sql} AS ${type})`;
  const rows = await context.options.engine.rows(`SELECT ${type === 'BIGINT' ? cast : `epoch_us(${cast})`}`, context.options.signal);
  return rows[0]?.[0];
}

function textOf(value: Expression): string | undefined {
  return value.kind === 'literal' && value.literal.type === 'string' ? value.literal.value : undefined;
}

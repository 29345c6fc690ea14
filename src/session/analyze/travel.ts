import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Expression } from '../../expr/expression.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import { columnSql } from '../lower/column-sql.ts';
import type { ChangePoint, ReadPoint, TravelClause } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';

/** @throws AnalysisException `INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT` 42K0E, `INVALID_TIME_TRAVEL_VERSION`. */
export function travelPoint(analysis: Analysis, travel: TravelClause): Promise<ReadPoint> {
  return travel.kind === 'version' ? versionPoint(analysis, travel.value) : timestampPoint(analysis, travel.value, travel.text);
}

/** A version by number, or a time by text: the ends of a range of changes. */
export async function changePoint(analysis: Analysis, value: Expression): Promise<ChangePoint> {
  const prepared = analysis.prepared(value);
  const literal = prepared.kind === 'literal' ? prepared.literal : undefined;
  if (literal?.type === 'integer') return { kind: 'version', version: Number(literal.value) };
  if (literal?.type === 'null') throw nullBoundary();
  if (literal?.type === 'boolean') throw noBoundary(value);
  return timestampPoint(analysis, value, literal?.type === 'string' ? literal.value : printExpression(prepared));
}

function nullBoundary(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CDC_READ_NULL_RANGE_BOUNDARY',
    message: 'CDC read start/end parameters cannot be null. Please provide a valid version or timestamp.',
  });
}

function noBoundary(value: Expression): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_EXPRESSION',
    message: `Unsupported expression type of ${printExpression(value)} for the range of changes. The supported types are INT, BIGINT, STRING and TIMESTAMP.`,
  });
}

async function versionPoint(analysis: Analysis, value: Expression): Promise<ReadPoint> {
  const text = textOf(value);
  if (text !== undefined) return { kind: 'version', version: text };
  const version = await evaluate(analysis, value, 'long').catch(() => undefined);
  if (typeof version === 'bigint') return { kind: 'version', version };
  throw new AnalysisException({
    errorClass: 'INVALID_TIME_TRAVEL_VERSION',
    message: `The time travel version ${printExpression(value)} is not a whole number.`,
  });
}

async function timestampPoint(
  analysis: Analysis,
  value: Expression,
  text: string,
): Promise<Extract<ReadPoint, { readonly kind: 'timestamp' }>> {
  try {
    const micros = await evaluate(analysis, value, 'timestamp');
    if (typeof micros === 'bigint') return { kind: 'timestamp', micros, text: textOf(value) ?? text };
  } catch (error) {
    if (isServiceError(error, 'aborted', 'unavailable') || error instanceof AnalysisException) throw error;
  }
  throw new AnalysisException({
    errorClass: 'INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT',
    message: `The time travel timestamp expression "${text}" is invalid. Cannot be casted to the "TIMESTAMP" type.`,
    parameters: { expr: text },
  });
}

async function evaluate(analysis: Analysis, value: Expression, kind: 'timestamp' | 'long'): Promise<unknown> {
  const given: Expression = { kind: 'cast', operand: value, type: { kind }, safe: false };
  const cast = expressionSql(await analysis.within({ outer: [] }).bind(given, { attributes: [] }), columnSql);
  const { engine, signal } = analysis.execution;
  const rows = await engine.rows(`SELECT ${kind === 'long' ? cast : `epoch_us(${cast})`}`, signal);
  return rows[0]?.[0];
}

function textOf(value: Expression): string | undefined {
  return value.kind === 'literal' && value.literal.type === 'string' ? value.literal.value : undefined;
}

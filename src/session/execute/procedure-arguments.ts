import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import type { Expression, Literal } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { parseInstantText } from '../../expr/parse/temporal-text.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { DataType } from '../../schema/types.ts';
import type { ProcedureParameter, ProcedureValue } from '../../table/queries.ts';
import { fixedNow } from '../commands/row-commands.ts';
import { columnSql } from '../lower/column-sql.ts';
import { evaluationError } from '../run/evaluation-error.ts';
import type { CallArgument } from '../statements/statement.ts';
import type { StatementContext } from './statement-context.ts';

/**
 * The value of a procedure's argument: a literal, an expression of the current time, `map('key', 'value', …)` or `array(…)`.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` for a value of another type, `CAST_INVALID_INPUT` for a text that is none of the type.
 */
export async function argumentValue(context: StatementContext, parameter: ProcedureParameter, value: Expression): Promise<ProcedureValue> {
  const { type } = parameter;
  if (type === 'string-map') return textMap(parameter, value);
  if (type === 'string-list' || type === 'long-list') return list(parameter, value);
  if (value.kind === 'literal' && value.literal.type === 'null') return undefined;
  if (value.kind === 'literal') {
    const found = literalValue(type, value.literal, context.runtime.conf.zone?.rule);
    if (found !== undefined) return found;
    if (value.literal.type === 'string' && (type === 'int' || type === 'long')) throw castFailed(value.literal.value, type);
  }
  if (type === 'timestamp') {
    const micros = await evaluated(context, parameter, value);
    if (micros !== undefined) return micros;
  }
  const negated = value.kind === 'unary' && value.operator === '-' ? value.operand : undefined;
  if (negated?.kind === 'literal' && negated.literal.type === 'integer' && (type === 'int' || type === 'long')) {
    return type === 'int' ? -Number(negated.literal.value) : -negated.literal.value;
  }
  throw mismatch(parameter, value);
}

function literalValue(type: ProcedureParameter['type'], literal: Literal, zone: ZoneRule): ProcedureValue {
  switch (type) {
    case 'string':
      return literal.type === 'string' ? literal.value : undefined;
    case 'boolean':
      return literal.type === 'boolean' ? literal.value : undefined;
    case 'int':
      return wholeNumber(literal) === undefined ? undefined : Number(wholeNumber(literal));
    case 'long':
      return wholeNumber(literal);
    case 'timestamp':
      return literal.type === 'string' ? parseInstantText(literal.value, zone) : undefined;
    default:
      return undefined;
  }
}

/** Text is read as a number, as Spark casts arguments. */
function wholeNumber(literal: Literal): bigint | undefined {
  if (literal.type === 'integer') return literal.value;
  return literal.type === 'string' && /^\s*[+-]?\d{1,18}\s*$/.test(literal.value)
    ? BigInt(literal.value.trim().replace(/^\+/, ''))
    : undefined;
}

function textMap(parameter: ProcedureParameter, value: Expression): ReadonlyMap<string, string> {
  if (value.kind !== 'call' || value.name.toLowerCase() !== 'map') throw mismatch(parameter, value);
  const texts = value.arguments.map((argument) => text(parameter, argument));
  if (texts.length % 2 !== 0) throw mismatch(parameter, value);
  const entries = texts.flatMap((key, index) => (index % 2 === 0 ? [[key, texts[index + 1] ?? ''] as const] : []));
  return new Map(entries);
}

function list(parameter: ProcedureParameter, value: Expression): readonly (string | bigint)[] {
  if (value.kind !== 'call' || value.name.toLowerCase() !== 'array') throw mismatch(parameter, value);
  return value.arguments.map((argument) => {
    if (parameter.type === 'string-list') return text(parameter, argument);
    if (argument.kind === 'literal' && argument.literal.type === 'integer') return argument.literal.value;
    throw mismatch(parameter, argument);
  });
}

/** Values of a map may be written as numbers and switches too. */
function text(parameter: ProcedureParameter, value: Expression): string {
  if (value.kind === 'literal' && value.literal.type === 'string') return value.literal.value;
  if (value.kind === 'literal' && (value.literal.type === 'integer' || value.literal.type === 'boolean'))
    return String(value.literal.value);
  throw mismatch(parameter, value);
}

/** A time as an expression: microseconds. */
async function evaluated(context: StatementContext, parameter: ProcedureParameter, value: Expression): Promise<bigint | undefined> {
  const cast: Expression = { kind: 'cast', operand: value, type: { kind: 'timestamp' }, safe: false };
  const bound = bindExpression(fixedNow(context, cast), []);
  const given = bound.kind === 'cast' ? expressionType(bound.operand)?.kind : undefined;
  if (given !== undefined && !castToTimes.has(given)) throw mismatch(parameter, value);
  const engine = await context.runtime.openEngine();
  try {
    const [row] = await engine.rows(`SELECT epoch_us(${expressionSql(bound, columnSql)})`, context.signal);
    return typeof row?.[0] === 'bigint' ? row[0] : undefined;
  } catch (error) {
    throw evaluationError(error, false);
  }
}

const castToTimes: ReadonlySet<DataType['kind']> = new Set(['string', 'date', 'timestamp', 'timestamp_ntz']);

/** @throws AnalysisException `UNEXPECTED_POSITIONAL_ARGUMENT` for an argument by place behind one by name. */
export function requireNamedLast(procedure: string, given: readonly CallArgument[]): void {
  const firstNamed = given.findIndex(({ name }) => name !== undefined);
  if (firstNamed < 0 || given.slice(firstNamed).every(({ name }) => name !== undefined)) return;
  const parameterName = `\`${given[firstNamed]?.name ?? ''}\``;
  throw new AnalysisException({
    errorClass: 'UNEXPECTED_POSITIONAL_ARGUMENT',
    message: `Cannot invoke routine \`${procedure}\` because it contains positional argument(s) following the named argument assigned to ${parameterName}; please rearrange them so the positional arguments come first and then retry the query again.`,
    parameters: { routineName: `\`${procedure}\``, parameterName },
  });
}

function castFailed(text: string, type: string): AnalysisException {
  const targetType = type === 'int' ? '"INT"' : '"BIGINT"';
  return new AnalysisException({
    errorClass: 'CAST_INVALID_INPUT',
    message: `The value '${text}' of the type "STRING" cannot be cast to ${targetType} because it is malformed.`,
    parameters: { expression: `'${text}'`, sourceType: '"STRING"', targetType },
  });
}

function mismatch(parameter: ProcedureParameter, value: Expression): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `The argument \`${parameter.name}\` requires the type ${parameter.type}, however ${printExpression(value)} is of another.`,
    parameters: { paramName: parameter.name, requiredType: parameter.type },
  });
}

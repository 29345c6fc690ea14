import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import type { Expression, Literal } from '../../expr/expression.ts';
import { parseInstantText } from '../../expr/parse/temporal-text.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { ProcedureParameter, ProcedureValue } from '../../table/queries.ts';
import { fixedNow } from '../commands/row-commands.ts';
import { columnSql } from '../lower/column-sql.ts';
import type { StatementContext } from './statement-context.ts';

/**
 * The value of a procedure's argument: a literal, an expression of the current time, `map('key', 'value', …)` or `array(…)`.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` for a value of another type.
 */
export async function argumentValue(context: StatementContext, parameter: ProcedureParameter, value: Expression): Promise<ProcedureValue> {
  const { type } = parameter;
  if (type === 'string-map') return textMap(parameter, value);
  if (type === 'string-list' || type === 'long-list') return list(parameter, value);
  if (value.kind === 'literal' && value.literal.type === 'null') return undefined;
  if (value.kind === 'literal') {
    const found = literalValue(type, value.literal, context.runtime.conf.zone?.rule);
    if (found !== undefined) return found;
  }
  if (type === 'timestamp') {
    const micros = await evaluated(context, value);
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
      return literal.type === 'integer' ? Number(literal.value) : undefined;
    case 'long':
      return literal.type === 'integer' ? literal.value : undefined;
    case 'timestamp':
      return literal.type === 'string' ? parseInstantText(literal.value, zone) : undefined;
    default:
      return undefined;
  }
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
async function evaluated(context: StatementContext, value: Expression): Promise<bigint | undefined> {
  const cast: Expression = { kind: 'cast', operand: value, type: { kind: 'timestamp' }, safe: false };
  const sql = expressionSql(bindExpression(fixedNow(context, cast), []), columnSql);
  const engine = await context.runtime.openEngine();
  const [row] = await engine.rows(`SELECT epoch_us(${sql})`, context.signal);
  return typeof row?.[0] === 'bigint' ? row[0] : undefined;
}

function mismatch(parameter: ProcedureParameter, value: Expression): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `The argument \`${parameter.name}\` requires the type ${parameter.type}, however ${printExpression(value)} is of another.`,
    parameters: { paramName: parameter.name, requiredType: parameter.type },
  });
}

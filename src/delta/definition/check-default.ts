import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { hasAggregate } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { upCasts } from '../../schema/up-casts.ts';

/** The column of a default, and the command that gives it. */
export interface DefaultOf {
  readonly column: Pick<Field, 'name' | 'type'>;
  readonly command: string;
}

/**
 * Refuses a default that could never be computed, before a column has it: no row could leave the column out.
 *
 * @throws ParseException for text that is no expression; AnalysisException `INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION`,
 * `INVALID_DEFAULT_VALUE.DATA_TYPE` (both 42623), `UNSUPPORTED_EXPR_FOR_OPERATOR` (42K0E), `CAST_OVERFLOW` (22003), and what binding and
 * printing throw: `UNRESOLVED_ROUTINE`, `WRONG_NUM_ARGS`.
 */
export function checkDefault(text: string, of: DefaultOf): void {
  const bound = boundDefault(text, of);
  if (hasAggregate(bound)) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_EXPR_FOR_OPERATOR',
      message: `A query operator contains one or more unsupported expressions: the DEFAULT ${text} of \`${of.column.name}\` is an aggregate.`,
    });
  }
  // The time of the statement is a constant to it, as in Spark.
  const constant = bindNow(bound, { micros: 0n });
  const type = expressionType(constant);
  if (type !== undefined && !upCasts(type, of.column.type) && !fits(constant, of.column.type)) {
    throw invalid(
      'DATA_TYPE',
      text,
      of,
      `which requires ${sqlTypeName(of.column.type)} type, but the statement provided a value of incompatible ${sqlTypeName(type)} type.`,
    );
  }
  expressionSql(constant, columnPathSql);
}

function boundDefault(text: string, of: DefaultOf): Expression {
  try {
    return bindExpression(parseExpression(text), []);
  } catch (error) {
    if (!(error instanceof AnalysisException) || !error.errorClass.startsWith('UNRESOLVED_COLUMN')) throw error;
    throw invalid('UNRESOLVED_EXPRESSION', text, of, 'which fails to resolve as a valid expression.', error);
  }
}

const integerBits: Readonly<Record<string, number>> = { byte: 8, short: 16, integer: 32, long: 64 };
const numberText = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s*$/;

/** Whether a constant can be made a value of the type, though not all of its type can. */
function fits(bound: Expression, type: DataType): boolean {
  if (bound.kind !== 'literal') return false;
  const { literal } = bound;
  const bits = integerBits[type.kind];
  if (bits === undefined) return true;
  switch (literal.type) {
    case 'integer':
      return BigInt.asIntN(bits, literal.value) === literal.value;
    case 'string':
      return numberText.test(literal.value);
    case 'decimal': {
      const whole = literal.unscaled / 10n ** BigInt(literal.scale);
      if (BigInt.asIntN(bits, whole) !== whole) throw overflow(whole, type);
      return true;
    }
    default:
      return true;
  }
}

function overflow(value: bigint, type: DataType): AnalysisException {
  return new AnalysisException({
    errorClass: 'CAST_OVERFLOW',
    message: `The value ${value} cannot be cast to ${sqlTypeName(type)} due to an overflow.`,
    hint: 'give the column a wider type',
  });
}

function invalid(
  subclass: 'DATA_TYPE' | 'UNRESOLVED_EXPRESSION',
  text: string,
  { column, command }: DefaultOf,
  why: string,
  cause?: unknown,
): AnalysisException {
  return new AnalysisException({
    errorClass: `INVALID_DEFAULT_VALUE.${subclass}`,
    message: `Failed to execute ${command} command because the destination column or variable \`${column.name}\` has a DEFAULT value ${text}, ${why}`,
    parameters: { statement: command, colName: column.name, defaultValue: text },
    cause,
  });
}

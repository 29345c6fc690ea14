import { AnalysisException } from '../base/analysis-exception.ts';
import type { Expression, Literal } from './expression.ts';
import { mapExpression } from './expression-tree.ts';
import { integerLiteral } from './parse/number-literal.ts';

/**
 * A value for a parameter: integers are INT or BIGINT by their size (bigint always BIGINT), other numbers DOUBLE, `Date` TIMESTAMP.
 * A literal expression gives any other type.
 */
export type ParameterValue = string | number | bigint | boolean | null | Uint8Array | Date | Expression;
/** By name for `:name`, in order for `?`. */
export type ParameterValues = readonly ParameterValue[] | Readonly<Record<string, ParameterValue>>;

/**
 * The expression with values in the place of parameters.
 *
 * @throws AnalysisException `UNBOUND_SQL_PARAMETER` 42P02 for a parameter without a value.
 */
export function bindParameters(expression: Expression, values: ParameterValues): Expression {
  return mapExpression(expression, (node) => {
    if (node.kind !== 'parameter') return node;
    const value = valueOf(node.name, values);
    if (value === undefined) throw unbound(String(node.name));
    return literalOf(value);
  });
}

/** A plain value as a literal expression. @throws AnalysisException `UNSUPPORTED_LITERAL_VALUE` for a number no type holds. */
export function literalOf(value: ParameterValue): Expression {
  if (typeof value === 'object' && value !== null && 'kind' in value) return value;
  const literal = plainLiteral(value);
  if (literal !== undefined) return { kind: 'literal', literal };
  throw new AnalysisException({
    errorClass: 'UNSUPPORTED_LITERAL_VALUE',
    sqlState: '22003',
    message: `the value ${String(value)} fits no SQL type`,
  });
}

/** `current_timestamp()`, `now()`, `localtimestamp()`, `current_date()` and their like replaced by one instant: microseconds since the epoch. */
export function bindNow(expression: Expression, micros: bigint): Expression {
  return mapExpression(expression, (node) => {
    if (node.kind !== 'call' || node.arguments.length > 0) return node;
    const literal = instantOf(node.name.toLowerCase(), micros);
    return literal === undefined ? node : { kind: 'literal', literal };
  });
}

const microsPerDay = 86_400_000_000n;

function instantOf(name: string, micros: bigint): Literal | undefined {
  switch (name) {
    case 'current_timestamp':
    case 'now':
      return { type: 'timestamp', micros };
    case 'localtimestamp':
      return { type: 'timestamp_ntz', micros };
    case 'current_date':
    case 'curdate': {
      const days = micros / microsPerDay - (micros % microsPerDay < 0n ? 1n : 0n);
      return { type: 'date', days: Number(days) };
    }
    case 'unix_timestamp':
      return { type: 'integer', value: micros / 1_000_000n, width: 'long' };
    default:
      return undefined;
  }
}

function plainLiteral(value: Exclude<ParameterValue, Expression>): Literal | undefined {
  if (value === null) return { type: 'null' };
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? integerLiteral(BigInt(value)) : { type: 'double', value };
  if (typeof value === 'bigint') return longLiteral(value);
  if (value instanceof Uint8Array) return { type: 'binary', value };
  const millis = value.getTime();
  return Number.isNaN(millis) ? undefined : { type: 'timestamp', micros: BigInt(millis) * 1000n };
}

function longLiteral(value: bigint): Literal | undefined {
  const fits = BigInt.asIntN(64, value) === value;
  return fits ? { type: 'integer', value, width: 'long' } : integerLiteral(value);
}

function valueOf(name: string | number, values: ParameterValues): ParameterValue | undefined {
  if (isList(values)) return typeof name === 'number' ? values[name] : undefined;
  return typeof name === 'string' && Object.hasOwn(values, name) ? values[name] : undefined;
}

function isList(values: ParameterValues): values is readonly ParameterValue[] {
  return Array.isArray(values);
}

function unbound(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNBOUND_SQL_PARAMETER',
    sqlState: '42P02',
    message: `Found the unbound parameter: ${name}.`,
    hint: 'give a value for it, by name for :name and in order for ?',
    parameters: { name },
  });
}

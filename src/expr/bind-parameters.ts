import { AnalysisException } from '../base/analysis-exception.ts';
import type { Expression, Literal } from './expression.ts';
import { mapExpression } from './expression-tree.ts';
import { integerLiteral } from './parse/number-literal.ts';
import { type StatementTime, toInstantMicros, toLocalMicros, type ZoneRule } from './time-zone.ts';

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
    message: `the value ${String(value)} fits no SQL type`,
  });
}

/**
 * `current_timestamp()`, `now()`, `localtimestamp()`, `current_date()` and their like replaced by one instant, and the statement's zone put
 * where local times take part. What is bound already stays as it is.
 */
export function bindNow(expression: Expression, time: StatementTime): Expression {
  const rule = time.zone?.rule;
  return mapExpression(expression, (node) => {
    if (node.kind === 'literal') return fixedLiteral(node, rule);
    const literal = node.kind === 'call' && node.arguments.length === 0 ? instantOf(node.name.toLowerCase(), time) : undefined;
    if (literal !== undefined) return { kind: 'literal', literal };
    return rule !== undefined && takesZone(node) && node.zone === undefined ? { ...node, zone: rule } : node;
  });
}

type ZonedNode = Extract<Expression, { kind: 'binary' | 'is-distinct' | 'in' | 'between' | 'case' | 'cast' | 'call' }>;
const zonedKinds: ReadonlySet<string> = new Set<ZonedNode['kind']>(['binary', 'is-distinct', 'in', 'between', 'case', 'cast', 'call']);

function takesZone(node: Expression): node is ZonedNode {
  return zonedKinds.has(node.kind);
}

/** A time that was written without a zone is one of the statement's. */
function fixedLiteral(node: Extract<Expression, { kind: 'literal' }>, rule: ZoneRule): Expression {
  if (rule === undefined || node.literal.type !== 'timestamp' || node.literal.local !== true) return node;
  return { kind: 'literal', literal: { type: 'timestamp', micros: toInstantMicros(node.literal.micros, rule) } };
}

/** The expression as it is shown: times that are written in it are local ones of the zone. Only to be printed. */
export function shownInZone(expression: Expression, rule: ZoneRule): Expression {
  return mapExpression(expression, (node) => {
    if (node.kind !== 'literal' || node.literal.type !== 'timestamp') return node;
    const fixed = fixedLiteral(node, rule);
    if (fixed.kind !== 'literal' || fixed.literal.type !== 'timestamp') return node;
    return { kind: 'literal', literal: { type: 'timestamp', micros: toLocalMicros(fixed.literal.micros, rule), local: true } };
  });
}

const microsPerDay = 86_400_000_000n;

function instantOf(name: string, { micros, zone, told }: StatementTime): Literal | undefined {
  const text = told !== undefined && Object.hasOwn(told, name) ? told[name] : undefined;
  if (text !== undefined) return { type: 'string', value: text };
  switch (name) {
    case 'current_timestamp':
    case 'now':
      return { type: 'timestamp', micros };
    case 'localtimestamp':
      return { type: 'timestamp_ntz', micros: toLocalMicros(micros, zone?.rule) };
    case 'current_timezone':
      return zone === undefined ? undefined : { type: 'string', value: zone.name };
    case 'current_date':
    case 'curdate': {
      const local = toLocalMicros(micros, zone?.rule);
      const days = local / microsPerDay - (local % microsPerDay < 0n ? 1n : 0n);
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
  // Places that were counted beforehand are text.
  if (isList(values)) return values[Number(name)];
  return typeof name === 'string' && Object.hasOwn(values, name) ? values[name] : undefined;
}

function isList(values: ParameterValues): values is readonly ParameterValue[] {
  return Array.isArray(values);
}

function unbound(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNBOUND_SQL_PARAMETER',
    message: `Found the unbound parameter: ${name}.`,
    hint: 'give a value for it, by name for :name and in order for ?',
    parameters: { name },
  });
}

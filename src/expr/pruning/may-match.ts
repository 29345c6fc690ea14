import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { BinaryOperator, Expression, Literal } from '../expression.ts';
import { boundOf, type Comparable, compare, literalFor } from './comparable.ts';
import { anything, both, canBeFalse, canBeNull, canBeTrue, either, inverse, type Truth } from './truth.ts';

/** What is known of the values of one column in one file. Everything may be missing. */
export interface ColumnFacts {
  readonly type: DataType;
  /** No value is smaller; NaN counts as no value. */
  readonly min?: BoundValue | boolean | undefined;
  /** No value is greater, NaN aside. */
  readonly max?: BoundValue | boolean | undefined;
  readonly nullCount?: number | undefined;
}

/** What is known of the rows of one file. */
export interface FileFacts {
  readonly rowCount?: number | undefined;
  /** By the column's path in the table's schema; `undefined`: nothing is known. */
  column(path: readonly string[]): ColumnFacts | undefined;
}

/**
 * Whether a row of the file may satisfy the bound condition. Conservative: whatever is not understood may. Floating point bounds never rule
 * out a `>`: writers disagree on whether NaN, which is greater than all numbers, takes part in them.
 */
export function mayMatch(condition: Expression, facts: FileFacts): boolean {
  return (truthOf(condition, facts) & canBeTrue) !== 0;
}

function truthOf(condition: Expression, facts: FileFacts): Truth {
  switch (condition.kind) {
    case 'literal':
      return literalTruth(condition.literal);
    case 'column':
      return comparison('=', condition, { type: 'boolean', value: true }, facts);
    case 'unary':
      return condition.operator === 'not' ? inverse(truthOf(condition.operand, facts)) : anything;
    case 'binary':
      return binaryTruth(condition, facts);
    case 'is':
      return isTruth(condition, facts);
    case 'is-distinct': {
      const same = binaryTruth({ kind: 'binary', operator: '<=>', left: condition.left, right: condition.right }, facts);
      return condition.negated ? same : inverse(same);
    }
    case 'in': {
      const found = condition.options
        .map((option) => binaryTruth({ kind: 'binary', operator: '=', left: condition.operand, right: option }, facts))
        .reduce(either, canBeFalse);
      return condition.negated ? inverse(found) : found;
    }
    case 'between': {
      const low = binaryTruth({ kind: 'binary', operator: '>=', left: condition.operand, right: condition.low }, facts);
      const high = binaryTruth({ kind: 'binary', operator: '<=', left: condition.operand, right: condition.high }, facts);
      return condition.negated ? inverse(both(low, high)) : both(low, high);
    }
    case 'like':
      return likeTruth(condition, facts);
    case 'call':
      return prefixCallTruth(condition, facts);
    default:
      return anything;
  }
}

function literalTruth(literal: Literal): Truth {
  if (literal.type === 'null') return canBeNull;
  if (literal.type !== 'boolean') return anything;
  return literal.value ? canBeTrue : canBeFalse;
}

function binaryTruth(condition: Expression & { readonly kind: 'binary' }, facts: FileFacts): Truth {
  const { operator, left, right } = condition;
  if (operator === 'and') return both(truthOf(left, facts), truthOf(right, facts));
  if (operator === 'or') return either(truthOf(left, facts), truthOf(right, facts));
  const [leftLiteral, rightLiteral] = [constantOf(left), constantOf(right)];
  if (left.kind === 'column' && rightLiteral !== undefined) return comparison(operator, left, rightLiteral, facts);
  const turned = mirrored.get(operator);
  if (right.kind === 'column' && leftLiteral !== undefined && turned !== undefined) return comparison(turned, right, leftLiteral, facts);
  return anything;
}

const mirrored: ReadonlyMap<BinaryOperator, BinaryOperator> = new Map([
  ['=', '='],
  ['<>', '<>'],
  ['<=>', '<=>'],
  ['<', '>'],
  ['<=', '>='],
  ['>', '<'],
  ['>=', '<='],
]);

function comparison(operator: BinaryOperator, column: Expression & { readonly kind: 'column' }, literal: Literal, facts: FileFacts): Truth {
  const known = facts.column(column.path);
  if (known === undefined || !mirrored.has(operator)) return anything;
  const nulls = nullsOf(known, facts);
  if (literal.type === 'null') {
    if (operator !== '<=>') return canBeNull;
    return (nulls.some ? canBeTrue : 0) | (nulls.all ? 0 : canBeFalse);
  }
  const values = nulls.all ? 0 : valueTruth(operator === '<=>' ? '=' : operator, known, literal);
  const ofNulls = operator === '<=>' ? canBeFalse : canBeNull;
  return values | (nulls.some ? ofNulls : 0);
}

/** The outcomes for the values of a column that are not null. */
function valueTruth(operator: BinaryOperator, known: ColumnFacts, literal: Literal): Truth {
  const wanted = literalFor(literal, known.type);
  if (wanted === undefined) return canBeTrue | canBeFalse;
  const floating = known.type.kind === 'float' || known.type.kind === 'double';
  const [min, max] = [widened(boundOf(known.min, known.type), known.type, -1), widened(boundOf(known.max, known.type), known.type, 1)];
  const fromMin = min === undefined ? undefined : compare(wanted, min);
  const fromMax = max === undefined ? undefined : compare(wanted, max);
  const belowAll = fromMin !== undefined && fromMin < 0;
  // A NaN may lie above the bound.
  const aboveNumbers = fromMax !== undefined && fromMax > 0;
  const aboveAll = aboveNumbers && !floating;
  switch (operator) {
    case '=':
      return belowAll || aboveNumbers ? canBeFalse : constant(fromMin, fromMax, floating) ? canBeTrue : canBeTrue | canBeFalse;
    case '<>':
      return belowAll || aboveNumbers ? canBeTrue : constant(fromMin, fromMax, floating) ? canBeFalse : canBeTrue | canBeFalse;
    case '<':
      return outcome({ never: fromMin !== undefined && fromMin <= 0, always: aboveAll });
    case '<=':
      return outcome({ never: belowAll, always: fromMax !== undefined && fromMax >= 0 && !floating });
    case '>':
      return outcome({ never: fromMax !== undefined && fromMax >= 0 && !floating, always: belowAll });
    case '>=':
      return outcome({ never: aboveAll, always: fromMin !== undefined && fromMin <= 0 });
    default:
      return canBeTrue | canBeFalse;
  }
}

/** All values are the literal. */
function constant(fromMin: number | undefined, fromMax: number | undefined, floating: boolean): boolean {
  return fromMin === 0 && fromMax === 0 && !floating;
}

function outcome(known: { readonly never: boolean; readonly always: boolean }): Truth {
  return known.never ? canBeFalse : known.always ? canBeTrue : canBeTrue | canBeFalse;
}

/** Bounds of 32-bit floats are written with as few digits as tell them apart: widened by more than that can be off. */
function widened(bound: Comparable | undefined, type: DataType, direction: 1 | -1): Comparable | undefined {
  if (bound?.kind !== 'double' || type.kind !== 'float') return bound;
  return { kind: 'double', value: bound.value + direction * (Math.abs(bound.value) * 1e-6 + 1e-44) };
}

function nullsOf(known: ColumnFacts, facts: FileFacts): { readonly some: boolean; readonly all: boolean } {
  const { nullCount } = known;
  return { some: nullCount !== 0, all: nullCount !== undefined && facts.rowCount !== undefined && nullCount >= facts.rowCount };
}

function isTruth(condition: Expression & { readonly kind: 'is' }, facts: FileFacts): Truth {
  let holds: Truth = canBeTrue | canBeFalse;
  if (condition.test === 'null') {
    const known = condition.operand.kind === 'column' ? facts.column(condition.operand.path) : undefined;
    if (known !== undefined) {
      const nulls = nullsOf(known, facts);
      holds = (nulls.some ? canBeTrue : 0) | (nulls.all ? 0 : canBeFalse);
    }
  } else {
    const truth = truthOf(condition.operand, facts);
    const wanted = condition.test === 'true' ? canBeTrue : canBeFalse;
    holds = (truth & wanted ? canBeTrue : 0) | (truth & ~wanted ? canBeFalse : 0);
  }
  return condition.negated ? inverse(holds) : holds;
}

/** `LIKE 'prefix%…'`: only files with values that begin so. */
function likeTruth(condition: Expression & { readonly kind: 'like' }, facts: FileFacts): Truth {
  const pattern = constantOf(condition.pattern);
  if (condition.form !== 'like' || condition.negated || condition.escape !== undefined || pattern?.type !== 'string') return anything;
  const prefix = /^[^%_\\]*/.exec(pattern.value)?.[0] ?? '';
  return prefixTruth(condition.operand, prefix, facts);
}

function prefixCallTruth(condition: Expression & { readonly kind: 'call' }, facts: FileFacts): Truth {
  const [operand, prefix] = condition.arguments;
  const text = prefix === undefined ? undefined : constantOf(prefix);
  if (!/^starts_?with$/i.test(condition.name) || operand === undefined || text?.type !== 'string') return anything;
  return prefixTruth(operand, text.value, facts);
}

/** A value that begins with the prefix is not smaller than it, and cut to its length not greater. */
function prefixTruth(operand: Expression, prefix: string, facts: FileFacts): Truth {
  const known = operand.kind === 'column' ? facts.column(operand.path) : undefined;
  if (known?.type.kind !== 'string' || prefix === '') return anything;
  const wanted = Buffer.from(prefix);
  const cut = (value: string): Buffer => Buffer.from(value).subarray(0, wanted.length);
  const belowMin = typeof known.min === 'string' && Buffer.compare(wanted, cut(known.min)) < 0;
  const aboveMax = typeof known.max === 'string' && Buffer.compare(wanted, cut(known.max)) > 0;
  return belowMin || aboveMax ? canBeFalse | canBeNull : anything;
}

/** A literal, a negated one, or a cast of one to a type that reads it in one way only. */
function constantOf(expression: Expression): Literal | undefined {
  if (expression.kind === 'literal') return expression.literal;
  if (expression.kind === 'cast') {
    const inner = constantOf(expression.operand);
    return inner?.type === 'string' && ['date', 'timestamp', 'string'].includes(expression.type.kind)
      ? temporalOf(inner, expression.type)
      : undefined;
  }
  if (expression.kind !== 'unary' || expression.operator !== '-') return undefined;
  const inner = constantOf(expression.operand);
  if (inner?.type === 'integer') return { ...inner, value: -inner.value };
  if (inner?.type === 'decimal') return { ...inner, unscaled: -inner.unscaled };
  if (inner?.type === 'double' || inner?.type === 'float') return { ...inner, value: -inner.value };
  return undefined;
}

function temporalOf(literal: Literal & { readonly type: 'string' }, type: DataType): Literal | undefined {
  if (type.kind === 'string') return literal;
  const value = literalFor(literal, type);
  if (value?.kind !== 'exact') return undefined;
  return type.kind === 'date' ? { type: 'date', days: Number(value.unscaled) } : { type: 'timestamp', micros: value.unscaled };
}

import { type Random, randomInt } from '../../../src/base/random.ts';
import type { BinaryOperator, Expression, Literal } from '../../../src/expr/expression.ts';
import {
  compareValues,
  type ModelColumn,
  type ModelRow,
  type ModelState,
  type ModelStruct,
  type ModelType,
  type ModelValue,
  membersOf,
} from './model-table.ts';

export type Truth = boolean | null;

/** A condition as an expression and as a function of a row. */
export interface ModelCondition {
  readonly expression: Expression;
  holds(row: ModelRow): Truth;
}

const texts = ['', 'a', 'é', 'e\u0301', '\u{1f4a7}', '\uffff', "it's", '100%/_', '\u{10ffff}'.repeat(20), 'z'.repeat(40)] as const;
const doubles = [Number.NaN, -0, 0, 1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 0.1] as const;

/** Around the epoch and the ends of hours, days, months and years; before the epoch too. */
const instants = [
  0, -1, 1, 3_599_999_999, -3_600_000_000, 86_400_000_000, -86_400_000_001, 1_709_164_800_000_000, 1_709_251_199_999_999,
] as const;

export function pick<Option>(random: Random, options: readonly [Option, ...Option[]] | readonly Option[]): Option {
  const option = options[randomInt(random, options.length)];
  if (option === undefined) throw new RangeError('nothing to pick from');
  return option;
}

/** A value of a column; null now and then. */
export function randomValue(random: Random, column: Pick<ModelColumn, 'type' | 'members'>): ModelValue {
  if (random.next() < 0.2) return null;
  if (column.type !== 'struct') return randomScalar(random, column.type);
  return Object.fromEntries(membersOf(column).map(({ key, type }) => [key, random.next() < 0.2 ? null : randomScalar(random, type)]));
}

/** The value of a member; null in a struct that is null. */
export function memberOf(value: ModelValue, key: string): ModelStruct[string] {
  return typeof value === 'object' && value !== null ? (value[key] ?? null) : null;
}

function randomScalar(random: Random, type: Exclude<ModelType, 'struct'>): number | string {
  switch (type) {
    case 'string':
      return pick<string>(random, texts);
    case 'double':
      return pick<number>(random, doubles);
    case 'timestamp':
      return pick<number>(random, instants);
    default:
      return randomInt(random, 12);
  }
}

export function literalOf(type: ModelType, value: ModelValue): Expression {
  return { kind: 'literal', literal: literalValue(type, value) };
}

function literalValue(type: ModelType, value: ModelValue): Literal {
  if (value === null || typeof value === 'object') return { type: 'null' };
  if (type === 'string') return { type: 'string', value: String(value) };
  if (type === 'double') return { type: 'double', value: Number(value) };
  if (type === 'timestamp') return { type, micros: BigInt(value) };
  return { type: 'integer', value: BigInt(value), width: type === 'long' ? 'long' : 'integer' };
}

export function columnOf(column: ModelColumn, alias: string | undefined, member?: string): Expression {
  return { kind: 'column', path: [...(alias === undefined ? [] : [alias]), column.name, ...(member === undefined ? [] : [member])] };
}

export interface ConditionOptions {
  readonly alias?: string | undefined;
  readonly depth?: number | undefined;
}

/** Over one row of the table. */
export function randomCondition(random: Random, { columns }: Pick<ModelState, 'columns'>, options: ConditionOptions = {}): ModelCondition {
  const { alias, depth = 2 } = options;
  const kind = randomInt(random, depth === 0 ? 6 : 10);
  if (kind < 6) return randomComparison(random, pick(random, columns), alias);
  const left = randomCondition(random, { columns }, { alias, depth: depth - 1 });
  if (kind === 6) {
    return {
      expression: { kind: 'unary', operator: 'not', operand: left.expression },
      holds: (row) => negated(left.holds(row)),
    };
  }
  const right = randomCondition(random, { columns }, { alias, depth: depth - 1 });
  const operator = kind === 7 ? 'or' : 'and';
  return {
    expression: { kind: 'binary', operator, left: left.expression, right: right.expression },
    holds: (row) =>
      operator === 'or' ? negated(and(negated(left.holds(row)), negated(right.holds(row)))) : and(left.holds(row), right.holds(row)),
  };
}

function randomComparison(random: Random, column: ModelColumn, alias: string | undefined): ModelCondition {
  const nested = column.type === 'struct' && random.next() < 0.7;
  const member = nested ? pick(random, membersOf(column)) : undefined;
  const type = member?.type ?? column.type;
  const operand = columnOf(column, alias, member?.name);
  const valueOf = (row: ModelRow): ModelValue => {
    const value = row.get(column.key) ?? null;
    return member === undefined ? value : memberOf(value, member.key);
  };
  if (type === 'struct' || random.next() < 0.15) {
    const isNegated = random.next() < 0.5;
    return { expression: { kind: 'is', operand, test: 'null', negated: isNegated }, holds: (row) => (valueOf(row) === null) !== isNegated };
  }
  const operator = pick<BinaryOperator>(random, ['=', '=', '<>', '<', '<=', '>', '>=', '<=>']);
  const constant = randomScalar(random, type);
  return {
    expression: { kind: 'binary', operator, left: operand, right: literalOf(type, constant) },
    holds: (row) => compared(operator, valueOf(row), constant),
  };
}

function compared(operator: BinaryOperator, value: ModelValue, constant: number | string): Truth {
  if (value === null || typeof value === 'object') return operator === '<=>' ? false : null;
  const order = compareValues(value, constant);
  switch (operator) {
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return order === 0;
  }
}

function negated(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function and(left: Truth, right: Truth): Truth {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
}

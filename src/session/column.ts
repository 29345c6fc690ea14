import { AnalysisException } from '../base/analysis-exception.ts';
import { literalOf, type ParameterValue } from '../expr/bind-parameters.ts';
import type { BinaryOperator, Expression, SortKey, Window } from '../expr/expression.ts';
import { parseExpression } from '../expr/parse/parse-expression.ts';
import { parseDataType } from '../expr/parse/parse-type.ts';
import type { DataType } from '../schema/types.ts';

/**
 * A plain value in an expression: a whole `number` within 32 bits is an integer, a larger whole one and a `bigint` a long, others a double;
 * a `Date` is a timestamp. Decimals are text with a cast.
 */
export type LiteralValue = Exclude<ParameterValue, Expression>;

/** What column methods take beside a column: a plain value, as `lit` takes it. */
export type ColumnOrValue = Column | LiteralValue;

/** A column, or the name of one. Where a text value is meant, wrap it in `lit`. */
export type ColumnOrName = Column | string;

/** What `over` needs of a window: see `Window`. */
export interface WindowKeys {
  readonly partitionKeys: readonly Expression[];
  readonly sortKeys: readonly SortKey[];
}

/** How a column sorts, when it is used as a sort key. */
type Order = Omit<SortKey, 'expression'>;

interface ColumnParts {
  readonly expression: Expression;
  readonly order?: Order | undefined;
}

/**
 * A column expression, as `col`, `lit`, `expr` and the functions make it. Immutable; nothing is evaluated and no name is looked up until
 * a DataFrame that uses it is executed.
 */
export class Column {
  readonly expression: Expression;
  readonly #order: Order | undefined;

  constructor(parts: ColumnParts) {
    this.expression = parts.expression;
    this.#order = parts.order;
  }

  /** The column as a sort key: ascending, nulls first, unless `asc`, `desc` and their kin said otherwise. */
  get sortKey(): SortKey {
    return { expression: this.expression, ...(this.#order ?? { descending: false }) };
  }

  eq(other: ColumnOrValue): Column {
    return this.#binary('=', other);
  }

  neq(other: ColumnOrValue): Column {
    return this.#binary('<>', other);
  }

  gt(other: ColumnOrValue): Column {
    return this.#binary('>', other);
  }

  geq(other: ColumnOrValue): Column {
    return this.#binary('>=', other);
  }

  lt(other: ColumnOrValue): Column {
    return this.#binary('<', other);
  }

  leq(other: ColumnOrValue): Column {
    return this.#binary('<=', other);
  }

  /** Equality for which null equals null and nothing else. */
  eqNullSafe(other: ColumnOrValue): Column {
    return this.#binary('<=>', other);
  }

  and(other: ColumnOrValue): Column {
    return this.#binary('and', other);
  }

  or(other: ColumnOrValue): Column {
    return this.#binary('or', other);
  }

  not(): Column {
    return columnOf({ kind: 'unary', operator: 'not', operand: this.expression });
  }

  plus(other: ColumnOrValue): Column {
    return this.#binary('+', other);
  }

  minus(other: ColumnOrValue): Column {
    return this.#binary('-', other);
  }

  multiply(other: ColumnOrValue): Column {
    return this.#binary('*', other);
  }

  divide(other: ColumnOrValue): Column {
    return this.#binary('/', other);
  }

  mod(other: ColumnOrValue): Column {
    return this.#binary('%', other);
  }

  negate(): Column {
    return columnOf({ kind: 'unary', operator: '-', operand: this.expression });
  }

  bitwiseAND(other: ColumnOrValue): Column {
    return this.#binary('&', other);
  }

  bitwiseOR(other: ColumnOrValue): Column {
    return this.#binary('|', other);
  }

  bitwiseXOR(other: ColumnOrValue): Column {
    return this.#binary('^', other);
  }

  isNull(): Column {
    return columnOf({ kind: 'is', operand: this.expression, test: 'null', negated: false });
  }

  isNotNull(): Column {
    return columnOf({ kind: 'is', operand: this.expression, test: 'null', negated: true });
  }

  isNaN(): Column {
    return callOf('isnan', [this]);
  }

  /** One of the values, given as arguments or as one array. */
  isin(...values: readonly (ColumnOrValue | readonly ColumnOrValue[])[]): Column {
    const options = values.flatMap((value) => (isColumnList(value) ? value : [value])).map(expressionOf);
    return columnOf({ kind: 'in', operand: this.expression, options, negated: false });
  }

  /** Both bounds included. */
  between(low: ColumnOrValue, high: ColumnOrValue): Column {
    return columnOf({ kind: 'between', operand: this.expression, low: expressionOf(low), high: expressionOf(high), negated: false });
  }

  like(pattern: string): Column {
    return this.#like('like', pattern);
  }

  ilike(pattern: string): Column {
    return this.#like('ilike', pattern);
  }

  rlike(pattern: string): Column {
    return this.#like('rlike', pattern);
  }

  startsWith(prefix: ColumnOrValue): Column {
    return callOf('startswith', [this, prefix]);
  }

  endsWith(suffix: ColumnOrValue): Column {
    return callOf('endswith', [this, suffix]);
  }

  contains(part: ColumnOrValue): Column {
    return callOf('contains', [this, part]);
  }

  /** Characters from `start`, which counts from 1, or from the end when negative. */
  substr(start: ColumnOrValue, length: ColumnOrValue): Column {
    return callOf('substring', [this, start, length]);
  }

  /** @throws ParseException for text that is no type. */
  cast(type: DataType | string): Column {
    return columnOf({ kind: 'cast', operand: this.expression, type: typeOf(type), safe: false });
  }

  /** As `cast`, with null for what cannot be cast. */
  tryCast(type: DataType | string): Column {
    return columnOf({ kind: 'cast', operand: this.expression, type: typeOf(type), safe: true });
  }

  /** `otherNames`: of the second and later columns that a function such as `posexplode` makes. */
  alias(name: string, ...otherNames: readonly string[]): Column {
    return columnOf({ kind: 'alias', operand: this.expression, name, ...(otherNames.length === 0 ? {} : { otherNames }) });
  }

  as(name: string, ...otherNames: readonly string[]): Column {
    return this.alias(name, ...otherNames);
  }

  /** A member of a struct. */
  getField(name: string): Column {
    const { expression } = this;
    if (expression.kind === 'column') return columnOf({ ...expression, path: [...expression.path, name] });
    return columnOf({ kind: 'member', operand: expression, name });
  }

  /** An element of a list (from 0) or the value of a map's key. */
  getItem(index: ColumnOrValue): Column {
    return columnOf({ kind: 'element', operand: this.expression, index: expressionOf(index) });
  }

  /** Adds a branch to what `when` began. @throws AnalysisException `INVALID_WHEN_USAGE` for other columns, or after `otherwise`. */
  when(condition: Column, value: ColumnOrValue): Column {
    const { expression } = this;
    if (expression.kind !== 'case' || expression.otherwise !== undefined) throw wrongWhen('when()');
    return columnOf({ ...expression, branches: [...expression.branches, { when: condition.expression, then: expressionOf(value) }] });
  }

  /** The value when no branch of `when` holds. @throws AnalysisException `INVALID_WHEN_USAGE`. */
  otherwise(value: ColumnOrValue): Column {
    const { expression } = this;
    if (expression.kind !== 'case' || expression.otherwise !== undefined) throw wrongWhen('otherwise()');
    return columnOf({ ...expression, otherwise: expressionOf(value) });
  }

  /** Applies an aggregate or window function over a window. */
  over(window: WindowKeys): Column {
    const { expression } = this;
    if (expression.kind !== 'call') throw notAFunction();
    const over: Window = { partitionBy: window.partitionKeys, orderBy: window.sortKeys };
    return columnOf({ ...expression, over });
  }

  asc(): Column {
    return this.#ordered({ descending: false });
  }

  ascNullsFirst(): Column {
    return this.#ordered({ descending: false, nullsFirst: true });
  }

  ascNullsLast(): Column {
    return this.#ordered({ descending: false, nullsFirst: false });
  }

  desc(): Column {
    return this.#ordered({ descending: true });
  }

  descNullsFirst(): Column {
    return this.#ordered({ descending: true, nullsFirst: true });
  }

  descNullsLast(): Column {
    return this.#ordered({ descending: true, nullsFirst: false });
  }

  #ordered(order: Order): Column {
    return new Column({ expression: this.expression, order });
  }

  #binary(operator: BinaryOperator, other: ColumnOrValue): Column {
    return columnOf({ kind: 'binary', operator, left: this.expression, right: expressionOf(other) });
  }

  #like(form: 'like' | 'ilike' | 'rlike', pattern: string): Column {
    return columnOf({ kind: 'like', form, operand: this.expression, pattern: expressionOf(pattern), negated: false });
  }
}

export function columnOf(expression: Expression): Column {
  return new Column({ expression });
}

/** A column as it is, a value as a literal. */
export function expressionOf(value: ColumnOrValue): Expression {
  return value instanceof Column ? value.expression : literalOf(value);
}

/** A condition or value given as a column or as SQL text. @throws ParseException. */
export function expressionFrom(source: Column | string): Expression {
  return typeof source === 'string' ? parseExpression(source) : source.expression;
}

/** A column by its name: `a`, `t.a`, `a.member`, with backticks around names that have dots. `*` and `t.*` stand for all columns. */
export function namedColumn(name: string): Expression {
  if (name === '*') return { kind: 'star' };
  if (name.endsWith('.*')) return { kind: 'star', qualifier: namePath(name.slice(0, -2)).join('.') };
  return { kind: 'column', path: namePath(name) };
}

export function callOf(name: string, values: readonly ColumnOrValue[]): Column {
  return columnOf({ kind: 'call', name, arguments: values.map(expressionOf) });
}

/** The parts of a dotted name; backticks quote, doubled ones stand for themselves. */
export function namePath(name: string): readonly string[] {
  const parts: string[] = [];
  const pattern = /`((?:[^`]|``)*)`|([^.`]+)/y;
  let at = 0;
  while (at <= name.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(name);
    const part = match?.[1]?.replaceAll('``', '`') ?? match?.[2];
    if (match === null || part === undefined || part === '') return [name];
    parts.push(part);
    at = pattern.lastIndex;
    if (at === name.length) return parts;
    if (name[at] !== '.') return [name];
    at += 1;
  }
  return [name];
}

function isColumnList(value: ColumnOrValue | readonly ColumnOrValue[]): value is readonly ColumnOrValue[] {
  return Array.isArray(value);
}

function typeOf(type: DataType | string): DataType {
  return typeof type === 'string' ? parseDataType(type) : type;
}

function wrongWhen(method: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_WHEN_USAGE',
    message: `${method} can only follow when(), and otherwise() ends it`,
    hint: 'begin with when(condition, value) from the functions',
  });
}

function notAFunction(): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_EXPR_FOR_WINDOW',
    message: 'over() was called on an expression that is not a function',
    hint: 'call it on an aggregate or a window function, such as sum(col("a")).over(window)',
  });
}

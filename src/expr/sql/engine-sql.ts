import { AnalysisException } from '../../base/analysis-exception.ts';
import { assertNever } from '../../base/assert.ts';
import type { DataType } from '../../schema/types.ts';
import type { BinaryOperator, Expression, Window } from '../expression.ts';
import { argumentTypes, expressionType } from '../expression-type.ts';
import { isSame } from '../functions/common-argument.ts';
import { checkCall } from '../functions.ts';
import { requireParameterTypes } from '../parameter-types.ts';
import { printBound } from '../print-expression.ts';
import { requireComparable, requirePartitionKey } from '../require-comparable.ts';
import type { ZoneRule } from '../time-zone.ts';
import { castSql } from './cast-sql.ts';
import { type ComparedOptions, comparedOperands } from './compared-operands.ts';
import { literalSql, sqlText } from './engine-text.ts';
import { arithmeticSql, comparisonSql, likeSql, listElementSql, type TypedSql } from './operator-sql.ts';

export { columnPathSql, literalSql, quoteName, sqlText, typeSql } from './engine-text.ts';

/** The engine's SQL of a column: its path in the schema's spelling and the alias it was bound to. */
export type ColumnSql = (path: readonly string[], qualifier: string | undefined) => string;

/** Aggregates that order their argument. */
const orderedBy: ReadonlySet<string> = new Set(['min', 'max']);

/** Longer SQL of one expression is refused. In UTF-16 units. */
const maxSqlLength = 8 * 1024 * 1024;

/**
 * A bound expression as SQL of the engine, with the meaning it has in Spark's ANSI mode: `/` divides as doubles (decimals as decimals) and by
 * zero is an error, casts cut fractions off, positions count from 1, an element past a list's end is an error, a missing map key NULL, local times
 * are those of the zone that binding gave, UTC by default.
 * Nothing in it stands as the user wrote it: names and texts are quoted, numbers printed. Types come from binding; without them casts of
 * unknown operands decide when the engine plans.
 *
 * @throws AnalysisException `UNRESOLVED_ROUTINE` 42883, `WRONG_NUM_ARGS` 42605, `UNSUPPORTED_FUNCTION`, `UNBOUND_SQL_PARAMETER` 42P02,
 * `EXPRESSION_TOO_LARGE`.
 */
export function expressionSql(expression: Expression, columnSql: ColumnSql): string {
  return new SqlPrinter(columnSql).print(expression, new Map());
}

/** SQL of lambda parameters by their name in lower case. */
type Parameters = ReadonlyMap<string, string>;

class SqlPrinter {
  readonly #columnSql: ColumnSql;
  #lambdaCount = 0;

  constructor(columnSql: ColumnSql) {
    this.#columnSql = columnSql;
  }

  print(expression: Expression, parameters: Parameters): string {
    const sql = this.#printNode(expression, parameters);
    if (sql.length <= maxSqlLength) return sql;
    throw new AnalysisException({
      errorClass: 'EXPRESSION_TOO_LARGE',
      message: `an expression takes more than ${maxSqlLength} characters of SQL`,
      hint: 'join with a table of the values, or compute it in steps',
    });
  }

  #printNode(expression: Expression, parameters: Parameters): string {
    const print = (part: Expression): string => this.print(part, parameters);
    switch (expression.kind) {
      case 'column':
        // NULL without a type takes any, as a column does of which nothing else is known.
        return expression.type?.kind === 'void' ? 'NULL' : this.#column(expression, parameters);
      case 'literal':
        return literalSql(expression.literal);
      case 'unary':
        return expression.operator === 'not'
          ? `(NOT ${print(expression.operand)})`
          : `(${expression.operator} ${print(expression.operand)})`;
      case 'binary':
        return this.#binary(expression, parameters);
      case 'is':
        return `(${print(expression.operand)} IS ${expression.negated ? 'NOT ' : ''}${expression.test.toUpperCase()})`;
      case 'is-distinct':
        return comparisonSql(
          expression.negated ? '<=>' : 'is distinct',
          ...this.#compared([expression.left, expression.right], parameters, expression),
        );
      case 'in': {
        const [operand, ...options] = this.#compared([expression.operand, ...expression.options], parameters, {
          zone: expression.zone,
          isList: true,
        });
        const list = options.map((option) => option.sql).join(', ');
        return `(${operand?.sql ?? 'NULL'} ${expression.negated ? 'NOT ' : ''}IN (${list}))`;
      }
      case 'between': {
        const [operand, low, high] = this.#compared([expression.operand, expression.low, expression.high], parameters, expression);
        return `(${operand?.sql ?? 'NULL'} ${expression.negated ? 'NOT ' : ''}BETWEEN ${low?.sql ?? 'NULL'} AND ${high?.sql ?? 'NULL'})`;
      }
      case 'like':
        return likeSql(expression, print);
      case 'case':
        return this.#case(expression, parameters);
      case 'cast':
        return castSql(print(expression.operand), {
          from: expressionType(expression.operand),
          to: expression.type,
          safe: expression.safe,
          zone: expression.zone,
        });
      case 'call':
        return this.#call(expression, parameters);
      case 'member':
        return `struct_extract(${print(expression.operand)}, ${sqlText(expression.name)})`;
      case 'element':
        return this.#element(expression, parameters);
      case 'lambda':
        return this.#lambda(expression, parameters, false);
      case 'alias':
        return print(expression.operand);
      case 'parameter':
      case 'star':
        throw misplaced(expression);
      default:
        return assertNever(expression);
    }
  }

  #column(column: Extract<Expression, { kind: 'column' }>, parameters: Parameters): string {
    const [first = '', ...members] = column.path;
    const parameter = column.qualifier === undefined ? parameters.get(first.toLowerCase()) : undefined;
    if (parameter === undefined) return this.#columnSql(column.path, column.qualifier);
    return members.reduce((sql, member) => `struct_extract(${sql}, ${sqlText(member)})`, parameter);
  }

  #binary(expression: Extract<Expression, { kind: 'binary' }>, parameters: Parameters): string {
    const { operator } = expression;
    if (operator === 'and' || operator === 'or') {
      return `(${this.print(expression.left, parameters)} ${operator.toUpperCase()} ${this.print(expression.right, parameters)})`;
    }
    if (isComparison(operator))
      return comparisonSql(operator, ...this.#compared([expression.left, expression.right], parameters, expression));
    return arithmeticSql(
      operator,
      this.#operand(expression.left, parameters),
      this.#operand(expression.right, parameters),
      expression.zone,
    );
  }

  #operand(expression: Expression, parameters: Parameters): TypedSql {
    const literal = expression.kind === 'literal' ? expression.literal : undefined;
    return { sql: this.print(expression, parameters), type: expressionType(expression), literal };
  }

  #compared(expressions: readonly Expression[], parameters: Parameters, options: ComparedOptions): readonly TypedSql[] {
    return comparedOperands(
      expressions.map((expression) => this.#operand(expression, parameters)),
      options,
    );
  }

  #case(expression: Extract<Expression, { kind: 'case' }>, parameters: Parameters): string {
    const result = expressionType(expression);
    const value = (part: Expression): string => this.#chosen(part, result, { parameters, zone: expression.zone });
    const condition = (when: Expression): string =>
      expression.operand === undefined
        ? this.print(when, parameters)
        : comparisonSql('=', ...this.#compared([expression.operand, when], parameters, expression));
    const branches = expression.branches.map(({ when, then }) => ` WHEN ${condition(when)} THEN ${value(then)}`).join('');
    const otherwise = expression.otherwise === undefined ? '' : ` ELSE ${value(expression.otherwise)}`;
    return `(CASE${branches}${otherwise} END)`;
  }

  /** One of several values of which one is chosen: dates and local times beside instants become such. */
  #chosen(part: Expression, result: DataType | undefined, place: { readonly parameters: Parameters; readonly zone: ZoneRule }): string {
    const sql = this.print(part, place.parameters);
    const from = expressionType(part);
    const isKept = from === undefined || result === undefined || isSame(from, result);
    return isKept ? sql : castSql(sql, { from, to: result, safe: false, zone: place.zone });
  }

  #call(call: Extract<Expression, { kind: 'call' }>, parameters: Parameters): string {
    const spec = checkCall(call);
    // Only these hand the 0-based place to a lambda's second parameter.
    const indexed = ['transform', 'filter'].includes(call.name.toLowerCase());
    const given = call.arguments.map(expressionType);
    if (spec.takes !== undefined) requireParameterTypes(call, spec.takes, given);
    if (call.distinct === true || orderedBy.has(call.name.toLowerCase())) requireComparable(given[0]);
    const types = argumentTypes(spec, call);
    const args = call.arguments.map((part, index) => {
      if (part.kind === 'lambda') return this.#lambda(part, parameters, indexed);
      const to = spec.takes === undefined ? undefined : types[index];
      const sql = this.print(part, parameters);
      return to === undefined || to.kind === given[index]?.kind
        ? sql
        : castSql(sql, { from: given[index] ?? { kind: 'void' }, to, safe: false, zone: call.zone });
    });
    return spec.sql({
      call,
      args,
      types,
      modified: (sql, andFilter) => {
        const filters = [
          ...(call.filter === undefined ? [] : [this.print(call.filter, parameters)]),
          ...(andFilter === undefined ? [] : [andFilter]),
        ];
        const filter = filters.length === 0 ? '' : ` FILTER (WHERE ${filters.join(' AND ')})`;
        return `${sql}${filter}${call.over === undefined ? '' : ` OVER (${this.#window(call.over, parameters)})`}`;
      },
    });
  }

  #window({ partitionBy, orderBy, frame }: Window, parameters: Parameters): string {
    const print = (part: Expression): string => this.print(part, parameters);
    for (const key of partitionBy) requirePartitionKey(expressionType(key));
    const keys = orderBy.map(({ expression, descending, nullsFirst = !descending }) =>
      sortKeySql(print(expression), descending, nullsFirst),
    );
    return [
      ...(partitionBy.length === 0 ? [] : [`PARTITION BY ${partitionBy.map(print).join(', ')}`]),
      ...(keys.length === 0 ? [] : [`ORDER BY ${keys.join(', ')}`]),
      ...(frame === undefined ? [] : [`${frame.unit.toUpperCase()} BETWEEN ${printBound(frame.from)} AND ${printBound(frame.until)}`]),
    ].join(' ');
  }

  /** The 0-based element of a list, the value of a map's key. */
  #element(expression: Extract<Expression, { kind: 'element' }>, parameters: Parameters): string {
    const operand = this.print(expression.operand, parameters);
    const index = this.print(expression.index, parameters);
    const type = expressionType(expression.operand)?.kind;
    const literal = expression.index.kind === 'literal' ? expression.index.literal : undefined;
    if (type === 'map' || (type === undefined && literal?.type !== 'integer')) return `map_extract_value(${operand}, ${index})`;
    return listElementSql(operand, index, literal);
  }

  #lambda(lambda: Extract<Expression, { kind: 'lambda' }>, parameters: Parameters, indexed: boolean): string {
    const inner = new Map(parameters);
    const names = lambda.parameters.map((parameter, index) => {
      // A name of our own: a column of the user's spelling must not be hidden by it.
      const name = `"__lambda_${this.#lambdaCount++}"`;
      inner.set(parameter.toLowerCase(), indexed && index === 1 ? `CAST(${name} - 1 AS INTEGER)` : name);
      return name;
    });
    return `lambda ${names.join(', ')}: ${this.print(lambda.body, inner)}`;
  }
}

function isComparison(operator: BinaryOperator): boolean {
  return ['=', '<>', '<', '<=', '>', '>=', '<=>'].includes(operator);
}

/** A sort key with Spark's order of nulls unless another is asked for. */
export function sortKeySql(sql: string, descending: boolean, nullsFirst: boolean = !descending): string {
  return `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

function misplaced(expression: Extract<Expression, { kind: 'parameter' | 'star' }>): AnalysisException {
  if (expression.kind === 'star') {
    return new AnalysisException({
      errorClass: 'INVALID_USAGE_OF_STAR_OR_REGEX',
      message: "Invalid usage of '*' in an expression.",
      hint: 'name the columns, or use * in a select list or count(*)',
    });
  }
  return new AnalysisException({
    errorClass: 'UNBOUND_SQL_PARAMETER',
    message: `Found the unbound parameter: ${expression.name}.`,
    hint: 'give a value for it',
    parameters: { name: String(expression.name) },
  });
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import { present } from '../../base/assert.ts';
import type { Engine } from '../../engine/engine.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnsOf, hasAggregate, isDeterministic, mapExpression, someNode } from '../../expr/expression-tree.ts';
import { printExpression, printType } from '../../expr/print-expression.ts';
import { expressionSql, quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StatementTime } from '../../expr/time-zone.ts';
import type { DataType, StructType } from '../../schema/types.ts';

/** One side of a statement: the table, or the source of a MERGE. */
export interface Side {
  /** What users qualify its columns with. */
  readonly alias: string | undefined;
  readonly schema: StructType;
  /** SQL of a column in the engine's query. */
  columnSql(name: string): string;
}

/** The columns that an expression of a statement may mention, and where the engine finds them. */
export class RowScope {
  readonly sides: readonly Side[];
  readonly #now: StatementTime;

  /** `now`: what the statement calls now. */
  constructor(sides: readonly Side[], now: StatementTime) {
    this.sides = sides;
    this.#now = now;
  }

  /**
   * The expression with the schemas' own names, and with one instant for every "now".
   *
   * @throws AnalysisException as `bindExpression` does; `UNSUPPORTED_EXPR_FOR_OPERATOR` (42K0E) for what looks at more rows than one.
   */
  bind(expression: Expression): Expression {
    if (hasAggregate(expression) || someNode(expression, (node) => node.kind === 'call' && node.over !== undefined)) {
      throw severalRows(expression);
    }
    const scope = this.sides.map(({ alias, schema }) => (alias === undefined ? { schema } : { alias, schema }));
    return bindNow(bindExpression(expression, scope), this.#now);
  }

  /** SQL of a bound expression. */
  sql(bound: Expression): string {
    return expressionSql(bound, (path, qualifier) => {
      const [column = '', ...members] = path;
      const base = this.#sideOf(column, qualifier).columnSql(column);
      return members.reduce((sql, member) => `struct_extract(${sql}, ${sqlText(member)})`, base);
    });
  }

  /** The sides whose columns a bound expression mentions. */
  sidesOf(bound: Expression): ReadonlySet<Side> {
    return new Set(columnsOf(bound).map(({ path, qualifier }) => this.#sideOf(path[0] ?? '', qualifier)));
  }

  /** The types of bound expressions' values. */
  async typesOf(engine: Engine, bound: readonly Expression[], signal?: AbortSignal): Promise<readonly DataType[]> {
    if (bound.length === 0) return [];
    const empty = new RowScope(
      this.sides.map(({ alias, schema }, index) => ({ alias, schema, columnSql: (name) => `r${index}.${quoteName(name)}` })),
      this.#now,
    );
    const values = bound.map((expression, index) => `${empty.sql(expression)} AS v${index}`);
    const rows = this.sides.flatMap(({ schema }, index) => {
      if (schema.fields.length === 0) return [];
      const nulls = schema.fields.map((field) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(field.name)}`);
      return [`(SELECT ${nulls.join(', ')}) r${index}`];
    });
    const { fields } = await engine.describe(`SELECT ${values.join(', ')}${rows.length === 0 ? '' : ` FROM ${rows.join(', ')}`}`, signal);
    return fields.map((field) => field.type);
  }

  /**
   * A condition, bound and fit to be asked of every row more than once. `joins`: it tells which rows of both sides belong together.
   *
   * @throws AnalysisException `INVALID_NON_DETERMINISTIC_EXPRESSIONS` (42K0E), `DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN` (42K09) or
   * `JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE` (42K0E), and as `bind`.
   */
  async bindCondition(
    engine: Engine,
    condition: Expression,
    { signal, joins = false }: { readonly signal?: AbortSignal | undefined; readonly joins?: boolean },
  ): Promise<Expression> {
    const bound = this.bind(condition);
    if (!isDeterministic(bound)) throw notDeterministic([bound]);
    const [found] = await this.typesOf(engine, [bound], signal);
    // A bare NULL is a condition that never holds, but nothing that rows are joined on.
    const isNull = bound.kind === 'literal' && bound.literal.type === 'null';
    const type: DataType | undefined = isNull ? { kind: 'void' } : found;
    if (type === undefined || type.kind === 'boolean' || (isNull && !joins)) return bound;
    throw joins ? joinNotBoolean(bound, type) : notBoolean(bound, type);
  }

  #sideOf(column: string, qualifier: string | undefined): Side {
    const sides = qualifier === undefined ? this.sides : this.sides.filter(({ alias }) => alias?.toLowerCase() === qualifier.toLowerCase());
    const side = sides.find(({ schema }) => schema.fields.some((field) => field.name === column));
    return present(side, `a bound column must belong to a side: ${qualifier ?? ''}.${column}`);
  }
}

/** A bound expression as the history shows it: columns without what tells the sides apart. */
export function historyText(bound: Expression): string {
  const plain = mapExpression(bound, (node) => (node.kind === 'column' ? { kind: 'column', path: node.path } : node));
  return printExpression(plain);
}

function severalRows(expression: Expression): AnalysisException {
  const invalidExprSqls = `"${printExpression(expression)}"`;
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_EXPR_FOR_OPERATOR',
    message: `A query operator contains one or more unsupported expressions. Invalid expressions: [${invalidExprSqls}].`,
    parameters: { invalidExprSqls },
    hint: 'aggregates and window functions belong into a query: MERGE with one as its source',
  });
}

/** Refuses values that would differ each time a row is looked at. */
export function notDeterministic(bound: readonly Expression[]): AnalysisException {
  const sqlExprs = bound.map((expression) => `"${historyText(expression)}"`).join(', ');
  return new AnalysisException({
    errorClass: 'INVALID_NON_DETERMINISTIC_EXPRESSIONS',
    message: `The operator expects a deterministic expression, but the actual expression is ${sqlExprs}.`,
    parameters: { sqlExprs },
  });
}

function joinNotBoolean(bound: Expression, found: DataType): AnalysisException {
  const [joinCondition, conditionType] = [`"${historyText(bound)}"`, `"${printType(found)}"`];
  return new AnalysisException({
    errorClass: 'JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE',
    message: `The join condition ${joinCondition} has the invalid type ${conditionType}, expected "BOOLEAN".`,
    parameters: { joinCondition, conditionType },
  });
}

function notBoolean(bound: Expression, found: DataType): AnalysisException {
  const filter = `"${historyText(bound)}"`;
  const type = `"${printType(found)}"`;
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN',
    message: `Cannot resolve ${filter} due to data type mismatch: Filter expression ${filter} of type ${type} is not a boolean.`,
    parameters: { sqlExpr: filter, filter, type },
  });
}

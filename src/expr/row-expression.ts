import { ParseException, type TextPosition } from '../base/analysis-exception.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { StructType } from '../schema/types.ts';
import { bindColumns, bindExpression, type Scope } from './bind-expression.ts';
import { bindNow } from './bind-parameters.ts';
import { requireCondition } from './clause-rules.ts';
import { conjuncts, type Expression } from './expression.ts';
import { childrenOf, columnsOf } from './expression-tree.ts';
import { checkCall } from './functions.ts';
import { isGeneratorName } from './generators.ts';
import { parseExpression } from './parse/parse-expression.ts';
import { expressionSql, sqlText } from './sql/engine-sql.ts';

/** An expression over the columns of one row. */
export interface RowExpression {
  readonly bound: Expression;
  readonly sql: string;
  /** Columns of the schema that it names, by number. */
  readonly reads: readonly number[];
}

/** A condition over the columns of one row. */
export interface RowCondition {
  /** Parts that AND joins. */
  readonly parts: readonly Expression[];
  readonly sql: string;
  /** Columns of the schema that it names, by number. */
  readonly reads: readonly number[];
}

export interface RowColumns {
  readonly schema: StructType;
  /** SQL of a column of the schema, by number. */
  readonly columnSql: (column: number) => string;
}

/**
 * Binds an expression that gives the same value for the same row whenever it is asked: rows that are computed again must be the same rows.
 *
 * @throws ServiceError kind `invalid` or `unsupported`, its message with the position in the expression where one is known.
 */
export function bindRowExpression(expression: Expression, { schema, columnSql }: RowColumns): RowExpression {
  refuseOthers(expression);
  const scope: Scope = [{ schema }];
  const bound = bindColumns(expression, (column) => placed(column.at, () => bindExpression(column, scope)));
  const numbers = new Map(schema.fields.map(({ name }, index) => [name, index]));
  const sql = expressionSql(bound, ([name = '', ...members]) =>
    members.reduce((of, member) => `struct_extract(${of}, ${sqlText(member)})`, columnSql(numbers.get(name) ?? -1)),
  );
  const reads = columnsOf(bound).flatMap(({ path: [name = ''] }) => numbers.get(name) ?? []);
  return { bound, sql, reads: [...new Set(reads)] };
}

/**
 * Parts that AND joins are asked from left to right, each only of rows of which the ones before are not false: the engine would choose the order,
 * and another one the next time.
 *
 * @param unknown what a null counts as.
 * @throws ServiceError as `bindRowExpression`.
 */
export function bindRowCondition(text: string, columns: RowColumns, unknown: boolean): RowCondition {
  const parts = conjuncts(parseExpression(text)).map((part) => bindRowExpression(part, columns));
  for (const { bound } of parts) requireCondition('WHERE', bound);
  const fails = parts.map(({ sql }) => `WHEN NOT coalesce(${sql}, ${String(unknown)}) THEN false`);
  return {
    parts: parts.map(({ bound }) => bound),
    sql: `CASE ${fails.join(' ')} ELSE true END`,
    reads: [...new Set(parts.flatMap(({ reads }) => reads))],
  };
}

/** The message of what was refused, with its place in the text. */
export function refusalText(error: ServiceError): string {
  const place = error instanceof ParseException ? `${placeText(error.position)}: ` : '';
  return `${place}${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}`;
}

/** Refuses what looks at more than the row: other rows, the time, chance. */
function refuseOthers(node: Expression): void {
  if (node.kind === 'call') {
    const { at, name } = node;
    if (isGeneratorName(name)) throw refused(at, `${name}() makes rows: it stands alone in an entry of select`);
    const spec = placed(at, () => checkCall(node));
    if (node.over !== undefined || spec.kind === 'window') throw refused(at, `${name}() looks at other rows`);
    if (spec.kind === 'aggregate') throw refused(at, `${name}() is an aggregate, and a row is looked at alone`);
    if (spec.volatile === true || bindNow(node, anyTime) !== node) throw refused(at, changing(name), cureOfChanging);
  }
  if (node.kind === 'parameter') throw refused(node.at, 'there are no parameters here');
  if (node.kind === 'star') throw refused(undefined, '* stands alone in an entry of select');
  for (const child of childrenOf(node)) refuseOthers(child);
}

const anyTime = { micros: 0n, zone: undefined };
const cureOfChanging =
  'take a column that says it; records have timestamp, topic, partition and offset: columns with `from: timestamp` and so on';

function changing(name: string): string {
  return `${name}() gives another value each time, and what is tried again must give the same rows`;
}

function placed<T>(at: TextPosition | undefined, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (at === undefined || !isServiceError(error) || error instanceof ParseException) throw error;
    throw refused(at, error.message, error.hint, error);
  }
}

function refused(at: TextPosition | undefined, problem: string, hint?: string, cause?: unknown): ServiceError {
  const message = at === undefined ? problem : `${placeText(at)}: ${problem}`;
  return serviceError.invalid('EXPRESSION_INVALID', message, { hint, cause });
}

function placeText({ line, column }: TextPosition): string {
  return line === 1 ? `at character ${column}` : `at line ${line}, character ${column}`;
}

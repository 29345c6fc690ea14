import { ParseException, type TextPosition } from '../../base/analysis-exception.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { bindColumns, bindExpression, type Scope } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { childrenOf, columnsOf } from '../../expr/expression-tree.ts';
import { checkCall } from '../../expr/functions.ts';
import { isGeneratorName } from '../../expr/generators.ts';
import { expressionSql, sqlText } from '../../expr/sql/engine-sql.ts';
import type { TransformExpression } from '../../protocol/transform-spec.ts';
import type { StructType } from '../../schema/types.ts';

/** An expression over the columns of one row. */
export interface Scalar {
  readonly bound: Expression;
  readonly sql: string;
  /** Columns of the schema that it names, by number. */
  readonly reads: readonly number[];
}

/**
 * Binds an expression that gives the same value for the same row whenever it is asked: a batch that is tried again must give the same rows.
 *
 * @param letter of the columns' names in the SQL: `r0`, `r1`, …
 * @throws ServiceError kind `invalid` or `unsupported`, its message with the position in the expression where one is known.
 */
export function bindScalar(expression: Expression, schema: StructType, letter: 'r' | 'o'): Scalar {
  refuseOthers(expression);
  const scope: Scope = [{ schema }];
  const bound = bindColumns(expression, (column) => placed(column.at, () => bindExpression(column, scope)));
  const numbers = new Map(schema.fields.map(({ name }, index) => [name, index]));
  const sql = expressionSql(bound, ([name = '', ...members]) =>
    members.reduce((of, member) => `struct_extract(${of}, ${sqlText(member)})`, `${letter}${numbers.get(name) ?? -1}`),
  );
  const reads = columnsOf(bound).flatMap(({ path: [name = ''] }) => numbers.get(name) ?? []);
  return { bound, sql, reads: [...new Set(reads)] };
}

export function compiled(place: string, { sql, reads }: Pick<Scalar, 'sql' | 'reads'>): TransformExpression {
  return { place, sql, reads };
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
    if (spec.kind === 'aggregate') throw refused(at, `${name}() is an aggregate, and a record is looked at alone`);
    if (spec.volatile === true || bindNow(node, anyTime) !== node) throw refused(at, changing(name), cureOfChanging);
  }
  if (node.kind === 'parameter') throw refused(node.at, 'there are no parameters here');
  if (node.kind === 'star') throw refused(undefined, '* stands alone in an entry of select');
  for (const child of childrenOf(node)) refuseOthers(child);
}

const anyTime = { micros: 0n, zone: undefined };
const cureOfChanging = 'take the record’s timestamp, topic, partition or offset instead: columns with `from: timestamp` and so on';

function changing(name: string): string {
  return `${name}() gives another value each time, and a batch that is tried again must give the same rows`;
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
  return serviceError.invalid('TRANSFORM_INVALID', message, { hint, cause });
}

function placeText({ line, column }: TextPosition): string {
  return line === 1 ? `at character ${column}` : `at line ${line}, character ${column}`;
}

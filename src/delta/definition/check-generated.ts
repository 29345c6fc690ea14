import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnsOf, hasAggregate, isDeterministic, someNode } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { isSameType, upCasts } from '../../schema/up-casts.ts';
import { storedExpression } from '../files/stored-expression.ts';

const generationKey = 'delta.generationExpression';
const timesOfStatement: ReadonlySet<string> = new Set(['current_timestamp', 'now', 'localtimestamp', 'current_date', 'curdate']);

/**
 * Refuses generated columns that could never be computed, or not twice alike, before a table has them.
 *
 * @param fields those of the schema that are new.
 * @throws AnalysisException `UNSUPPORTED_EXPRESSION_GENERATED_COLUMN`, `DELTA_AGGREGATE_IN_GENERATED_COLUMN`,
 * `DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN` (all 42621), `DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH` (42K09),
 * `DELTA_UNSUPPORTED_STORED_EXPRESSION`, and what binding and printing throw: `UNRESOLVED_ROUTINE`, `UNRESOLVED_COLUMN.WITH_SUGGESTION`,
 * `WRONG_NUM_ARGS`.
 */
export function checkGenerated(table: string, schema: StructType, fields: readonly Field[] = schema.fields): void {
  for (const field of fields) {
    const text = field.metadata?.[generationKey];
    if (typeof text !== 'string') continue;
    const bound = bindExpression(storedExpression(table, `generated column "${field.name}"`, text), [{ schema }]);
    const problem = problemOf(bound, field, schema);
    if (problem !== undefined) throw unsupported(field, text, problem);
    requireComputable(bound);
    requireType(bound, field);
    expressionSql(bound, columnPathSql);
  }
}

/** What Spark has against it, whatever the table's format. */
function problemOf(bound: Expression, field: Field, { fields }: StructType): string | undefined {
  const used = new Set(columnsOf(bound).map(({ path }) => (path[0] ?? '').toLowerCase()));
  if (used.has(field.name.toLowerCase())) return 'generation expression cannot reference itself';
  if (fields.some(({ name, metadata }) => metadata?.[generationKey] !== undefined && used.has(name.toLowerCase()))) {
    return 'generation expression cannot reference another generated column';
  }
  if (!isDeterministic(bound)) return 'generation expression is not deterministic';
  const type = expressionType(bound);
  if (type === undefined || upCasts(type, field.type)) return undefined;
  return `generation expression data type ${sqlTypeName(type)} is incompatible with column data type ${sqlTypeName(field.type)}`;
}

function requireComputable(bound: Expression): void {
  if (hasAggregate(bound)) {
    throw new AnalysisException({
      errorClass: 'DELTA_AGGREGATE_IN_GENERATED_COLUMN',
      message: 'A generated column cannot use an aggregate expression',
      hint: 'generate the column from the values of its own row',
    });
  }
  if (someNode(bound, (node) => node.kind === 'call' && timesOfStatement.has(node.name.toLowerCase()))) {
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN',
      message: 'the time of the statement cannot be used in a generated column',
      hint: 'use DEFAULT current_timestamp(): a generated value must be the same whenever it is computed',
    });
  }
}

function requireType(bound: Expression, { name, type: columnType }: Field): void {
  const type = expressionType(bound);
  if (type === undefined || type.kind === 'void' || isSameType(type, columnType)) return;
  const [expressionName, columnName] = [sqlTypeName(type), sqlTypeName(columnType)];
  throw new AnalysisException({
    errorClass: 'DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH',
    message: `The expression type of the generated column ${name} is ${expressionName}, but the column type is ${columnName}`,
    parameters: { columnName: name, expressionType: expressionName, columnType: columnName },
    hint: `cast the expression to ${columnName}`,
  });
}

function unsupported({ name }: Field, text: string, reason: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_EXPRESSION_GENERATED_COLUMN',
    message: `Cannot create generated column ${name} with generation expression ${text} because ${reason}.`,
    parameters: { fieldName: name, expressionStr: text, reason },
  });
}

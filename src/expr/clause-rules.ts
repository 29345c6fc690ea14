import { AnalysisException } from '../base/analysis-exception.ts';
import { holdsMap } from '../schema/holds-map.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType, Field } from '../schema/types.ts';
import { isComparable } from '../schema/variant-type.ts';
import type { Expression } from './expression.ts';
import { hasAggregate, someNode } from './expression-tree.ts';
import { expressionType } from './expression-type.ts';

/** Where a condition stands. */
export type ConditionClause = 'WHERE' | 'HAVING' | 'QUALIFY' | 'JOIN';

interface Refusal {
  readonly errorClass: string;
  readonly message: string;
  readonly hint?: string;
}

const aggregateIn: Partial<Record<ConditionClause, Refusal>> = {
  WHERE: {
    errorClass: 'INVALID_WHERE_CONDITION',
    message: 'The WHERE condition contains an aggregate function.',
    hint: 'use HAVING, or compute the aggregate in a subquery',
  },
  JOIN: {
    errorClass: 'UNSUPPORTED_EXPR_FOR_OPERATOR',
    message: 'The condition of a join contains an aggregate function.',
    hint: 'compute the aggregate in a subquery, and join that',
  },
};

const windowIn: Partial<Record<ConditionClause, Refusal>> = {
  WHERE: {
    errorClass: '_LEGACY_ERROR_TEMP_1034',
    message: 'It is not allowed to use window functions inside WHERE clause.',
    hint: 'use QUALIFY, or compute the window in a subquery',
  },
};

/**
 * Refuses what does not tell rows that are to be replaced. `condition`: bound.
 *
 * @throws AnalysisException `UNSUPPORTED_EXPR_FOR_OPERATOR` of aggregates, `_LEGACY_ERROR_TEMP_1109` of what is not true or false.
 */
export function requireReplaced(condition: Expression): void {
  if (hasAggregate(condition)) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_EXPR_FOR_OPERATOR',
      message: 'The condition of rows that are replaced contains an aggregate function.',
    });
  }
  const type = expressionType(condition);
  if (type === undefined || type.kind === 'boolean' || type.kind === 'void') return;
  throw new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_1109',
    message: `Exec update failed: cannot translate expression to source filter: a condition of type "${sqlTypeName(type)}".`,
    hint: "a condition is true or false, such as day = DATE'2026-01-31'",
  });
}

/**
 * Refuses what is no condition of a clause. `condition`: bound.
 *
 * @throws AnalysisException `INVALID_WHERE_CONDITION`, `UNSUPPORTED_EXPR_FOR_OPERATOR` of aggregates, `_LEGACY_ERROR_TEMP_1034` of windows,
 * `DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN`, `JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE` (both 42K09).
 */
export function requireCondition(clause: ConditionClause, condition: Expression): void {
  const aggregate = aggregateIn[clause];
  if (aggregate !== undefined && hasAggregate(condition)) throw new AnalysisException(aggregate);
  const window = windowIn[clause];
  if (window !== undefined && someNode(condition, isWindow)) throw new AnalysisException(window);
  const type = typeOf(condition);
  if (type === undefined || type.kind === 'boolean') return;
  const shown = `"${sqlTypeName(type)}"`;
  if (clause === 'JOIN') {
    throw new AnalysisException({
      errorClass: 'JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE',
      message: `The condition of a join has the type ${shown}, it must be "BOOLEAN".`,
      parameters: { conditionType: shown },
    });
  }
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN',
    message: `The condition of ${clause} has the type ${shown}, it must be "BOOLEAN".`,
    parameters: { type: shown },
  });
}

/** @throws AnalysisException `GROUP_BY_AGGREGATE` 42903. */
export function requireGroupKey(key: Expression): void {
  const type = expressionType(key);
  if (type !== undefined && !isComparable(type)) {
    throw new AnalysisException({
      errorClass: 'GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE',
      message: `The expression cannot be used as a grouping expression because its data type "${sqlTypeName(type)}" is not an orderable data type.`,
      hint: "group by what it holds: variant_get(v, '$.a', 'int')",
      parameters: { dataType: `"${sqlTypeName(type)}"` },
    });
  }
  if (!hasAggregate(key)) return;
  throw new AnalysisException({
    errorClass: 'GROUP_BY_AGGREGATE',
    message: 'Aggregate functions are not allowed in GROUP BY.',
  });
}

/** @throws AnalysisException `INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE` 42K0E of a number below zero. */
export function requireCount(clause: 'LIMIT' | 'OFFSET', value: Expression): void {
  const negated = value.kind === 'unary' && value.operator === '-';
  const literal = negated ? value.operand : value;
  if (literal.kind !== 'literal' || literal.literal.type !== 'integer') return;
  const count = negated ? -literal.literal.value : literal.literal.value;
  if (count >= 0n) return;
  throw new AnalysisException({
    errorClass: 'INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE',
    message: `The ${clause} is ${count}, it must be zero or more.`,
    parameters: { name: clause.toLowerCase(), v: String(count) },
  });
}

/** Rows are told apart by all their columns. @throws AnalysisException `UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE`, `…_ON_VARIANT_TYPE` 0A000. */
export function requireDistinctRows(fields: readonly Field[]): void {
  const found = fields.find(({ type }) => holdsMap(type) || !isComparable(type));
  if (found === undefined) return;
  const kind = holdsMap(found.type) ? 'MAP' : 'VARIANT';
  throw new AnalysisException({
    errorClass: `UNSUPPORTED_FEATURE.SET_OPERATION_ON_${kind}_TYPE`,
    kind: 'unsupported',
    message: `Cannot have ${kind} type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, etc.), but the type of column \`${found.name}\` is "${sqlTypeName(found.type)}".`,
    hint: kind === 'MAP' ? 'compare map_entries of it' : "compare what it holds: variant_get(v, '$.a', 'int')",
    parameters: { colName: `\`${found.name}\``, dataType: `"${sqlTypeName(found.type)}"` },
  });
}

function typeOf(condition: Expression): DataType | undefined {
  return condition.kind === 'literal' && condition.literal.type === 'null' ? { kind: 'void' } : expressionType(condition);
}

function isWindow(node: Expression): boolean {
  return node.kind === 'call' && node.over !== undefined;
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import { isJsonObject, parseJson } from '../../base/bigint-json.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import { type StatementTime, statementTime } from '../../expr/time-zone.ts';
import { shownSql, typeAtPath } from '../../rows/values/column-sql.ts';
import { lengthChecks } from '../../rows/values/length-checks.ts';
import { type RowCheck, refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { storedExpression } from './stored-expression.ts';

const constraintPrefix = 'delta.constraints.';

/**
 * Refuses rows (the snapshot's columns in order) that break a NOT NULL, the length of a VARCHAR or CHAR, a CHECK constraint, an invariant or a generated column. A condition
 * that is null counts as broken. Rows are read only when the table has something to check, then once, and again to name the row.
 *
 * @throws AnalysisException `DELTA_NOT_NULL_CONSTRAINT_VIOLATED` (23502), `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES` (23001) naming a row's
 * values; `DELTA_UNSUPPORTED_STORED_EXPRESSION` (unsupported) for a condition that cannot be evaluated here.
 */
export async function checkRows(context: OperationContext, snapshot: DeltaSnapshot, rows: Relation, signal?: AbortSignal): Promise<void> {
  const checks = rowChecksOf(context, snapshot);
  if (checks.length > 0) await refuseBrokenRows(await context.engine(), rows, checks, signal);
}

/** Everything the table asks of each row. */
export function rowChecksOf(context: OperationContext, snapshot: DeltaSnapshot): readonly RowCheck[] {
  const now = statementTime(context);
  return [
    ...requiredPaths(snapshot.schema, []).map((path) => notNullCheck(path, snapshot)),
    ...lengthChecks(snapshot.schema),
    ...statedConditions(context, snapshot).map((condition) => conditionCheck(condition, snapshot.schema, now)),
  ];
}

/** A condition of a table with the name messages give it. */
interface NamedCondition {
  readonly name: string;
  /** Not bound. */
  readonly condition: Expression;
  /** The condition as messages print it. Default: as it is parsed. */
  readonly text?: string | undefined;
}

/**
 * The check of one condition over rows of `schema`.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` and what binding throws.
 */
export function conditionCheck(named: NamedCondition, schema: StructType, now: StatementTime): RowCheck {
  const bound = bindNow(bindExpression(named.condition, [{ schema }]), now);
  const paths = columnsOf(bound)
    .map(({ path }) => path)
    .toSorted((left, right) => (left.join('.') < right.join('.') ? -1 : 1));
  const expression = named.text ?? printExpression(named.condition);
  return {
    broken: `NOT coalesce(${expressionSql(bound, columnPathSql)}, false)`,
    values: paths.map((path) => shownSql(columnPathSql(path), typeAtPath(schema, path))),
    error: (values) => {
      const lines = paths.map((path, index) => ` - ${path.join('.')} : ${values[index] ?? 'null'}`);
      return new AnalysisException({
        errorClass: 'DELTA_VIOLATE_CONSTRAINT_WITH_VALUES',
        message: `CHECK constraint ${named.name} ${expression} violated by row with values:\n${lines.join('\n')}`,
        parameters: { constraintName: named.name, expression, values: lines.join('\n') },
        hint: 'correct the rows, or drop the constraint',
      });
    },
  };
}

function notNullCheck(path: readonly string[], snapshot: DeltaSnapshot): RowCheck {
  const name = path.join('.');
  const column = columnPathSql(path);
  const type = typeAtPath(snapshot.schema, path);
  // The empty string becomes null in partition values.
  const emptyIsNull = path.length === 1 && snapshot.partitionColumns.includes(name) && type?.kind === 'string';
  return {
    broken: emptyIsNull ? `(${column} IS NULL OR ${column} = '')` : `${column} IS NULL`,
    values: [],
    error: () =>
      new AnalysisException({
        errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
        message: `NOT NULL constraint violated for column: ${name}.`,
        parameters: { columnName: name },
        hint: 'give every row a value, or drop the constraint (ALTER COLUMN … DROP NOT NULL)',
      }),
  };
}

/** Columns and struct members that must not be null. A null struct breaks those of its members, as in the reference engines. */
function requiredPaths(struct: StructType, above: readonly string[]): readonly (readonly string[])[] {
  return struct.fields.flatMap((field) => {
    const path = [...above, field.name];
    const inner = field.type.kind === 'struct' ? requiredPaths(field.type, path) : [];
    return field.nullable ? inner : [path, ...inner];
  });
}

function statedConditions(context: OperationContext, snapshot: DeltaSnapshot): readonly NamedCondition[] {
  const constraints = Object.entries(snapshot.metadata.configuration)
    .filter(([key]) => key.toLowerCase().startsWith(constraintPrefix))
    .map(([key, text]): NamedCondition => {
      const name = key.slice(constraintPrefix.length);
      return { name, condition: storedExpression(context.name, `constraint "${name}"`, text) };
    });
  return [...constraints, ...snapshot.schema.fields.flatMap((field) => conditionsOfField(context, field))];
}

function conditionsOfField(context: OperationContext, field: Field): readonly NamedCondition[] {
  const conditions: NamedCondition[] = [];
  const invariant = invariantText(field);
  if (invariant !== undefined) {
    const condition = storedExpression(context.name, `invariant of column "${field.name}"`, invariant);
    conditions.push({ name: `EXPRESSION(${invariant})`, condition });
  }
  const generated = field.metadata?.['delta.generationExpression'];
  if (typeof generated === 'string') {
    const right = storedExpression(context.name, `generated column "${field.name}"`, generated);
    const cast: Expression = { kind: 'cast', operand: right, type: field.type, safe: false };
    const left: Expression = { kind: 'column', path: [field.name] };
    conditions.push({
      name: 'Generated Column',
      condition: { kind: 'binary', operator: '<=>', left, right: cast },
      text: `(${printExpression(left)} <=> ${printExpression(right)})`,
    });
  }
  return conditions;
}

/** `{"expression":{"expression":"<sql>"}}` */
function invariantText(field: Field): string | undefined {
  const text = field.metadata?.['delta.invariants'];
  if (typeof text !== 'string') return undefined;
  const outer = parseJson(text, `invariant of column "${field.name}"`);
  const rule = isJsonObject(outer) ? outer['expression'] : undefined;
  const expression = isJsonObject(rule) ? rule['expression'] : undefined;
  return typeof expression === 'string' ? expression : undefined;
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import { columnPathSql } from '../../expr/sql/engine-sql.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import type { DataType, StructType } from '../../schema/types.ts';

/** Rules out rows without a value for a required field, `NOT_NULL_ASSERT_VIOLATION` (42000). Members are required where their struct is. */
export function requiredChecks(table: string, schema: StructType): readonly RowCheck[] {
  return checksOf(table, schema, []);
}

function checksOf(table: string, struct: StructType, above: readonly string[]): readonly RowCheck[] {
  const parent = above.length === 0 ? undefined : columnPathSql(above);
  return struct.fields.flatMap((field): readonly RowCheck[] => {
    const path = [...above, field.name];
    const value = columnPathSql(path);
    const inner = innerChecks(table, field.type, path);
    if (field.nullable) return inner;
    const broken = parent === undefined ? `${value} IS NULL` : `(${parent} IS NOT NULL AND ${value} IS NULL)`;
    return [requiredCheck(table, path, broken), ...inner];
  });
}

function innerChecks(table: string, type: DataType, path: readonly string[]): readonly RowCheck[] {
  if (type.kind === 'struct') return checksOf(table, type, path);
  const value = columnPathSql(path);
  if (type.kind === 'list' && !type.elementNullable) return [requiredCheck(table, [...path, 'element'], holdsNull(value))];
  if (type.kind === 'map' && !type.valueNullable) return [requiredCheck(table, [...path, 'value'], holdsNull(`map_values(${value})`))];
  return [];
}

function holdsNull(list: string): string {
  return `coalesce(len(list_filter(${list}, lambda e: e IS NULL)) > 0, false)`;
}

function requiredCheck(table: string, path: readonly string[], broken: string): RowCheck {
  const name = path.join('.');
  return {
    broken,
    values: [],
    error: () =>
      new AnalysisException({
        errorClass: 'NOT_NULL_ASSERT_VIOLATION',
        message: `NULL value appeared in non-nullable field: ${name} of table ${table}`,
        parameters: { walkedTypePath: name },
        hint: 'give every row a value, or drop the constraint: ALTER TABLE … ALTER COLUMN … DROP NOT NULL',
      }),
  };
}

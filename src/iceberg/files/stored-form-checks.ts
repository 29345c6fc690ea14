import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlText } from '../../expr/sql/engine-sql.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import type { DataType, Field } from '../../schema/types.ts';

/** Rules out values that have the type of the field but not its form: text that is no UUID, bytes that are not as many as fixed. */
export function storedFormChecks(value: string, field: Field): readonly RowCheck[] {
  return checksOf(value, field.type, [field.name]);
}

function checksOf(value: string, type: DataType, path: readonly string[]): readonly RowCheck[] {
  if (type.kind === 'struct') {
    return type.fields.flatMap(({ name, type: member }) => checksOf(`struct_extract(${value}, ${sqlText(name)})`, member, [...path, name]));
  }
  const broken = brokenSql(value, type);
  if (broken !== undefined) return [formCheck(broken, `CAST(${value} AS VARCHAR)`, type, path)];
  if (type.kind === 'list') return inList(value, type.element, [...path, 'element']);
  if (type.kind === 'map') {
    return [...inList(`map_keys(${value})`, type.key, [...path, 'key']), ...inList(`map_values(${value})`, type.value, [...path, 'value'])];
  }
  return [];
}

function inList(list: string, type: DataType, path: readonly string[]): readonly RowCheck[] {
  const item = `__f${path.length}`;
  return checksOf(item, type, path).map((check) => ({
    ...check,
    broken: `coalesce(len(list_filter(${list}, lambda ${item}: coalesce(${check.broken}, false))) > 0, false)`,
    values: [],
  }));
}

function brokenSql(value: string, type: DataType): string | undefined {
  if (type.kind === 'string' && type.format === 'uuid') return `(${value} IS NOT NULL AND TRY_CAST(${value} AS UUID) IS NULL)`;
  if (type.kind === 'binary' && type.fixedLength !== undefined) return `(octet_length(${value}) <> ${type.fixedLength})`;
  return undefined;
}

function formCheck(broken: string, shown: string, type: DataType, path: readonly string[]): RowCheck {
  const form = type.kind === 'binary' ? `FIXED(${type.fixedLength ?? 0})` : 'UUID';
  const columnName = path.map((part) => `\`${part}\``).join('.');
  return {
    broken,
    values: [shown],
    error: ([value]) =>
      new AnalysisException({
        errorClass: 'CAST_INVALID_INPUT',
        message: `The value '${value ?? ''}' of column ${columnName} cannot be stored as "${form}" because it is malformed.`,
        parameters: { expression: `'${value ?? ''}'`, targetType: `"${form}"`, columnName },
      }),
  };
}

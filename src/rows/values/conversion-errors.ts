import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import { shownSql } from './column-sql.ts';
import type { ConversionFault, MemberDifference } from './convert-value.ts';
import type { RowCheck } from './row-checks.ts';

/** The check that rules a fault of store assignment out. @param table its quoted name, for messages that show it. */
export function conversionCheck(fault: ConversionFault, table?: string): RowCheck {
  return {
    broken: fault.broken,
    values: fault.value === undefined ? [] : [shownSql(fault.value, fault.from)],
    error: ([value]) => {
      if (fault.kind === 'mismatch') return cannotCast(fault, table);
      return fault.kind === 'malformed' ? malformed(fault, value) : overflow(fault);
    },
  };
}

function overflow(fault: ConversionFault): AnalysisException {
  const [from, to] = [sqlTypeName(fault.from), sqlTypeName(fault.to)];
  const columnName = columnNameOf(fault);
  return new AnalysisException({
    errorClass: 'CAST_OVERFLOW_IN_TABLE_INSERT',
    message:
      `Fail to assign a value of "${from}" type to the "${to}" type column or variable ${columnName} due to an overflow. Use \`try_cast\` ` +
      'on the input value to tolerate overflow and return NULL instead.',
    parameters: { sourceType: `"${from}"`, targetType: `"${to}"`, columnName },
  });
}

function malformed(fault: ConversionFault, value: string | undefined): AnalysisException {
  const to = sqlTypeName(fault.to);
  const expression = `'${value ?? ''}'`;
  return new AnalysisException({
    errorClass: 'CAST_INVALID_INPUT',
    message:
      `The value ${expression} of the type "${sqlTypeName(fault.from)}" cannot be cast to "${to}" because it is malformed. Correct the value ` +
      'as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead.',
    parameters: { expression, sourceType: `"${sqlTypeName(fault.from)}"`, targetType: `"${to}"`, columnName: columnNameOf(fault) },
  });
}

function cannotCast(fault: ConversionFault, table: string | undefined): AnalysisException {
  const [from, to] = [sqlTypeName(fault.from), sqlTypeName(fault.to)];
  const columnName = columnNameOf(fault);
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST',
    message: `Cannot write incompatible data for the table${table === undefined ? '' : ` ${table}`}: Cannot safely cast ${columnName} "${from}" to "${to}".`,
    parameters: { colName: columnName, srcType: `"${from}"`, targetType: `"${to}"` },
    hint: 'cast the value yourself',
  });
}

/** A struct whose members are not those of the column. @param table its quoted name, for messages that show it. */
export function wrongMembers({ path, extra, missing }: MemberDifference, table?: string): AnalysisException {
  const column = quoted(path);
  const kind = extra.length > 0 ? 'EXTRA_STRUCT_FIELDS' : 'STRUCT_MISSING_FIELDS';
  const names = (extra.length > 0 ? extra : missing).map(({ name }) => `\`${name}\``).join(', ');
  const problem =
    extra.length > 0 ? `Cannot write extra fields ${names} to the struct ${column}` : `Struct ${column} missing fields: ${names}`;
  return new AnalysisException({
    errorClass: `INCOMPATIBLE_DATA_FOR_TABLE.${kind}`,
    message: `Cannot write incompatible data for the table${table === undefined ? '' : ` ${table}`}: ${problem}.`,
    parameters: { ...(table === undefined ? {} : { tableName: table }), colName: column },
    hint: 'give every member of the struct and no other',
  });
}

/** The same where members are matched by name: one that finds no data is told first. */
export function unlikeMembers(difference: MemberDifference, table?: string): AnalysisException {
  const [missing] = difference.missing;
  if (missing === undefined) return wrongMembers(difference, table);
  const colName = quoted([...difference.path, missing.name]);
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA',
    message: `Cannot write incompatible data for the table${table === undefined ? '' : ` ${table}`}: Cannot find data for the output column ${colName}.`,
    parameters: { ...(table === undefined ? {} : { tableName: table }), colName },
    hint: 'give every member of the struct, or assign members alone: SET column.member = value',
  });
}

function columnNameOf(fault: ConversionFault): string {
  return quoted(fault.path);
}

function quoted(path: readonly string[]): string {
  return path.map((part) => `\`${part}\``).join('.');
}

/** A member of a column, or of a member, that has none. */
export function memberOfPlainValue(column: string, type: DataType): AnalysisException {
  const [base, other] = [`"${column}"`, `"${sqlTypeName(type)}"`];
  return new AnalysisException({
    errorClass: 'INVALID_EXTRACT_BASE_FIELD_TYPE',
    message: `Can't extract a value from ${base}. Need a complex type [STRUCT, ARRAY, MAP] but got ${other}.`,
    parameters: { base, other },
  });
}

import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import { shownSql } from './column-sql.ts';
import type { ConversionFault, ConversionRule } from './convert-value.ts';
import type { RowCheck } from './row-checks.ts';

/** The check that rules a fault out. */
export function conversionCheck(fault: ConversionFault, rule: ConversionRule): RowCheck {
  return {
    broken: fault.broken,
    values: fault.value === undefined ? [] : [shownSql(fault.value, fault.from)],
    error: ([value]) => {
      if (rule === 'fit') return failedToMerge(fault.path);
      if (fault.kind === 'mismatch') return cannotCast(fault);
      return fault.kind === 'malformed' ? malformed(fault, value) : overflow(fault);
    },
  };
}

/** Types that do not fit: `DELTA_FAILED_TO_MERGE_FIELDS` (22005). */
export function failedToMerge(path: readonly string[]): AnalysisException {
  // Spark names the column alone, on both sides.
  const name = path[0] ?? '';
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS',
    sqlState: '22005',
    message: `Failed to merge fields '${name}' and '${name}'`,
    parameters: { currentField: name, updateField: name },
    hint: `cast ${path.join('.')} to the type of the table before writing`,
  });
}

function overflow(fault: ConversionFault): AnalysisException {
  const [from, to] = [sqlTypeName(fault.from), sqlTypeName(fault.to)];
  const columnName = columnNameOf(fault);
  return new AnalysisException({
    errorClass: 'CAST_OVERFLOW_IN_TABLE_INSERT',
    sqlState: '22003',
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
    sqlState: '22018',
    message:
      `The value ${expression} of the type "${sqlTypeName(fault.from)}" cannot be cast to "${to}" because it is malformed. Correct the value ` +
      'as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead.',
    parameters: { expression, sourceType: `"${sqlTypeName(fault.from)}"`, targetType: `"${to}"`, columnName: columnNameOf(fault) },
  });
}

function cannotCast(fault: ConversionFault): AnalysisException {
  const [from, to] = [sqlTypeName(fault.from), sqlTypeName(fault.to)];
  const columnName = columnNameOf(fault);
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST',
    sqlState: 'KD000',
    message: `Cannot write incompatible data for the table: Cannot safely cast ${columnName} "${from}" to "${to}".`,
    parameters: { colName: columnName, srcType: `"${from}"`, targetType: `"${to}"` },
    hint: 'cast the value yourself',
  });
}

function columnNameOf(fault: ConversionFault): string {
  return fault.path.map((part) => `\`${part}\``).join('.');
}

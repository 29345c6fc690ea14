import { AnalysisException } from '../../base/analysis-exception.ts';
import { refusalOfCast } from '../../expr/sql/cast-sql.ts';
import { conversionCheck as storeCheck } from '../../rows/values/conversion-errors.ts';
import type { ConversionFault, ConversionRule } from '../../rows/values/convert-value.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';

/** The check that rules a fault out. */
export function conversionCheck(fault: ConversionFault, rule: ConversionRule): RowCheck {
  const check = storeCheck(fault);
  if (rule === 'fit') return { ...check, error: () => failedToMerge(fault.path) };
  return fault.kind === 'mismatch' ? { ...check, error: () => cannotCast(fault) } : check;
}

/** Types of which none can be cast to the other. */
function cannotCast({ from, to, path }: ConversionFault): AnalysisException {
  const sqlExpr = `"${path.join('.')}"`;
  const [srcType, targetType] = [`"${sqlTypeName(from)}"`, `"${sqlTypeName(to)}"`];
  return new AnalysisException({
    errorClass: refusalOfCast(from, to)?.errorClass ?? 'DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION',
    message: `Cannot resolve ${sqlExpr} due to data type mismatch: cannot cast ${srcType} to ${targetType}.`,
    parameters: { sqlExpr, srcType, targetType },
    hint: "give a value of the column's type",
  });
}

/** Types that do not fit: `DELTA_FAILED_TO_MERGE_FIELDS` (22005). */
export function failedToMerge(path: readonly string[]): AnalysisException {
  // Spark names the column alone, on both sides.
  const name = path[0] ?? '';
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS',
    message: `Failed to merge fields '${name}' and '${name}'`,
    parameters: { currentField: name, updateField: name },
    hint: `cast ${path.join('.')} to the type of the table before writing`,
  });
}

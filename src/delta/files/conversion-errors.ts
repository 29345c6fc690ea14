import { AnalysisException } from '../../base/analysis-exception.ts';
import { conversionCheck as storeCheck } from '../../rows/values/conversion-errors.ts';
import type { ConversionFault, ConversionRule } from '../../rows/values/convert-value.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';

/** The check that rules a fault out. */
export function conversionCheck(fault: ConversionFault, rule: ConversionRule): RowCheck {
  const check = storeCheck(fault);
  return rule === 'fit' ? { ...check, error: () => failedToMerge(fault.path) } : check;
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

import { AnalysisException } from '../base/analysis-exception.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';
import { isComparable } from '../schema/variant-type.ts';

/** @throws AnalysisException `DATATYPE_MISMATCH.INVALID_ORDERING_TYPE` (42K09) for values that are neither equal nor ordered: variants. */
export function requireComparable(type: DataType | undefined): void {
  if (type === undefined || isComparable(type)) return;
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.INVALID_ORDERING_TYPE',
    sqlState: '42K09',
    message: `values of type "${sqlTypeName(type)}" are neither equal nor ordered`,
    hint: "compare what they hold: variant_get(v, '$.a', 'int')",
    parameters: { dataType: `"${sqlTypeName(type)}"` },
  });
}

import { AnalysisException } from '../base/analysis-exception.ts';
import { holdsMap } from '../schema/holds-map.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';
import { isComparable } from '../schema/variant-type.ts';

/** @throws AnalysisException `DATATYPE_MISMATCH.INVALID_ORDERING_TYPE` (42K09) for values that are neither equal nor ordered: maps, variants. */
export function requireOrdered(type: DataType | undefined): void {
  if (type !== undefined && holdsMap(type)) throw notOrdered(type, 'compare their entries: map_entries(m)');
  requireComparable(type);
}

/** The same for what groups may be made of: maps too. */
export function requireComparable(type: DataType | undefined): void {
  if (type === undefined || isComparable(type)) return;
  throw notOrdered(type, "compare what they hold: variant_get(v, '$.a', 'int')");
}

/** @throws AnalysisException `EXPRESSION_TYPE_IS_NOT_ORDERABLE` (42822) for what rows cannot be divided by. */
export function requirePartitionKey(type: DataType | undefined): void {
  if (type === undefined || isComparable(type)) return;
  throw new AnalysisException({
    errorClass: 'EXPRESSION_TYPE_IS_NOT_ORDERABLE',
    message: `A column expression cannot be sorted because its type "${sqlTypeName(type)}" is not orderable.`,
    hint: "divide by what it holds: variant_get(v, '$.a', 'int')",
    parameters: { exprType: `"${sqlTypeName(type)}"` },
  });
}

function notOrdered(type: DataType, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.INVALID_ORDERING_TYPE',
    message: `values of type "${sqlTypeName(type)}" are neither equal nor ordered`,
    hint,
    parameters: { dataType: `"${sqlTypeName(type)}"` },
  });
}

import { AnalysisException } from '../base/analysis-exception.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';

/** A binary operator between types that have none in common. */
export function differentTypes(left: DataType, right: DataType): AnalysisException {
  const [one, other] = [sqlTypeName(left), sqlTypeName(right)];
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES',
    message: `the left and right operands of the binary operator have incompatible types ("${one}" and "${other}").`,
    hint: 'cast one side to the type of the other',
    parameters: { left: `"${one}"`, right: `"${other}"` },
  });
}

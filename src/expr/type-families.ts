import { AnalysisException } from '../base/analysis-exception.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';

const numbers: ReadonlySet<string> = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal']);
const times: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamp_ntz']);

function familyOf({ kind }: DataType): string | undefined {
  return numbers.has(kind) ? 'number' : times.has(kind) ? 'time' : kind === 'boolean' ? kind : undefined;
}

/** @throws AnalysisException `DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES` (42K09) for a number beside a time or a boolean. */
export function requireSameFamily(left: DataType | undefined, right: DataType | undefined): void {
  const [one, other] = [left, right].map((type) => (type === undefined ? undefined : familyOf(type)));
  if (left === undefined || right === undefined || one === undefined || other === undefined || one === other) return;
  throw differentTypes(left, right);
}

/** A binary operator between types that have none in common. */
export function differentTypes(left: DataType, right: DataType): AnalysisException {
  const [one, other] = [sqlTypeName(left), sqlTypeName(right)];
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES',
    sqlState: '42K09',
    message: `the left and right operands of the binary operator have incompatible types ("${one}" and "${other}").`,
    hint: 'cast one side to the type of the other',
    parameters: { left: `"${one}"`, right: `"${other}"` },
  });
}

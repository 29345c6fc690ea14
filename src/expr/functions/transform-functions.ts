import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DataType } from '../../schema/types.ts';
import { argument, built, type EngineCall, type FunctionTable, literalInteger, types } from '../function-spec.ts';
import { bucketSql, dateSql, hoursSql, monthsSql, truncateSql } from '../sql/partition-transforms.ts';

type TransformSql = (value: string, type: DataType) => string | undefined;

/** @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` for a type that the transform does not take. */
function transformed(call: EngineCall, index: number, sql: TransformSql): string {
  const [name, type] = [call.call.name, call.types[index]];
  const text = type === undefined ? undefined : sql(argument(call, index), type);
  if (text !== undefined) return text;
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `the function \`${name}\` does not take a value of the type ${type?.kind ?? 'unknown'}`,
    parameters: { functionName: name },
  });
}

function sizeOf(call: EngineCall): bigint {
  const size = literalInteger(call.call, 0);
  if (size !== undefined && size > 0n) return size;
  throw new AnalysisException({
    errorClass: 'INVALID_PARAMETER_VALUE',
    message: `the first argument of \`${call.call.name}\` must be a positive whole number`,
    parameters: { functionName: call.call.name },
  });
}

function truncated(call: EngineCall): string {
  const sql = transformed(call, 1, (value, type) => truncateSql(value, type, sizeOf(call)));
  const kind = call.types[1]?.kind;
  return kind === 'byte' || kind === 'short' ? `CAST(${sql} AS ${kind === 'byte' ? 'TINYINT' : 'SMALLINT'})` : sql;
}

/** Iceberg's transforms as functions: `system.bucket(16, id)`, also behind a catalog's name. Times are in UTC. */
export const transformFunctions: FunctionTable = {
  'system.bucket': built(2, (call) => transformed(call, 1, (value, type) => bucketSql(value, type, sizeOf(call))), types.integer),
  'system.truncate': built(2, truncated, ([, type]) => type),
  'system.years': built(1, (call) => transformed(call, 0, (value, type) => monthsSql(value, type, 'year')), types.integer),
  'system.months': built(1, (call) => transformed(call, 0, (value, type) => monthsSql(value, type, 'month')), types.integer),
  'system.days': built(1, (call) => transformed(call, 0, dateSql), types.date),
  'system.hours': built(1, (call) => transformed(call, 0, hoursSql), types.integer),
};

import { AnalysisException } from '../../base/analysis-exception.ts';
import { argument, built, type EngineCall, type FunctionTable, literalInteger, types } from '../function-spec.ts';
import { partitionHashes } from '../sql/text-functions.ts';

/** @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` for a type that the transform does not take. */
function refuse({ call, types: given }: EngineCall, index: number): never {
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    sqlState: '42K09',
    message: `the function \`${call.name}\` does not take a value of the type ${given[index]?.kind ?? 'unknown'}`,
    parameters: { functionName: call.name },
  });
}

function sizeOf(call: EngineCall): bigint {
  const size = literalInteger(call.call, 0);
  if (size !== undefined && size > 0n) return size;
  throw new AnalysisException({
    errorClass: 'INVALID_PARAMETER_VALUE',
    sqlState: '22023',
    message: `the first argument of \`${call.call.name}\` must be a positive whole number`,
    parameters: { functionName: call.call.name },
  });
}

function bucketSql(call: EngineCall): string {
  return `CAST((${hashSql(call)} & 2147483647) % ${sizeOf(call)} AS INTEGER)`;
}

function hashSql(call: EngineCall): string {
  const value = argument(call, 1);
  switch (call.types[1]?.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return `${partitionHashes.long}(CAST(${value} AS BIGINT))`;
    case 'date':
      return `${partitionHashes.long}(CAST(${value} - make_date(0) AS BIGINT))`;
    case 'timestamp':
    case 'timestamp_ntz':
      return `${partitionHashes.long}(epoch_us(${value}))`;
    case 'decimal':
      return `${partitionHashes.decimal}(replace(CAST(${value} AS VARCHAR), '.', ''))`;
    case 'string':
      return `${partitionHashes.text}(${value})`;
    case 'binary':
      return `${partitionHashes.bytes}(${value})`;
    default:
      return refuse(call, 1);
  }
}

function truncateSql(call: EngineCall): string {
  const [width, value, type] = [sizeOf(call), argument(call, 1), call.types[1]];
  switch (type?.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long': {
      const target = { byte: 'TINYINT', short: 'SMALLINT', integer: 'INTEGER', long: 'BIGINT' }[type.kind];
      return `CAST(CAST(${value} AS HUGEINT) - (((CAST(${value} AS HUGEINT) % ${width}) + ${width}) % ${width}) AS ${target})`;
    }
    case 'decimal': {
      const step = `CAST(${width} AS DECIMAL(38,0)) / ${10n ** BigInt(type.scale)}`;
      const exact = `CAST(${step} AS DECIMAL(${type.precision},${type.scale}))`;
      return `CAST(${value} - (((${value} % ${exact}) + ${exact}) % ${exact}) AS DECIMAL(${type.precision},${type.scale}))`;
    }
    case 'string':
      return `left(${value}, ${width})`;
    case 'binary':
      return `unhex(left(hex(${value}), ${2n * width}))`;
    default:
      return refuse(call, 1);
  }
}

/** Times in UTC. */
function timeOf(call: EngineCall): string {
  const [value, kind] = [argument(call, 0), call.types[0]?.kind];
  if (kind === 'timestamp') return `make_timestamp(epoch_us(${value}))`;
  return kind === 'date' || kind === 'timestamp_ntz' ? value : refuse(call, 0);
}

function hoursSql(call: EngineCall): string {
  if (call.types[0]?.kind === 'date') return refuse(call, 0);
  return `CAST(floor(epoch_us(${timeOf(call)}) / 3600000000) AS INTEGER)`;
}

/** Iceberg's transforms as functions: `system.bucket(16, id)`, also behind a catalog's name. */
export const transformFunctions: FunctionTable = {
  'system.bucket': built(2, bucketSql, types.integer),
  'system.truncate': built(2, truncateSql, ([, type]) => type),
  'system.years': built(1, (call) => `CAST(year(${timeOf(call)}) - 1970 AS INTEGER)`, types.integer),
  'system.months': built(1, (call) => `CAST((year(${timeOf(call)}) - 1970) * 12 + month(${timeOf(call)}) - 1 AS INTEGER)`, types.integer),
  'system.days': built(1, (call) => `CAST(${timeOf(call)} AS DATE)`, types.date),
  'system.hours': built(1, hoursSql, types.integer),
};

import { AnalysisException } from '../base/analysis-exception.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';
import type { Expression } from './expression.ts';
import { isIntegral, isNumeric } from './sql/cast-sql.ts';

/**
 * What a parameter of a function takes. `number` keeps a number's own type, `text` keeps bytes, `bytes` takes text for its UTF-8, `whole` is
 * BIGINT of any number and `integer` INT, their fraction cut off. A value of another type is cast as Spark's ANSI mode casts arguments, or
 * refused; the `own` kinds cast nothing.
 */
export type ParameterKind =
  | 'any'
  | 'boolean'
  | 'condition'
  | 'number'
  | 'double'
  | 'integral'
  | 'bits'
  | 'integer'
  | 'days'
  | 'place'
  | 'whole'
  | 'string'
  | 'text'
  | 'bytes'
  | 'ownNumber'
  | 'ownIntegral'
  | 'ownText'
  | 'ownDate'
  | 'ownTimestamp'
  | 'date'
  | 'list'
  | 'map';

type CallExpression = Extract<Expression, { kind: 'call' }>;

interface ParameterRule {
  /** As Spark spells what is wanted in its refusals. */
  readonly wanted: string;
  /** The type that NULL without a type takes. */
  readonly ofNull: DataType | undefined;
  /** What a value of the type is cast to, which may be the same; `undefined`: refused. */
  readonly of: (type: DataType) => DataType | undefined;
}

const boolean: DataType = { kind: 'boolean' };
const integer: DataType = { kind: 'integer' };
const long: DataType = { kind: 'long' };
const double: DataType = { kind: 'double' };
const string: DataType = { kind: 'string' };
const date: DataType = { kind: 'date' };
const timestamp: DataType = { kind: 'timestamp' };
const binary: DataType = { kind: 'binary' };
const nested: ReadonlySet<string> = new Set(['struct', 'list', 'map', 'variant']);

const rules: Readonly<Record<Exclude<ParameterKind, 'any'>, ParameterRule>> = {
  boolean: { wanted: '"BOOLEAN"', ofNull: boolean, of: ({ kind }) => (kind === 'boolean' || kind === 'string' ? boolean : undefined) },
  condition: { wanted: '"BOOLEAN"', ofNull: boolean, of: ({ kind }) => (kind === 'boolean' ? boolean : undefined) },
  number: { wanted: '"NUMERIC"', ofNull: double, of: (type) => (isNumeric(type) ? type : type.kind === 'string' ? double : undefined) },
  double: { wanted: '"DOUBLE"', ofNull: double, of: (type) => (isNumeric(type) || type.kind === 'string' ? double : undefined) },
  integral: {
    wanted: '("INT" or "BIGINT")',
    ofNull: integer,
    of: (type) => (type.kind === 'long' ? long : isNumeric(type) || type.kind === 'string' ? integer : undefined),
  },
  bits: { wanted: '"INTEGRAL"', ofNull: long, of: (type) => (isIntegral(type) ? type : type.kind === 'string' ? long : undefined) },
  integer: { wanted: '"INT"', ofNull: integer, of: (type) => (type.kind === 'string' || isNumeric(type) ? integer : undefined) },
  whole: { wanted: '"BIGINT"', ofNull: long, of: (type) => (type.kind === 'string' || isNumeric(type) ? long : undefined) },
  string: { wanted: '"STRING"', ofNull: string, of: ({ kind }) => (nested.has(kind) ? undefined : string) },
  text: {
    wanted: '("STRING" or "BINARY")',
    ofNull: string,
    of: (type) => (type.kind === 'binary' ? type : nested.has(type.kind) ? undefined : string),
  },
  date: {
    wanted: '"DATE"',
    ofNull: date,
    of: ({ kind }) => (['date', 'timestamp', 'timestamp_ntz', 'string'].includes(kind) ? date : undefined),
  },
  bytes: { wanted: '"BINARY"', ofNull: binary, of: (type) => (type.kind === 'binary' || type.kind === 'string' ? type : undefined) },
  days: {
    wanted: '("INT" or "SMALLINT" or "TINYINT")',
    ofNull: integer,
    of: (type) => (type.kind === 'string' || (isIntegral(type) && type.kind !== 'long') ? integer : undefined),
  },
  place: {
    wanted: '"INT"',
    ofNull: integer,
    of: (type) => (isIntegral(type) && type.kind !== 'long' ? integer : undefined),
  },
  ownNumber: { wanted: '"NUMERIC"', ofNull: double, of: (type) => (isNumeric(type) ? type : undefined) },
  ownIntegral: { wanted: '"INTEGRAL"', ofNull: long, of: (type) => (isIntegral(type) ? type : undefined) },
  ownText: { wanted: '"STRING"', ofNull: string, of: (type) => (type.kind === 'string' ? type : undefined) },
  ownDate: { wanted: '"DATE"', ofNull: date, of: (type) => (type.kind === 'date' ? type : undefined) },
  ownTimestamp: { wanted: '"TIMESTAMP"', ofNull: timestamp, of: (type) => (type.kind === 'timestamp' ? type : undefined) },
  list: { wanted: '"ARRAY"', ofNull: undefined, of: (type) => (type.kind === 'list' ? type : undefined) },
  map: { wanted: '"MAP"', ofNull: undefined, of: (type) => (type.kind === 'map' ? type : undefined) },
};

/** The type that an argument is taken as; `undefined` where nothing is known of it or nothing is asked. */
export function parameterType(kind: ParameterKind | undefined, type: DataType | undefined, isNull: boolean): DataType | undefined {
  if (kind === undefined || kind === 'any') return type;
  if (type === undefined || type.kind === 'void') return isNull || type !== undefined ? rules[kind].ofNull : undefined;
  return rules[kind].of(type);
}

/** @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` 42K09 for an argument that a parameter does not take. */
export function requireParameterTypes(
  call: CallExpression,
  takes: readonly ParameterKind[],
  types: readonly (DataType | undefined)[],
): void {
  for (const [index, type] of types.entries()) {
    const kind = takes[Math.min(index, takes.length - 1)];
    if (kind === undefined || kind === 'any' || type === undefined || type.kind === 'void') continue;
    if (rules[kind].of(type) === undefined) throw unexpected(call, index, rules[kind].wanted, type);
  }
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];

function unexpected(call: CallExpression, index: number, requiredType: string, type: DataType): AnalysisException {
  const inputType = `"${sqlTypeName(type).toUpperCase()}"`;
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `Cannot resolve "${call.name}" due to data type mismatch: The ${ordinals[index] ?? `${index + 1}th`} parameter requires the ${requiredType} type, however the argument has the type ${inputType}.`,
    parameters: { functionName: call.name, paramIndex: ordinals[index] ?? String(index + 1), requiredType, inputType },
  });
}

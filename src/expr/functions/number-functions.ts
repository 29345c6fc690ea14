import type { DataType } from '../../schema/types.ts';
import { argument, built, type EngineCall, type FunctionTable, refused, renamed, scalar, types } from '../function-spec.ts';
import { isFloating, isIntegral } from '../sql/cast-sql.ts';

/** Spark's `ceil` and `floor` give BIGINT, for decimals a decimal without fraction. */
function wholeNumber(name: 'ceil' | 'floor'): (call: EngineCall) => string {
  return (call) => {
    const value = argument(call, 0);
    const digits = call.args[1];
    if (digits !== undefined) return `(${name}(${value} * power(10, ${digits})) / power(10, ${digits}))`;
    if (isIntegral(call.types[0])) return `CAST(${value} AS BIGINT)`;
    return call.types[0]?.kind === 'decimal' ? `${name}(${value})` : `CAST(${name}(${value}) AS BIGINT)`;
  };
}

function wholeType([type]: readonly (DataType | undefined)[]): DataType | undefined {
  if (type?.kind !== 'decimal') return types.long;
  return { kind: 'decimal', precision: Math.min(38, type.precision - type.scale + 1), scale: 0 };
}

/** Logarithms and roots outside their domain are NULL or NaN in Spark, errors in the engine. */
function positiveOnly(build: (value: string) => string, otherwise: string = 'NULL'): (value?: string) => string {
  return (value = 'NULL') => `CASE WHEN ${value} > 0 THEN ${build(value)} ELSE ${otherwise} END`;
}

/** The remainder with the sign of the divisor, as `pmod` gives it. */
function positiveRemainder(left: string, right: string): string {
  return `((${left} % ${right}) + ${right}) % ${right}`;
}

function nullOnZero(operator: string): (left?: string, right?: string) => string {
  return (left = 'NULL', right = 'NULL') => `(${left} ${operator} nullif(${right}, 0))`;
}

const doubleOf = (name: string): ReturnType<typeof renamed> => renamed(name, 1, types.double);

/** Functions of numbers. */
export const numberFunctions: FunctionTable = {
  abs: renamed('abs', 1, 'first'),
  negative: scalar(1, (value) => `(- ${value})`, 'first'),
  positive: scalar(1, (value = 'NULL') => value, 'first'),
  sign: scalar(1, (value) => `CAST(sign(${value}) AS DOUBLE)`, types.double),
  signum: scalar(1, (value) => `CAST(sign(${value}) AS DOUBLE)`, types.double),
  ceil: built([1, 2], wholeNumber('ceil'), wholeType),
  ceiling: built([1, 2], wholeNumber('ceil'), wholeType),
  floor: built([1, 2], wholeNumber('floor'), wholeType),
  round: built(
    [1, 2],
    ({ args }) => `round(${args.join(', ')})`,
    ([type]) => (isIntegral(type) || isFloating(type) ? type : undefined),
  ),
  bround: scalar([1, 2], (value, digits = '0') => `round_even(${value}, ${digits})`),
  sqrt: scalar(1, (value) => `CASE WHEN ${value} >= 0 THEN sqrt(${value}) WHEN ${value} < 0 THEN CAST('NaN' AS DOUBLE) END`, types.double),
  cbrt: doubleOf('cbrt'),
  exp: doubleOf('exp'),
  expm1: scalar(1, (value) => `(exp(${value}) - 1)`, types.double),
  ln: scalar(
    1,
    positiveOnly((value) => `ln(${value})`),
    types.double,
  ),
  log: scalar(
    [1, 2],
    (first = 'NULL', second?: string) =>
      second === undefined ? positiveOnly((value) => `ln(${value})`)(first) : positiveOnly((value) => `log(${first}, ${value})`)(second),
    types.double,
  ),
  log2: scalar(
    1,
    positiveOnly((value) => `log2(${value})`),
    types.double,
  ),
  log10: scalar(
    1,
    positiveOnly((value) => `log10(${value})`),
    types.double,
  ),
  log1p: scalar(1, (value) => `CASE WHEN ${value} > -1 THEN ln(1 + ${value}) END`, types.double),
  pow: scalar(2, (base, power) => `power(CAST(${base} AS DOUBLE), CAST(${power} AS DOUBLE))`, types.double),
  power: scalar(2, (base, power) => `power(CAST(${base} AS DOUBLE), CAST(${power} AS DOUBLE))`, types.double),
  mod: scalar(
    2,
    (left, right) => `(${left} % CASE WHEN ${right} = 0 THEN error('[REMAINDER_BY_ZERO] Remainder by zero.') ELSE ${right} END)`,
  ),
  pmod: scalar(2, (left = 'NULL', right = 'NULL') => positiveRemainder(left, right)),
  try_add: scalar(2, (left, right) => `TRY(${left} + ${right})`),
  try_subtract: scalar(2, (left, right) => `TRY(${left} - ${right})`),
  try_multiply: scalar(2, (left, right) => `TRY(${left} * ${right})`),
  try_divide: scalar(2, nullOnZero('/')),
  try_mod: scalar(2, nullOnZero('%')),
  sin: doubleOf('sin'),
  cos: doubleOf('cos'),
  tan: doubleOf('tan'),
  cot: doubleOf('cot'),
  asin: doubleOf('asin'),
  acos: doubleOf('acos'),
  atan: doubleOf('atan'),
  atan2: renamed('atan2', 2, types.double),
  sinh: doubleOf('sinh'),
  cosh: doubleOf('cosh'),
  tanh: doubleOf('tanh'),
  degrees: doubleOf('degrees'),
  radians: doubleOf('radians'),
  pi: renamed('pi', 0, types.double),
  e: scalar(0, () => 'exp(CAST(1 AS DOUBLE))', types.double),
  factorial: scalar(
    1,
    (value) => `CASE WHEN ${value} BETWEEN 0 AND 20 THEN CAST(factorial(CAST(${value} AS INTEGER)) AS BIGINT) END`,
    types.long,
  ),
  shiftleft: scalar(2, (value, count) => `(${value} << ${count})`, 'first'),
  shiftright: scalar(2, (value, count) => `(${value} >> ${count})`, 'first'),
  bit_count: scalar(1, (value) => `CAST(bit_count(${value}) AS INTEGER)`, types.integer),
  bin: scalar(1, (value) => `bin(CAST(${value} AS BIGINT))`, types.string),
  rand: { kind: 'scalar', least: 0, most: 0, volatile: true, type: () => types.double, sql: () => 'random()' },
  random: { kind: 'scalar', least: 0, most: 0, volatile: true, type: () => types.double, sql: () => 'random()' },
  randn: refused('use rand()'),
  conv: refused('use hex, unhex or bin'),
};

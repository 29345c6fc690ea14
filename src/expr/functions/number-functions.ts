import type { DataType } from '../../schema/types.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  shownAs,
  types,
} from '../function-spec.ts';
import { castSql, isFloating, isIntegral } from '../sql/cast-sql.ts';
import { typeSql } from '../sql/engine-text.ts';
import { bindOnce } from './bind-once.ts';

/** A function of a DOUBLE; outside of its domain the engine raises an error, and this gives NaN or what is said. */
function ofDouble(build: (x: string) => string): FunctionSpec {
  return built(['double'], (call) => bindOnce(`CAST(${argument(call, 0)} AS DOUBLE)`, '__x', build), types.double);
}

function simple(name: string, shown: string = name.toUpperCase()): FunctionSpec {
  return built(['double'], (call) => `${name}(CAST(${argument(call, 0)} AS DOUBLE))`, types.double, shown);
}

const nan = "CAST('NaN' AS DOUBLE)";
const infinity = "CAST('Infinity' AS DOUBLE)";

/** Where the test holds, what is built; else NaN. NULL stays NULL. */
function within(test: (x: string) => string, build: (x: string) => string): (x: string) => string {
  return (x) => `CASE WHEN isnan(${x}) THEN ${nan} WHEN ${test(x)} THEN ${build(x)} WHEN ${x} IS NOT NULL THEN ${nan} END`;
}

/** A function of the engine where the test holds, else NaN: outside of its domain the engine raises an error. */
function inDomain(name: string, test: (x: string) => string, sql: (x: string) => string = (x) => `${name}(${x})`): FunctionSpec {
  return shownAs(name.toUpperCase(), ofDouble(within(test, sql)));
}

const finite = (x: string): string => `isfinite(${x})`;
const atMostOne = (x: string): string => `abs(${x}) <= 1`;

/** One divided by a function that is zero at zero. */
function reciprocal(name: string, sql: (x: string) => string): FunctionSpec {
  return inDomain(
    name,
    finite,
    (x) => `CASE WHEN ${x} = 0 THEN CASE WHEN CAST(${x} AS VARCHAR) = '-0.0' THEN -${infinity} ELSE ${infinity} END ELSE ${sql(x)} END`,
  );
}

function ofTwoDoubles(shown: string, sql: (x: string, y: string) => string): FunctionSpec {
  const call = (given: EngineCall): string => sql(`CAST(${argument(given, 0)} AS DOUBLE)`, `CAST(${argument(given, 1)} AS DOUBLE)`);
  return built(['double', 'double'], call, types.double, shown);
}

const powSql = (x: string, y: string): string => `pow(${x}, ${y})`;

/** NULL where there is no logarithm, as Spark's are. */
function logarithm(build: (x: string) => string, above: number = 0): (x: string) => string {
  return (x) => `CASE WHEN isnan(${x}) THEN ${nan} WHEN ${x} > ${above} THEN ${build(x)} END`;
}

/** Near zero the plain difference loses its digits: the error of the rounded exponential is divided out again. */
function expm1Sql(x: string): string {
  return bindOnce(
    `exp(${x})`,
    '__u',
    (u) => `CASE WHEN ${u} = 1 THEN ${x} WHEN abs(${x}) > 1 THEN ${u} - 1 ELSE (${u} - 1) * ${x} / ln(${u}) END`,
  );
}

function log1pSql(x: string): string {
  return bindOnce(
    `1 + ${x}`,
    '__u',
    (u) => `CASE WHEN ${u} = 1 THEN ${x} WHEN isinf(${u}) THEN ${u} ELSE ln(${u}) * (${x} / (${u} - 1)) END`,
  );
}

function logSql(call: EngineCall): string {
  const [base, second] = [argument(call, 0), call.args[1]];
  if (second === undefined) {
    return bindOnce(
      `CAST(${base} AS DOUBLE)`,
      '__x',
      logarithm((x) => `ln(${x})`),
    );
  }
  return bindOnce(`CAST(${base} AS DOUBLE)`, '__base', (b) =>
    bindOnce(
      `CAST(${second} AS DOUBLE)`,
      '__x',
      (x) =>
        `CASE WHEN ${b} > 0 AND ${x} > 0 THEN CASE WHEN ln(${b}) <> 0 THEN ln(${x}) / ln(${b}) WHEN ${x} = 1 THEN ${nan} WHEN ${x} > 1 THEN ${infinity} ELSE -${infinity} END END`,
    ),
  );
}

/** A change of sign whose overflow is an error of the engine. */
function negated(call: EngineCall): string {
  const [value, type] = [argument(call, 0), call.types[0]];
  return isIntegral(type)
    ? `CAST(- CAST(${value} AS HUGEINT) AS ${typeSql(type ?? types.long)})`
    : isFloating(type)
      ? `(${value} * -1)`
      : `(- ${value})`;
}

function absolute(call: EngineCall): string {
  const [value, type] = [argument(call, 0), call.types[0]];
  return isIntegral(type) ? `CAST(abs(CAST(${value} AS HUGEINT)) AS ${typeSql(type ?? types.long)})` : `abs(${value})`;
}

function signSql(call: EngineCall): string {
  const value = argument(call, 0);
  // NaN and both zeros have their own.
  return bindOnce(
    `CAST(${value} AS DOUBLE)`,
    '__x',
    (x) => `CASE WHEN isnan(${x}) OR ${x} = 0 THEN ${x} ELSE CAST(sign(${x}) AS DOUBLE) END`,
  );
}

function hypotSql(call: EngineCall): string {
  return bindOnce(`abs(CAST(${argument(call, 0)} AS DOUBLE))`, '__a', (a) =>
    bindOnce(`abs(CAST(${argument(call, 1)} AS DOUBLE))`, '__b', (b) => {
      const [large, small] = [`greatest(${a}, ${b})`, `least(${a}, ${b})`];
      const squares = `sqrt(${a} * ${a} + ${b} * ${b})`;
      // Scaled where the squares would leave the range.
      const scaled = `${large} * sqrt(1 + (${small} / ${large}) * (${small} / ${large}))`;
      const plain = `CASE WHEN ${large} = 0 THEN CAST(0 AS DOUBLE) WHEN ${large} > 1e150 OR ${large} < 1e-150 THEN ${scaled} ELSE ${squares} END`;
      return `CASE WHEN ${a} IS NULL OR ${b} IS NULL THEN NULL WHEN isinf(${a}) OR isinf(${b}) THEN ${infinity} WHEN isnan(${a}) OR isnan(${b}) THEN ${nan} ELSE ${plain} END`;
    }),
  );
}

function factorialSql(value: string): string {
  return `CASE WHEN ${value} BETWEEN 0 AND 20 THEN CAST(factorial(${value}) AS BIGINT) END`;
}

/** Buckets of one size between the ends; NULL where there are none. */
function widthBucket(call: EngineCall): string {
  const [value, low, high] = [0, 1, 2].map((index) => `CAST(${argument(call, index)} AS DOUBLE)`);
  const count = argument(call, 3);
  return bindOnce(value ?? 'NULL', '__v', (v) =>
    bindOnce(low ?? 'NULL', '__low', (a) =>
      bindOnce(high ?? 'NULL', '__high', (b) => {
        const wrong = `${count} <= 0 OR ${count} = 9223372036854775807 OR ${a} = ${b} OR isnan(${v}) OR NOT isfinite(${a}) OR NOT isfinite(${b})`;
        const up = `CASE WHEN ${v} < ${a} THEN 0 WHEN ${v} >= ${b} THEN ${count} + 1 ELSE CAST(floor(${count} * (${v} - ${a}) / (${b} - ${a})) AS BIGINT) + 1 END`;
        const down = `CASE WHEN ${v} > ${a} THEN 0 WHEN ${v} <= ${b} THEN ${count} + 1 ELSE CAST(floor(${count} * (${a} - ${v}) / (${a} - ${b})) AS BIGINT) + 1 END`;
        return `CASE WHEN ${v} IS NULL OR ${a} IS NULL OR ${b} IS NULL OR ${count} IS NULL OR ${wrong} THEN NULL WHEN ${a} < ${b} THEN ${up} ELSE ${down} END`;
      }),
    ),
  );
}

function nanvlSql(call: EngineCall): string {
  const type = typeSql(nanvlType(call.types));
  return `CASE WHEN isnan(${argument(call, 0)}) THEN CAST(${argument(call, 1)} AS ${type}) ELSE CAST(${argument(call, 0)} AS ${type}) END`;
}

function nanvlType([left, right]: ArgumentTypes): DataType {
  return left?.kind === 'float' && right?.kind === 'float' ? left : types.double;
}

const sign = built(['double'], signSql, types.double);
/** Functions of numbers. */
export const numberFunctions: FunctionTable = {
  abs: built(['number'], absolute, 'first'),
  negative: built(['number'], negated, 'first'),
  positive: built(
    ['number'],
    (call) => argument(call, 0),
    'first',
    ([value = '']) => `(+ ${value})`,
  ),
  sign,
  signum: shownAs('SIGNUM', sign),
  sqrt: shownAs(
    'SQRT',
    ofDouble(
      within(
        (x) => `${x} >= 0`,
        (x) => `sqrt(${x})`,
      ),
    ),
  ),
  cbrt: simple('cbrt'),
  exp: simple('exp'),
  expm1: shownAs('EXPM1', ofDouble(expm1Sql)),
  ln: ofDouble(logarithm((x) => `ln(${x})`)),
  log: built(
    ['double', 'double?'],
    logSql,
    types.double,
    (args) => `LOG(${args.length === 1 ? `E(), ${args[0] ?? ''}` : args.join(', ')})`,
  ),
  log2: shownAs('LOG2', ofDouble(logarithm((x) => `(ln(${x}) / ln(2))`))),
  log10: shownAs('LOG10', ofDouble(logarithm((x) => `log10(${x})`))),
  log1p: shownAs('LOG1P', ofDouble(logarithm(log1pSql, -1))),
  pow: ofTwoDoubles('pow', powSql),
  power: ofTwoDoubles('POWER', powSql),
  sin: inDomain('sin', finite),
  cos: inDomain('cos', finite),
  tan: inDomain('tan', finite),
  cot: reciprocal('cot', (x) => `cot(${x})`),
  sec: inDomain('sec', finite, (x) => `1 / cos(${x})`),
  csc: reciprocal('csc', (x) => `1 / sin(${x})`),
  asin: inDomain('asin', atMostOne),
  acos: inDomain('acos', atMostOne),
  atan: simple('atan'),
  // A negative zero is none.
  atan2: ofTwoDoubles('ATAN2', (y, x) => `atan2(${y} + 0, ${x} + 0)`),
  sinh: simple('sinh'),
  cosh: simple('cosh'),
  tanh: simple('tanh'),
  asinh: simple('asinh'),
  acosh: inDomain('acosh', (x) => `${x} >= 1`),
  atanh: inDomain('atanh', atMostOne, (x) => `CASE WHEN abs(${x}) = 1 THEN ${x} * ${infinity} ELSE atanh(${x}) END`),
  degrees: simple('degrees'),
  radians: simple('radians'),
  hypot: built(['double', 'double'], hypotSql, types.double, 'HYPOT'),
  pi: built(0, () => 'pi()', types.double, 'PI'),
  // The engine's exp(1) differs from Java's constant in no digit.
  e: built(0, () => "CAST('2.718281828459045' AS DOUBLE)", types.double, 'E'),
  factorial: built(
    ['whole'],
    (call) => factorialSql(castSql(argument(call, 0), { from: call.types[0], to: types.integer, safe: false })),
    types.long,
  ),
  width_bucket: built(['double', 'double', 'double', 'whole'], widthBucket, types.long),
  bin: built(['whole'], (call) => `bin(${argument(call, 0)})`, types.string),
  isnan: built(['double'], (call) => `coalesce(isnan(CAST(${argument(call, 0)} AS DOUBLE)), false)`, types.boolean),
  nanvl: built(['number', 'number'], nanvlSql, nanvlType),
};

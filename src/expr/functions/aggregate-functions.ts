import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  many,
  type Parameters,
  type ResultType,
  types,
} from '../function-spec.ts';
import { isIntegral } from '../sql/cast-sql.ts';
import { exactSql } from '../sql/decimal-sql.ts';
import { typeSql } from '../sql/engine-text.ts';

const maxPrecision = 38;
type TypeRule = FunctionSpec['type'];

function aggregate(parameters: Parameters, sql: FunctionSpec['sql'], type?: ResultType): FunctionSpec {
  return { ...built(parameters, sql, type), kind: 'aggregate' };
}

function plain(name: string, parameters: Parameters, type?: ResultType): FunctionSpec {
  return aggregate(parameters, (call) => call.modified(`${name}(${distinct(call)}${call.args.join(', ')})`), type);
}

function window(name: string, parameters: Parameters, type: DataType | 'first'): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const made = call.modified(`${name}(${call.args.join(', ')}${call.call.ignoreNulls === true ? ' IGNORE NULLS' : ''})`);
    return type !== 'first' && type.kind === 'integer' ? `CAST(${made} AS INTEGER)` : made;
  };
  return { ...aggregate(parameters, sql, type), kind: 'window' };
}

function distinct({ call }: EngineCall): string {
  return call.distinct === true ? 'DISTINCT ' : '';
}

/** Sums of integers are BIGINT (an overflow is an error), of decimals ten digits wider. */
function sumType([type]: readonly (DataType | undefined)[]): DataType | undefined {
  if (type?.kind === 'decimal') return { kind: 'decimal', precision: Math.min(maxPrecision, type.precision + 10), scale: type.scale };
  if (type === undefined) return undefined;
  return isIntegral(type) ? types.long : types.double;
}

function averageType([type]: readonly (DataType | undefined)[]): DataType {
  if (type?.kind !== 'decimal') return types.double;
  return { kind: 'decimal', precision: Math.min(maxPrecision, type.precision + 4), scale: Math.min(maxPrecision, type.scale + 4) };
}

function sumSql(call: EngineCall, cast: 'CAST' | 'TRY_CAST'): string {
  const sum = call.modified(`sum(${distinct(call)}${argument(call, 0)})`);
  const type = sumType(call.types);
  return type === undefined ? sum : `${cast}(${sum} AS ${typeSql(type)})`;
}

/** Of decimals exact: the engine's own is a double. */
function averageSql(call: EngineCall, cast: 'CAST' | 'TRY_CAST'): string {
  const [type, sum] = [averageType(call.types), sumType(call.types)];
  if (type.kind === 'decimal' && sum !== undefined) {
    const [total, count] = ['sum', 'count'].map((name) => call.modified(`${name}(${distinct(call)}${argument(call, 0)})`));
    const sides = [
      { sql: total ?? 'NULL', type: sum },
      { sql: count ?? 'NULL', type: types.long },
    ] as const;
    return exactSql('/', sides, type, cast);
  }
  return `${cast}(${call.modified(`avg(${distinct(call)}${argument(call, 0)})`)} AS ${typeSql(averageType(call.types))})`;
}

/** Of several arguments, counts the rows where none is null. */
function countSql(call: EngineCall): string {
  const [first] = call.args;
  if (call.call.star === true || first === undefined) return call.modified('count(*)');
  if (call.args.length === 1) return call.modified(`count(${distinct(call)}${first})`);
  const present = call.args.map((value) => `${value} IS NOT NULL`).join(' AND ');
  return call.modified(`count(${distinct(call)}CASE WHEN ${present} THEN row(${call.args.join(', ')}) END)`);
}

/** Lists leave out nulls; no row gives an empty list. */
function collect(prefix: string): (call: EngineCall) => string {
  return (call) => {
    const value = argument(call, 0);
    const unique = prefix === '' ? distinct(call) : prefix;
    return `coalesce(${call.modified(`list(${unique}${value})`, `${value} IS NOT NULL`)}, [])`;
  };
}

function oneOf(name: 'first' | 'last'): (call: EngineCall) => string {
  return (call) => {
    const value = argument(call, 0);
    const skipNulls = call.call.ignoreNulls === true || call.args[1] === 'true';
    if (call.call.over !== undefined) return call.modified(`${name}_value(${value}${skipNulls ? ' IGNORE NULLS' : ''})`);
    return skipNulls ? call.modified(`${name}(${value})`, `${value} IS NOT NULL`) : call.modified(`${name}(${value})`);
  };
}

function quantile(name: string): (call: EngineCall) => string {
  return (call) =>
    call.modified(`${name}(${argument(call, 0)}, CAST(${argument(call, 1)} AS ${call.types[1]?.kind === 'list' ? 'DOUBLE[]' : 'DOUBLE'}))`);
}

/** The engine has no deviation of NaN. */
function deviationSql(name: string, call: EngineCall): string {
  return orNotNumber(call, (value) => call.modified(`${name}(${distinct(call)}${value})`));
}

function orNotNumber(call: EngineCall, build: (value: string) => string): string {
  const value = `CAST(${argument(call, 0)} AS DOUBLE)`;
  const some = call.modified(`bool_or(NOT isfinite(${value}))`);
  return `CASE WHEN ${some} THEN CAST('NaN' AS DOUBLE) ELSE ${build(`CASE WHEN isfinite(${value}) THEN ${value} END`)} END`;
}

type Moments = (call: EngineCall, value: string) => string;

/** Of one value, or of equal ones, there is no shape: NULL. */
function deviationOf(moments: Moments): FunctionSpec {
  return aggregate(['double'], (call) => orNotNumber(call, (value) => moments(call, value)), types.double);
}

/** Of the population: the third moment by the deviation's third power. */
function skewness(call: EngineCall, value: string): string {
  const power = (exponent: number): string => call.modified(`avg(${distinct(call)}pow(${value}, ${exponent}))`);
  const mean = power(1);
  const third = `(${power(3)} - 3 * ${mean} * ${power(2)} + 2 * pow(${mean}, 3))`;
  const variance = call.modified(`var_pop(${distinct(call)}${value})`);
  return `CASE WHEN ${variance} <> 0 THEN ${third} / pow(${variance}, 1.5) END`;
}

/** Of the population: the fourth moment by the variance's square, less three. */
function kurtosis(call: EngineCall, value: string): string {
  const power = (exponent: number): string => call.modified(`avg(${distinct(call)}pow(${value}, ${exponent}))`);
  const mean = power(1);
  const fourth = `(${power(4)} - 4 * ${mean} * ${power(3)} + 6 * pow(${mean}, 2) * ${power(2)} - 3 * pow(${mean}, 4))`;
  const variance = call.modified(`var_pop(${distinct(call)}${value})`);
  return `CASE WHEN ${variance} <> 0 THEN ${fourth} / pow(${variance}, 2) - 3 END`;
}

/** Deviations of a single row are NaN-free: NULL, as Spark 3 and later give. */
const deviation = (name: string): FunctionSpec => aggregate(['double'], (call) => deviationSql(name, call), types.double);
const listType: TypeRule = ([element]) => (element === undefined ? undefined : { kind: 'list', element, elementNullable: false });
const first = aggregate([1, 2], oneOf('first'), 'first');
const last = aggregate([1, 2], oneOf('last'), 'first');
const average = aggregate(
  ['number'],
  (call) => averageSql(call, 'CAST'),
  (given) => averageType(given),
);
const every = plain('bool_and', ['boolean'], types.boolean);
const regression = (name: string): FunctionSpec => plain(name, ['double', 'double'], types.double);
const some = plain('bool_or', ['boolean'], types.boolean);
const countIf = aggregate(['boolean'], (call) => `CAST(${call.modified(`count_if(${argument(call, 0)})`)} AS BIGINT)`, types.long);
/** Arguments behind the separator are what `WITHIN GROUP` orders by, and whether it descends. */
const joined = aggregate(
  [1, 4],
  (call) => {
    const order =
      call.args[2] === undefined ? '' : ` ORDER BY ${argument(call, 2)} ${call.args[3] === 'true' ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`;
    return call.modified(`string_agg(${distinct(call)}${argument(call, 0)}, coalesce(${call.args[1] ?? "''"}, '')${order})`);
  },
  types.string,
);

/** Behind the share: what `WITHIN GROUP` orders by, and whether it descends. */
function orderedQuantile(name: string): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const share = `CAST(${argument(call, 0)} AS DOUBLE)`;
    return call.modified(`${name}(CAST(${argument(call, 1)} AS DOUBLE), ${call.args[2] === 'true' ? `1 - ${share}` : share})`);
  };
  return aggregate([2, 3], sql, types.double);
}

/** Aggregates, which may stand in a window, and functions of windows alone. */
export const aggregateFunctions: FunctionTable = {
  count: aggregate([0, many], countSql, types.long),
  sum: aggregate(['number'], (call) => sumSql(call, 'CAST'), sumType),
  // NULL in the place of an overflow.
  try_sum: aggregate(['number'], (call) => sumSql(call, 'TRY_CAST'), sumType),
  try_avg: aggregate(
    ['number'],
    (call) => averageSql(call, 'TRY_CAST'),
    (given) => averageType(given),
  ),
  avg: average,
  mean: average,
  min: plain('min', 1, 'first'),
  max: plain('max', 1, 'first'),
  first,
  first_value: first,
  last,
  last_value: last,
  any_value: aggregate([1, 2], oneOf('first'), 'first'),
  max_by: plain('arg_max_null', 2, 'first'),
  min_by: plain('arg_min_null', 2, 'first'),
  collect_list: aggregate(1, collect(''), listType),
  array_agg: aggregate(1, collect(''), listType),
  collect_set: aggregate(1, collect('DISTINCT '), listType),
  stddev: deviation('stddev_samp'),
  std: deviation('stddev_samp'),
  stddev_samp: deviation('stddev_samp'),
  stddev_pop: deviation('stddev_pop'),
  variance: deviation('var_samp'),
  var_samp: deviation('var_samp'),
  var_pop: deviation('var_pop'),
  corr: plain('corr', 2, types.double),
  covar_samp: plain('covar_samp', 2, types.double),
  covar_pop: plain('covar_pop', 2, types.double),
  regr_count: plain('regr_count', ['double', 'double'], types.long),
  regr_slope: regression('regr_slope'),
  regr_intercept: regression('regr_intercept'),
  regr_avgx: regression('regr_avgx'),
  regr_avgy: regression('regr_avgy'),
  regr_sxx: regression('regr_sxx'),
  regr_syy: regression('regr_syy'),
  regr_sxy: regression('regr_sxy'),
  regr_r2: regression('regr_r2'),
  grouping: aggregate(1, (call) => `CAST(grouping(${argument(call, 0)}) AS TINYINT)`, { kind: 'byte' }),
  // Without columns it is that of all keys, which queries write down.
  grouping_id: aggregate([0, many], (call) => `CAST(grouping(${call.args.join(', ')}) AS BIGINT)`, types.long),
  median: plain('median', ['double'], types.double),
  skewness: deviationOf(skewness),
  kurtosis: deviationOf(kurtosis),
  mode: plain('mode', 1, 'first'),
  // Exact, which every accuracy allows.
  percentile_approx: aggregate([2, 3], quantile('quantile_disc')),
  approx_percentile: aggregate([2, 3], quantile('quantile_disc')),
  percentile_cont: orderedQuantile('quantile_cont'),
  percentile_disc: orderedQuantile('quantile_disc'),
  percentile: aggregate(2, quantile('quantile_cont')),
  approx_count_distinct: aggregate([1, 2], (call) => call.modified(`approx_count_distinct(${argument(call, 0)})`), types.long),
  bool_and: every,
  every,
  bool_or: some,
  some,
  any: some,
  bit_and: plain('bit_and', ['bits'], 'first'),
  bit_or: plain('bit_or', ['bits'], 'first'),
  bit_xor: plain('bit_xor', ['bits'], 'first'),
  count_if: countIf,
  string_agg: joined,
  listagg: joined,
  row_number: window('row_number', 0, types.integer),
  rank: window('rank', 0, types.integer),
  dense_rank: window('dense_rank', 0, types.integer),
  percent_rank: window('percent_rank', 0, types.double),
  cume_dist: window('cume_dist', 0, types.double),
  ntile: window('ntile', 1, types.integer),
  lag: window('lag', [1, 3], 'first'),
  lead: window('lead', [1, 3], 'first'),
  nth_value: window('nth_value', 2, 'first'),
};

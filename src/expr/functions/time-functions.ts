import { AnalysisException } from '../../base/analysis-exception.ts';
import {
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalText,
  refused,
  scalar,
  types,
} from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { bindOnce } from './bind-once.ts';
import { datePattern } from './date-pattern.ts';

const defaultPattern = 'yyyy-MM-dd HH:mm:ss';

function asDate(call: EngineCall, index: number): string {
  return castSql(argument(call, index), { from: call.types[index], to: types.date, safe: false });
}

/** Instants and local times alike, in UTC. */
function asLocal(call: EngineCall, index: number): string {
  return call.types[index]?.kind === 'timestamp_ntz' ? argument(call, index) : `CAST(${argument(call, index)} AS TIMESTAMP)`;
}

function part(build: (value: string) => string): FunctionSpec {
  return built(1, (call) => `CAST(${build(asLocal(call, 0))} AS INTEGER)`, types.integer);
}

/** Parts by the names `extract` takes. */
const partNames: Readonly<Record<string, (value: string) => string>> = {
  year: (value) => `year(${value})`,
  quarter: (value) => `quarter(${value})`,
  month: (value) => `month(${value})`,
  week: (value) => `weekofyear(${value})`,
  day: (value) => `day(${value})`,
  dayofweek: (value) => `(dayofweek(${value}) + 1)`,
  dow: (value) => `(dayofweek(${value}) + 1)`,
  dayofweek_iso: (value) => `isodow(${value})`,
  doy: (value) => `dayofyear(${value})`,
  hour: (value) => `hour(${value})`,
  minute: (value) => `minute(${value})`,
};
const partAliases: Readonly<Record<string, string>> = {
  years: 'year',
  yr: 'year',
  y: 'year',
  months: 'month',
  mon: 'month',
  weeks: 'week',
  w: 'week',
  days: 'day',
  d: 'day',
  hours: 'hour',
  h: 'hour',
  minutes: 'minute',
  min: 'minute',
  m: 'minute',
  seconds: 'second',
  sec: 'second',
  s: 'second',
  qtr: 'quarter',
};

function datePart(call: EngineCall): string {
  const given = literalText(call.call, 0)?.toLowerCase() ?? '';
  const name = partAliases[given] ?? given;
  if (name === 'second') return `CAST(date_part('epoch', ${asLocal(call, 1)}) % 60 AS DECIMAL(8,6))`;
  const build = Object.hasOwn(partNames, name) ? partNames[name] : undefined;
  if (build === undefined) throw invalidArgument(call.call, given, Object.keys(partNames));
  return `CAST(${build(asLocal(call, 1))} AS INTEGER)`;
}

const truncationUnits: Readonly<Record<string, string>> = {
  year: 'year',
  yyyy: 'year',
  yy: 'year',
  quarter: 'quarter',
  month: 'month',
  mon: 'month',
  mm: 'month',
  week: 'week',
  day: 'day',
  dd: 'day',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  millisecond: 'millisecond',
  microsecond: 'microsecond',
};

function formatOf(call: EngineCall, index: number, fallback: string): string {
  const pattern = call.args[index] === undefined ? fallback : literalText(call.call, index);
  const translated = pattern === undefined ? undefined : datePattern(pattern);
  if (translated === undefined)
    throw invalidArgument(call.call, pattern ?? 'an expression', ["a literal pattern such as 'yyyy-MM-dd HH:mm:ss'"]);
  return sqlText(translated);
}

function parsed(call: EngineCall, type: 'DATE' | 'TIMESTAMP WITH TIME ZONE' | 'TIMESTAMP'): string {
  return `CAST(strptime(${argument(call, 0)}, ${formatOf(call, 1, defaultPattern)}) AS ${type})`;
}

function toDate(call: EngineCall): string {
  return call.args.length === 1 ? asDate(call, 0) : parsed(call, 'DATE');
}

function toTimestamp(call: EngineCall): string {
  if (call.args.length > 1) return parsed(call, 'TIMESTAMP WITH TIME ZONE');
  return castSql(argument(call, 0), { from: call.types[0], to: types.timestamp, safe: false });
}

function toLocalTimestamp(call: EngineCall): string {
  return call.args.length > 1 ? parsed(call, 'TIMESTAMP') : `CAST(${argument(call, 0)} AS TIMESTAMP)`;
}

function unixSeconds(call: EngineCall): string {
  const given = call.types[0]?.kind;
  const parse = given === 'string' || (given === undefined && call.args.length > 1);
  const instant = parse ? `strptime(${argument(call, 0)}, ${formatOf(call, 1, defaultPattern)})` : asLocal(call, 0);
  // Towards zero, unlike `unix_seconds`.
  return `CAST(trunc(epoch(${instant})) AS BIGINT)`;
}

const monthsOf: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };

/** A month is whole when its day and time are reached: the last day of a shorter month is not the same day. */
function wholeMonths(from: string, until: string, size: number): string {
  return bindOnce(from, '__from', (a) =>
    bindOnce(until, '__until', (b) => {
      const months = `((year(${b}) - year(${a})) * 12 + month(${b}) - month(${a}))`;
      const within = (time: string): string => `(${time} - date_trunc('month', ${time}))`;
      const early = `CASE WHEN ${a} <= ${b} AND ${within(b)} < ${within(a)} THEN -1 WHEN ${a} > ${b} AND ${within(b)} > ${within(a)} THEN 1 ELSE 0 END`;
      return `CAST(trunc((${months} + ${early}) / ${size}) AS BIGINT)`;
    }),
  );
}

/** Whole units between two instants, as Spark counts them: full ones, towards zero. */
function difference(call: EngineCall): string {
  if (call.args.length === 2) return `CAST(${asDate(call, 0)} - ${asDate(call, 1)} AS INTEGER)`;
  const name = literalText(call.call, 0)?.toLowerCase() ?? '';
  if (!Object.hasOwn(truncationUnits, name)) throw invalidArgument(call.call, name, Object.keys(truncationUnits));
  const unit = truncationUnits[name] ?? 'day';
  const months = Object.hasOwn(monthsOf, unit) ? monthsOf[unit] : undefined;
  if (months !== undefined) return wholeMonths(asLocal(call, 1), asLocal(call, 2), months);
  return `date_sub('${unit}', ${asLocal(call, 1)}, ${asLocal(call, 2)})`;
}

function invalidArgument(call: CallExpression, given: string, allowed: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_PARAMETER_VALUE',
    sqlState: '22023',
    message: `the function \`${call.name}\` does not take '${given}'`,
    hint: `use one of ${allowed.join(', ')}`,
    parameters: { functionName: call.name, value: given },
  });
}

/** Bound to one instant before (`bindNow`); an unbound one would differ within a statement. */
const unboundNow = (name: string): FunctionSpec =>
  built([0, 0], () => `error('${name} is not bound to the time of its statement')`, name === 'current_date' ? types.date : types.timestamp);

const dateAdd = built(2, (call) => `(${asDate(call, 0)} + CAST(${argument(call, 1)} AS INTEGER))`, types.date);
const dayOfMonth = part((value) => `day(${value})`);

/** Functions of dates and times, all in UTC. */
export const timeFunctions: FunctionTable = {
  current_timestamp: unboundNow('current_timestamp'),
  now: unboundNow('now'),
  localtimestamp: unboundNow('localtimestamp'),
  current_date: unboundNow('current_date'),
  curdate: unboundNow('current_date'),
  current_timezone: scalar(0, () => "'UTC'", types.string),
  year: part((value) => `year(${value})`),
  quarter: part((value) => `quarter(${value})`),
  month: part((value) => `month(${value})`),
  day: dayOfMonth,
  dayofmonth: dayOfMonth,
  hour: part((value) => `hour(${value})`),
  minute: part((value) => `minute(${value})`),
  second: part((value) => `second(${value})`),
  dayofweek: part((value) => `(dayofweek(${value}) + 1)`),
  weekday: part((value) => `(isodow(${value}) - 1)`),
  dayofyear: part((value) => `dayofyear(${value})`),
  weekofyear: part((value) => `weekofyear(${value})`),
  date_part: built(2, datePart),
  datepart: built(2, datePart),
  date_add: dateAdd,
  dateadd: dateAdd,
  date_sub: built(2, (call) => `(${asDate(call, 0)} - CAST(${argument(call, 1)} AS INTEGER))`, types.date),
  datediff: built([2, 3], difference, (given) => (given.length === 3 ? types.long : types.integer)),
  date_diff: built([2, 3], difference, (given) => (given.length === 3 ? types.long : types.integer)),
  timestampdiff: built(3, difference, types.long),
  date_format: built(2, (call) => `strftime(${asLocal(call, 0)}, ${formatOf(call, 1, defaultPattern)})`, types.string),
  to_date: built([1, 2], toDate, types.date),
  try_to_date: built([1, 2], (call) => `TRY(${toDate(call)})`, types.date),
  to_timestamp: built([1, 2], toTimestamp, types.timestamp),
  try_to_timestamp: built([1, 2], (call) => `TRY(${toTimestamp(call)})`, types.timestamp),
  to_timestamp_ltz: built([1, 2], toTimestamp, types.timestamp),
  to_timestamp_ntz: built([1, 2], toLocalTimestamp, types.timestampNtz),
  unix_timestamp: built([1, 2], unixSeconds, types.long),
  to_unix_timestamp: built([1, 2], unixSeconds, types.long),
  from_unixtime: built(
    [1, 2],
    (call) => `strftime(make_timestamp(CAST(${argument(call, 0)} AS BIGINT) * 1000000), ${formatOf(call, 1, defaultPattern)})`,
    types.string,
  ),
  unix_seconds: built(1, (call) => `CAST(floor(epoch(${asLocal(call, 0)})) AS BIGINT)`, types.long),
  unix_millis: built(1, (call) => `CAST(floor(epoch_us(${asLocal(call, 0)}) / 1000) AS BIGINT)`, types.long),
  unix_micros: built(1, (call) => `epoch_us(${asLocal(call, 0)})`, types.long),
  unix_date: built(1, (call) => `CAST(${asDate(call, 0)} - make_date(0) AS INTEGER)`, types.integer),
  date_from_unix_date: scalar(1, (days) => `make_date(CAST(${days} AS INTEGER))`, types.date),
  timestamp_seconds: scalar(1, (seconds) => `make_timestamptz(CAST(${seconds} * 1000000 AS BIGINT))`, types.timestamp),
  timestamp_millis: scalar(1, (millis) => `make_timestamptz(CAST(${millis} * 1000 AS BIGINT))`, types.timestamp),
  timestamp_micros: scalar(1, (micros) => `make_timestamptz(CAST(${micros} AS BIGINT))`, types.timestamp),
  from_utc_timestamp: refused('times are in UTC'),
  to_utc_timestamp: refused('times are in UTC'),
};

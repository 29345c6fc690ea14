import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalText,
  scalar,
  types,
} from '../function-spec.ts';
import { castSql, isIntegral } from '../sql/cast-sql.ts';
import { changedLocalSql, toInstantSql, toLocalSql, zoneSqlOf } from '../sql/zone-sql.ts';
import { bindOnce } from './bind-once.ts';
import { timeUnits } from './calendar-functions.ts';
import { formattedTime, readTime } from './date-pattern.ts';
import { asDate, asInstant, asLocal, asText, asUtc } from './local-time.ts';

const defaultPattern = 'yyyy-MM-dd HH:mm:ss';

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
  yearofweek: (value) => `isoyear(${value})`,
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
  if (name === 'second') return `CAST(microsecond(${asLocal(call, 1)}) / 1000000.0 AS DECIMAL(8,6))`;
  const build = Object.hasOwn(partNames, name) ? partNames[name] : undefined;
  if (build === undefined) throw invalidArgument(call.call, given, Object.keys(partNames));
  return `CAST(${build(asLocal(call, 1))} AS INTEGER)`;
}

function patternOf(call: EngineCall, of: (pattern: string) => string | undefined): string {
  const pattern = call.args[1] === undefined ? defaultPattern : literalText(call.call, 1);
  const made = pattern === undefined ? undefined : of(pattern);
  if (made === undefined) throw invalidArgument(call.call, pattern ?? 'an expression', ["a literal pattern such as 'yyyy-MM-dd HH:mm:ss'"]);
  return made;
}

/** The local time of a text. */
function parsed(call: EngineCall): string {
  const text = asText(call, 0);
  const read = patternOf(call, (pattern) => readTime(text, pattern));
  const wrong = `error('[CANNOT_PARSE_TIMESTAMP] Text ''' || ${text} || ''' could not be parsed. Use \`try_to_timestamp\` to tolerate invalid input string and return NULL instead.')`;
  return `CASE WHEN ${text} IS NOT NULL THEN coalesce(${read}, ${wrong}) END`;
}

/** Times are not read by a pattern. */
function isRead(call: EngineCall): boolean {
  return call.args.length > 1 && !['date', 'timestamp', 'timestamp_ntz'].includes(call.types[0]?.kind ?? '');
}

function toDate(call: EngineCall): string {
  return isRead(call) ? `CAST(${parsed(call)} AS DATE)` : asDate(call, 0);
}

function toTimestamp(call: EngineCall): string {
  return isRead(call) ? toInstantSql(parsed(call), zoneSqlOf(call.call.zone)) : asInstant(call, 0);
}

/** NULL of what cannot be read. */
function tried(call: EngineCall, to: DataType): string {
  if (!isRead(call)) return castSql(argument(call, 0), { from: call.types[0], to, safe: true, zone: call.call.zone });
  const read = patternOf(call, (pattern) => readTime(asText(call, 0), pattern));
  return to.kind === 'date' ? `CAST(${read} AS DATE)` : toInstantSql(read, zoneSqlOf(call.call.zone));
}

function formatted(call: EngineCall, local: string): string {
  return patternOf(call, (pattern) => formattedTime(local, pattern));
}

function toLocalTimestamp(call: EngineCall): string {
  if (isRead(call)) return `CAST(${parsed(call)} AS TIMESTAMP)`;
  return call.types[0]?.kind === 'timestamp' ? asLocal(call, 0) : `CAST(${argument(call, 0)} AS TIMESTAMP)`;
}

function unixSeconds(call: EngineCall): string {
  const given = call.types[0]?.kind;
  const parse = given === 'string' || (given === undefined && call.args.length > 1);
  const zone = zoneSqlOf(call.call.zone);
  if (!parse) return wholeOf(`epoch_us(${asUtc(call, 0)})`, 1_000_000, true);
  const local = parsed(call);
  const instant = zone === undefined ? local : toLocalSql(toInstantSql(local, zone), undefined);
  // Towards zero, unlike `unix_seconds`.
  return wholeOf(`epoch_us(${instant})`, 1_000_000, true);
}

/** The instant so many units after the epoch. A whole number has room for its microseconds. */
const monthsOf: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };

/** As Java counts: a month is whole when its day and time are reached, and the last day of a shorter month is not the same day. */
function wholeMonths(from: string, until: string, size: number): string {
  return bindOnce(from, '__from', (a) =>
    bindOnce(until, '__until', (b) => {
      const [start, end] = [`CAST(${a} AS DATE)`, `CAST(${b} AS DATE)`];
      const time = (of: string): string => `(${of} - date_trunc('day', ${of}))`;
      // A day that is not full does not count, which may lead into another month.
      const early = `CASE WHEN ${end} > ${start} AND ${time(b)} < ${time(a)} THEN -1 WHEN ${end} < ${start} AND ${time(b)} > ${time(a)} THEN 1 ELSE 0 END`;
      const place = (date: string): string => `((year(${date}) * 12 + month(${date})) * 32 + day(${date}))`;
      return `CAST(trunc(trunc((${place(`(${end} + ${early})`)} - ${place(start)}) / 32) / ${size}) AS BIGINT)`;
    }),
  );
}

/** Whole units between two instants, as Spark counts them: full ones, towards zero. */
function difference(call: EngineCall): string {
  if (call.args.length === 2) return `CAST(${asDate(call, 0)} - ${asDate(call, 1)} AS INTEGER)`;
  const name = literalText(call.call, 0)?.toLowerCase() ?? '';
  if (!Object.hasOwn(timeUnits, name)) throw invalidArgument(call.call, name, Object.keys(timeUnits));
  const unit = timeUnits[name] ?? 'day';
  const months = Object.hasOwn(monthsOf, unit) ? monthsOf[unit] : undefined;
  if (months !== undefined) return wholeMonths(asLocal(call, 1), asLocal(call, 2), months);
  return `date_sub('${unit}', ${asLocal(call, 1)}, ${asLocal(call, 2)})`;
}

function fromUnixTime(call: EngineCall): string {
  const instant = `${argument(call, 0)} * 1000000`;
  const zone = zoneSqlOf(call.call.zone);
  const local = zone === undefined ? `make_timestamp(${instant})` : toLocalSql(`make_timestamptz(${instant})`, zone);
  return formatted(call, local);
}

function invalidArgument(call: CallExpression, given: string, allowed: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_PARAMETER_VALUE',
    message: `the function \`${call.name}\` does not take '${given}'`,
    hint: `use one of ${allowed.join(', ')}`,
    parameters: { functionName: call.name, value: given },
  });
}

/** Bound to one instant before (`bindNow`); an unbound one would differ within a statement. */
const unboundNow = (name: string): FunctionSpec =>
  built([0, 0], () => `error('${name} is not bound to the time of its statement')`, name === 'current_date' ? types.date : types.timestamp);

/** What so many of a unit are to be added by. */
const steps: Readonly<Record<string, (count: string) => string>> = {
  year: (count) => `to_years(${count})`,
  quarter: (count) => `to_months(3 * ${count})`,
  month: (count) => `to_months(${count})`,
  week: (count) => `to_days(7 * ${count})`,
  day: (count) => `to_days(${count})`,
  hour: (count) => `to_hours(${count})`,
  minute: (count) => `to_minutes(${count})`,
  second: (count) => `to_seconds(${count})`,
  millisecond: (count) => `to_milliseconds(CAST(${count} AS DOUBLE))`,
  microsecond: (count) => `to_microseconds(${count})`,
};

/** `timestampadd(MONTH, 1, time)`: times without zone stay so, all others become instants. */
function moved(call: EngineCall): string {
  const name = literalText(call.call, 0)?.toLowerCase() ?? '';
  const step = steps[Object.hasOwn(timeUnits, name) ? (timeUnits[name] ?? '') : name];
  if (step === undefined) throw invalidArgument(call.call, name, Object.keys(steps));
  const by = step(castSql(argument(call, 1), { from: call.types[1], to: types.integer, safe: false }));
  if (call.types[2]?.kind === 'timestamp_ntz') return `(${asLocal(call, 2)} + ${by})`;
  // Hours and less go by the clock.
  if (/^to_(?:hours|minutes|seconds|milli|micro)/.test(by)) return toInstantSql(`(${asUtc(call, 2)} + ${by})`, undefined);
  return changedLocalSql(asInstant(call, 2), zoneSqlOf(call.call.zone), (local) => `(${local} + ${by})`);
}

/** Whole units of so many microseconds, downwards, or towards zero: the quotient of doubles would round late times up. */
function wholeOf(micros: string, size: number, towardsZero: boolean = false): string {
  if (size === 1) return micros;
  return towardsZero ? `(${micros} // ${size})` : `((${micros} - (${micros} % ${size} + ${size}) % ${size}) // ${size})`;
}

function unixCount(size: number): FunctionSpec {
  return built(['ownTimestamp'], (call) => wholeOf(`epoch_us(${asUtc(call, 0)})`, size), types.long);
}

/** A whole number in a type that its microseconds fit into. */
function wide(call: EngineCall): string {
  const type = call.types[0];
  return type !== undefined && isIntegral(type) ? `CAST(${argument(call, 0)} AS BIGINT)` : argument(call, 0);
}

const movedType: FunctionSpec['type'] = (given) => (given[2]?.kind === 'timestamp_ntz' ? types.timestampNtz : types.timestamp);
const timeAdd = built(3, moved, movedType);
const dateAdd = built(['date', 'days'], (call) => `(${asDate(call, 0)} + ${argument(call, 1)})`, types.date);
const dayOfMonth = part((value) => `day(${value})`);

/** Functions of dates and times, in the zone of the call. */
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
  // Written `extract(YEAR FROM time)`.
  extract: built(2, datePart),
  datepart: built(2, datePart),
  date_add: dateAdd,
  dateadd: built(
    [2, 3],
    (call) => (call.args.length === 3 ? timeAdd : dateAdd).sql(call),
    (given, call) => (given.length === 3 ? movedType(given, call) : types.date),
  ),
  timestampadd: timeAdd,
  date_sub: built(['date', 'days'], (call) => `(${asDate(call, 0)} - ${argument(call, 1)})`, types.date),
  datediff: built([2, 3], difference, (given) => (given.length === 3 ? types.long : types.integer)),
  date_diff: built([2, 3], difference, (given) => (given.length === 3 ? types.long : types.integer)),
  timestampdiff: built(3, difference, types.long),
  date_format: built(2, (call) => formatted(call, asLocal(call, 0)), types.string),
  to_date: built([1, 2], toDate, types.date),
  try_to_date: built([1, 2], (call) => tried(call, types.date), types.date),
  to_timestamp: built([1, 2], toTimestamp, types.timestamp),
  try_to_timestamp: built([1, 2], (call) => tried(call, types.timestamp), types.timestamp),
  to_timestamp_ltz: built([1, 2], toTimestamp, types.timestamp),
  to_timestamp_ntz: built([1, 2], toLocalTimestamp, types.timestampNtz),
  unix_timestamp: built([1, 2], unixSeconds, types.long),
  to_unix_timestamp: built([1, 2], unixSeconds, types.long),
  from_unixtime: built(['whole', 'string?'], fromUnixTime, types.string),
  unix_seconds: unixCount(1_000_000),
  unix_millis: unixCount(1000),
  unix_micros: unixCount(1),
  unix_date: built(['ownDate'], (call) => `CAST(${asDate(call, 0)} - make_date(0) AS INTEGER)`, types.integer),
  date_from_unix_date: scalar(['integer'], (days) => `make_date(${days})`, types.date),
  timestamp_seconds: built(['ownNumber'], (call) => `make_timestamptz(CAST(${wide(call)} * 1000000 AS BIGINT))`, types.timestamp),
  timestamp_millis: built(['ownIntegral'], (call) => `make_timestamptz(CAST(${wide(call)} * 1000 AS BIGINT))`, types.timestamp),
  timestamp_micros: scalar(['ownIntegral'], (micros) => `make_timestamptz(CAST(${micros} AS BIGINT))`, types.timestamp),
};

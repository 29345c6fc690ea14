import { AnalysisException } from '../../base/analysis-exception.ts';
import { argument, built, type EngineCall, type FunctionTable, literalText, scalar, types } from '../function-spec.ts';
import { sqlText } from '../sql/engine-text.ts';
import { changedLocalSql, toInstantSql, zoneSqlOf } from '../sql/zone-sql.ts';
import { bindOnce } from './bind-once.ts';
import { asDate, asInstant, asLocal } from './local-time.ts';
import { withZoneOf } from './zone-functions.ts';

const secondsInMonth = 31 * 24 * 60 * 60;

/** Whole months between equal days of the month or two last days; else a month has 31 days. Rounded to 8 digits unless told otherwise. */
function monthsBetween(call: EngineCall): string {
  return bindOnce(asLocal(call, 0), '__end', (end) =>
    bindOnce(asLocal(call, 1), '__start', (start) => {
      const months = `((year(${end}) - year(${start})) * 12 + month(${end}) - month(${start}))`;
      const seconds = (time: string): string => `(day(${time}) * 86400 + hour(${time}) * 3600 + minute(${time}) * 60 + second(${time}))`;
      const isLast = (time: string): string => `day(${time}) = day(last_day(${time}))`;
      const parts = `(${months} + CAST(${seconds(end)} - ${seconds(start)} AS DOUBLE) / ${secondsInMonth})`;
      const rounded = `CASE WHEN ${call.args[2] ?? 'true'} THEN round(${parts}, 8) ELSE ${parts} END`;
      return `CASE WHEN day(${end}) = day(${start}) OR (${isLast(end)} AND ${isLast(start)}) THEN CAST(${months} AS DOUBLE) ELSE ${rounded} END`;
    }),
  );
}

const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const;

/** Monday is 1. */
function dayNumber(name: string): number | undefined {
  const wanted = name.trim().toUpperCase();
  const index = days.findIndex((day) => day === wanted || day.slice(0, 3) === wanted || day.slice(0, 2) === wanted);
  return index < 0 ? undefined : index + 1;
}

function nextDay(call: EngineCall): string {
  const name = literalText(call.call, 1);
  const number = name === undefined ? dayNumberSql(argument(call, 1)) : String(dayNumber(name) ?? '');
  if (number === '') {
    throw new AnalysisException({
      errorClass: 'ILLEGAL_DAY_OF_WEEK',
      message: `Illegal input for day of week: ${name ?? ''}.`,
      hint: `use one of ${days.join(', ')}, or their first two or three letters`,
      parameters: { string: name ?? '' },
    });
  }
  return bindOnce(asDate(call, 0), '__day', (day) => `(${day} + CAST((${number} - isodow(${day}) + 6) % 7 + 1 AS INTEGER))`);
}

function dayNumberSql(name: string): string {
  const text = `upper(trim(${name}))`;
  const branches = days.map((day, index) => `WHEN ${text} IN ('${day}', '${day.slice(0, 3)}', '${day.slice(0, 2)}') THEN ${index + 1}`);
  return `CASE ${branches.join(' ')} WHEN ${name} IS NOT NULL THEN error('[ILLEGAL_DAY_OF_WEEK] Illegal input for day of week: ' || ${name} || '.') END`;
}

const dateUnits: Readonly<Record<string, string>> = {
  year: 'year',
  yyyy: 'year',
  yy: 'year',
  quarter: 'quarter',
  month: 'month',
  mon: 'month',
  mm: 'month',
  week: 'week',
};
/** Units of times by all their names. */
export const timeUnits: Readonly<Record<string, string>> = {
  ...dateUnits,
  day: 'day',
  dd: 'day',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  millisecond: 'millisecond',
  microsecond: 'microsecond',
};

/** Cut off at a unit; one that there is not gives NULL. */
function truncated(call: EngineCall, unitIndex: number, units: Readonly<Record<string, string>>, value: string): string {
  const literal = literalText(call.call, unitIndex)?.toLowerCase();
  if (literal !== undefined) return Object.hasOwn(units, literal) ? `date_trunc('${units[literal] ?? 'day'}', ${value})` : 'NULL';
  const branches = Object.entries(units).map(([name, unit]) => `WHEN '${name}' THEN date_trunc('${unit}', ${value})`);
  return `CASE lower(${argument(call, unitIndex)}) ${branches.join(' ')} END`;
}

const outsideMonth = `error('[DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION] a part of the date or time is out of its bounds; the try_ form of the function gives NULL instead')`;

/** The value, where no part that is there is out of bounds. */
function withinBounds(value: string, parts: readonly string[]): string {
  return `CASE WHEN ${parts.map((part) => `${part} IS NOT NULL`).join(' AND ')} THEN coalesce(TRY(${value}), ${outsideMonth}) END`;
}

/** Microseconds behind the minute are added: the engine's own seconds are floating point numbers. `safe`: NULL for what is no time. */
function localTimestamp(call: EngineCall, safe: boolean = false): string {
  const parts = call.args.slice(0, 5);
  const seconds = `CAST(${argument(call, 5)} AS DECIMAL(16,6))`;
  const start = `make_timestamp(${parts.join(', ')}, CAST(0 AS DOUBLE))`;
  // The engine takes the end of a day for an hour of it.
  const early = `CASE WHEN ${parts[3] ?? '0'} < 24 THEN ${start} END`;
  const micros = `to_microseconds(CAST(${seconds} * 1000000 AS BIGINT))`;
  if (safe) return `CASE WHEN ${seconds} BETWEEN 0 AND 60 THEN TRY(${early}) + ${micros} END`;
  const outside = sqlText('[INVALID_FRACTION_OF_SECOND] Valid range for seconds is [0, 60] (inclusive), but the provided value is ');
  return `CASE WHEN ${seconds} < 0 OR ${seconds} > 60 THEN error(${outside} || ${seconds} || '.') ELSE ${withinBounds(early, parts)} + ${micros} END`;
}

/** Parts are of the zone that a seventh argument names, else of the session's. */
function instantOfParts(call: EngineCall, safe: boolean = false): string {
  const local = localTimestamp(call, safe);
  if (call.args[6] !== undefined) return withZoneOf(call, 6, (zone) => toInstantSql(local, zone));
  return toInstantSql(local, zoneSqlOf(call.call.zone));
}

function truncatedInstant(call: EngineCall): string {
  const zone = zoneSqlOf(call.call.zone);
  const cut = (local: string): string => truncated(call, 0, timeUnits, local);
  return zone === undefined ? toInstantSql(cut(asLocal(call, 1)), zone) : changedLocalSql(asInstant(call, 1), zone, cut);
}

const timeParts = ['integer', 'integer', 'integer', 'integer', 'integer', 'any'] as const;

/** Functions that count in calendar units or make times of their parts, in the zone of the call. */
export const calendarFunctions: FunctionTable = {
  add_months: built(['date', 'integer'], (call) => `CAST(${asDate(call, 0)} + to_months(${argument(call, 1)}) AS DATE)`, types.date),
  months_between: built([2, 3], monthsBetween, types.double),
  last_day: built(1, (call) => `last_day(${asDate(call, 0)})`, types.date),
  next_day: built(2, nextDay, types.date),
  trunc: built(2, (call) => `CAST(${truncated(call, 1, dateUnits, asDate(call, 0))} AS DATE)`, types.date),
  date_trunc: built(2, truncatedInstant, types.timestamp),
  dayname: built(1, (call) => `left(dayname(${asDate(call, 0)}), 3)`, types.string),
  monthname: built(1, (call) => `left(monthname(${asDate(call, 0)}), 3)`, types.string),
  make_date: scalar(['integer', 'integer', 'integer'], (...parts) => withinBounds(`make_date(${parts.join(', ')})`, parts), types.date),
  make_timestamp: built([...timeParts, 'any?'], (call) => instantOfParts(call), types.timestamp),
  make_timestamp_ltz: built([...timeParts, 'any?'], (call) => instantOfParts(call), types.timestamp),
  try_make_timestamp: built([...timeParts, 'any?'], (call) => instantOfParts(call, true), types.timestamp),
  try_make_timestamp_ltz: built([...timeParts, 'any?'], (call) => instantOfParts(call, true), types.timestamp),
  try_make_timestamp_ntz: built(timeParts, (call) => localTimestamp(call, true), types.timestampNtz),
  make_timestamp_ntz: built(timeParts, (call) => localTimestamp(call), types.timestampNtz),
};

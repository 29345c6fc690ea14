import { AnalysisException } from '../../base/analysis-exception.ts';
import { argument, built, type EngineCall, type FunctionTable, literalText, scalar, types } from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { bindOnce } from './bind-once.ts';

function asDate(call: EngineCall, index: number): string {
  return castSql(argument(call, index), { from: call.types[index], to: types.date, safe: false });
}

function asLocal(call: EngineCall, index: number): string {
  return call.types[index]?.kind === 'timestamp_ntz' ? argument(call, index) : `CAST(${argument(call, index)} AS TIMESTAMP)`;
}

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
      sqlState: '22009',
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
const timeUnits: Readonly<Record<string, string>> = {
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

function localTimestamp(call: EngineCall): string {
  const [year, month, day, hour, minute] = call.args.map((value) => `CAST(${value} AS INTEGER)`);
  const seconds = `CAST(${argument(call, 5)} AS DECIMAL(16,6))`;
  const outside = sqlText('[INVALID_FRACTION_OF_SECOND] Valid range for seconds is [0, 60] (inclusive), but the provided value is ');
  const start = `make_timestamp(${[year, month, day, hour, minute].join(', ')}, CAST(0 AS DOUBLE))`;
  return `CASE WHEN ${seconds} < 0 OR ${seconds} > 60 THEN error(${outside} || ${seconds} || '.') ELSE ${start} + to_microseconds(CAST(${seconds} * 1000000 AS BIGINT)) END`;
}

/** Functions that count in calendar units or make times of their parts, in UTC. */
export const calendarFunctions: FunctionTable = {
  add_months: built(2, (call) => `CAST(${asDate(call, 0)} + to_months(CAST(${argument(call, 1)} AS INTEGER)) AS DATE)`, types.date),
  months_between: built([2, 3], monthsBetween, types.double),
  last_day: built(1, (call) => `last_day(${asDate(call, 0)})`, types.date),
  next_day: built(2, nextDay, types.date),
  trunc: built(2, (call) => `CAST(${truncated(call, 1, dateUnits, asDate(call, 0))} AS DATE)`, types.date),
  date_trunc: built(2, (call) => `CAST(${truncated(call, 0, timeUnits, asLocal(call, 1))} AS TIMESTAMP WITH TIME ZONE)`, types.timestamp),
  dayname: built(1, (call) => `left(dayname(${asDate(call, 0)}), 3)`, types.string),
  monthname: built(1, (call) => `left(monthname(${asDate(call, 0)}), 3)`, types.string),
  make_date: scalar(
    3,
    (year, month, day) => `make_date(CAST(${year} AS INTEGER), CAST(${month} AS INTEGER), CAST(${day} AS INTEGER))`,
    types.date,
  ),
  make_timestamp: built(6, (call) => `CAST(${localTimestamp(call)} AS TIMESTAMP WITH TIME ZONE)`, types.timestamp),
  make_timestamp_ltz: built(6, (call) => `CAST(${localTimestamp(call)} AS TIMESTAMP WITH TIME ZONE)`, types.timestamp),
  make_timestamp_ntz: built(6, localTimestamp, types.timestampNtz),
};

import { AnalysisException } from '../../base/analysis-exception.ts';
import { argument, built, type EngineCall, type FunctionTable, types } from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { toInstantSql, toLocalSql, type ZoneSql, zoneSqlOf } from '../sql/zone-sql.ts';
import { timeZoneOf } from '../time-zone.ts';
import { asInstant } from './local-time.ts';

const utc: ZoneSql = undefined;
const offsetPattern = '^(UTC|GMT|UT)?[+-]\\d{1,2}(:\\d{2})?$';

/**
 * What `convert` makes with the zone that an argument names. Where it is no literal, each row has its own.
 *
 * @throws AnalysisException `INVALID_TIMEZONE` 22009 for a literal that names no zone.
 */
export function withZoneOf(call: EngineCall, index: number, convert: (zone: ZoneSql) => string): string {
  const given = call.call.arguments[index];
  if (given?.kind === 'literal' && given.literal.type === 'null') return 'NULL';
  if (given?.kind === 'literal' && given.literal.type === 'string') return convert(zoneNamed(given.literal.value));
  const name = argument(call, index);
  const digits = (group: number): string => `CAST('0' || regexp_extract(${name}, '([+-])(\\d{1,2}):?(\\d{2})?$', ${group}) AS INTEGER)`;
  const seconds = `(CASE WHEN contains(${name}, '-') THEN -1 ELSE 1 END * (${digits(2)} * 3600 + ${digits(3)} * 60))`;
  return `CASE WHEN ${name} IS NULL THEN NULL WHEN regexp_matches(${name}, '${offsetPattern}') THEN ${convert({ seconds })} ELSE ${convert({ region: name })} END`;
}

function zoneNamed(name: string): ZoneSql {
  const zone = timeZoneOf(name);
  if (zone !== undefined) return zoneSqlOf(zone.rule);
  throw new AnalysisException({
    errorClass: 'INVALID_TIMEZONE',
    message: `The timezone: ${name} is invalid. The timezone must be either a region-based zone ID or a zone offset.`,
    hint: "write a region as 'Europe/Berlin' or an offset as '+02:00'",
    parameters: { timeZone: name },
  });
}

/** The instant's local time there, as if it were one of UTC. */
function fromUtc(call: EngineCall): string {
  return withZoneOf(call, 1, (zone) => toInstantSql(toLocalSql(asInstant(call, 0), zone), utc));
}

/** The instant's time in UTC, as if it were a local one there. */
function toUtc(call: EngineCall): string {
  return withZoneOf(call, 1, (zone) => toInstantSql(toLocalSql(asInstant(call, 0), utc), zone));
}

/** `convert_timezone([from,] to, time)`: what clocks there show at a local time. */
function convertTimezone(call: EngineCall): string {
  const last = call.args.length - 1;
  const local = castSql(argument(call, last), { from: call.types[last], to: types.timestampNtz, safe: false, zone: call.call.zone });
  const there = (from: ZoneSql): string => withZoneOf(call, last - 1, (to) => toLocalSql(toInstantSql(local, from), to));
  return last === 1 ? there(zoneSqlOf(call.call.zone)) : withZoneOf(call, 0, there);
}

/** Functions that name zones themselves. */
export const zoneFunctions: FunctionTable = {
  from_utc_timestamp: built(2, fromUtc, types.timestamp),
  to_utc_timestamp: built(2, toUtc, types.timestamp),
  convert_timezone: {
    ...built([2, 3], convertTimezone, types.timestampNtz),
    shown: (args) => `convert_timezone(${(args.length === 2 ? ['current_timezone()', ...args] : args).join(', ')})`,
  },
};

import { argument, type EngineCall, types } from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { toLocalSql, zoneSqlOf } from '../sql/zone-sql.ts';

/** An argument as a date, by its local time. */
export function asDate(call: EngineCall, index: number): string {
  return castSql(argument(call, index), { from: call.types[index], to: types.date, safe: false, zone: call.call.zone });
}

/** An argument as a local time of the call's zone: instants, dates and text alike. */
export function asLocal(call: EngineCall, index: number): string {
  const [value, kind, zone] = [argument(call, index), call.types[index]?.kind, zoneSqlOf(call.call.zone)];
  if (kind === 'timestamp_ntz') return value;
  // A text may tell an offset.
  if (zone === undefined && kind === 'string') return toLocalSql(asInstant(call, index), undefined);
  if (zone === undefined || kind === 'date') return `CAST(${value} AS TIMESTAMP)`;
  if (kind === 'timestamp') return toLocalSql(value, zone);
  if (kind === 'string') return toLocalSql(asInstant(call, index), zone);
  // The engine knows the type when it plans, and keeps the one branch.
  const instant = `CAST(CAST(${value} AS VARCHAR) AS TIMESTAMP WITH TIME ZONE)`;
  return `(CASE WHEN typeof(${value}) = 'TIMESTAMP WITH TIME ZONE' THEN ${toLocalSql(instant, zone)} ELSE CAST(${value} AS TIMESTAMP) END)`;
}

/** An argument as an instant; dates, local times and text are the zone's. */
export function asInstant(call: EngineCall, index: number): string {
  const { zone } = call.call;
  return castSql(argument(call, index), { from: call.types[index], to: types.timestamp, safe: false, zone });
}

/** As `asInstant`, in UTC, for what counts from the epoch. */
export function asUtc(call: EngineCall, index: number): string {
  return call.call.zone === undefined ? asLocal(call, index) : toLocalSql(asInstant(call, index), undefined);
}

/** The elements of a list as texts. */
export function textsSql(call: EngineCall, index: number): string {
  const [list, from] = [argument(call, index), call.types[index]];
  if (from?.kind !== 'list' || from.element.kind === 'string') return list;
  return `list_transform(${list}, lambda "__told": CAST(${castSql('"__told"', { from: from.element, to: types.string, safe: false, zone: call.call.zone })} AS VARCHAR))`;
}

/** An argument as text, as a cast spells it. Values whose type is not known are left to the engine. */
export function asText(call: EngineCall, index: number): string {
  const [value, from] = [argument(call, index), call.types[index]];
  if (from === undefined || from.kind === 'string' || from.kind === 'void' || from.kind === 'binary') return value;
  return castSql(value, { from, to: types.string, safe: false, zone: call.call.zone });
}

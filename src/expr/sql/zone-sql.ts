import { bindOnce } from '../functions/bind-once.ts';
import { fixedOffsetSeconds, type ZoneRule } from '../time-zone.ts';
import { sqlText } from './engine-text.ts';

/*
 * Instants (TIMESTAMP WITH TIME ZONE) as local times (TIMESTAMP) of a zone, and back: the one place that knows how the engine is asked. Its
 * own zone is UTC, always: there a cast is enough. Regions are looked up in the zone database that is part of it.
 */

/** A zone as engine SQL: a region's name, or seconds east of UTC. */
export type ZoneSql = { readonly region: string } | { readonly seconds: string } | undefined;

/** The zone of a rule. */
export function zoneSqlOf(rule: ZoneRule): ZoneSql {
  if (rule === undefined) return undefined;
  const seconds = fixedOffsetSeconds(rule);
  return seconds === undefined ? { region: sqlText(rule) } : { seconds: String(seconds) };
}

/** The local time of an instant. */
export function toLocalSql(instant: string, zone: ZoneSql): string {
  if (zone === undefined) return `CAST(${instant} AS TIMESTAMP)`;
  if ('seconds' in zone) return `(CAST(${instant} AS TIMESTAMP) + to_seconds(${zone.seconds}))`;
  return `timezone(${zone.region}, CAST(${instant} AS TIMESTAMP WITH TIME ZONE))`;
}

/**
 * The instant of a local time. Of two, where clocks were set back, it is the earlier one; a time that clocks skipped moves on by what they
 * skipped: both are what the offset of the day before gives. The engine would take the later one.
 */
export function toInstantSql(local: string, zone: ZoneSql): string {
  if (zone === undefined) return `CAST(${local} AS TIMESTAMP WITH TIME ZONE)`;
  if ('seconds' in zone) return `CAST(CAST(${local} AS TIMESTAMP) - to_seconds(${zone.seconds}) AS TIMESTAMP WITH TIME ZONE)`;
  return bindOnce(`CAST(${local} AS TIMESTAMP)`, '__local', (time) => {
    const dayBefore = `(${time} - to_days(1))`;
    const early = `CAST(${time} - (${toLocalSql(`CAST(${dayBefore} AS TIMESTAMP WITH TIME ZONE)`, zone)} - ${dayBefore}) AS TIMESTAMP WITH TIME ZONE)`;
    return bindOnce(early, '__early', (instant) => {
      const late = `timezone(${zone.region}, ${time})`;
      return `CASE WHEN ${toLocalSql(instant, zone)} = ${time} THEN ${instant} WHEN ${toLocalSql(late, zone)} = ${time} THEN ${late} ELSE ${instant} END`;
    });
  });
}

/** An instant whose local time is changed by `change`; it keeps its offset where the new time has that too. */
export function changedLocalSql(instant: string, zone: ZoneSql, change: (local: string) => string): string {
  if (zone === undefined || 'seconds' in zone) return toInstantSql(change(toLocalSql(instant, zone)), zone);
  return bindOnce(instant, '__instant', (given) =>
    bindOnce(toLocalSql(given, zone), '__before', (before) =>
      bindOnce(`CAST(${change(before)} AS TIMESTAMP)`, '__after', (after) => {
        const kept = `CAST(CAST(${given} AS TIMESTAMP) + (${after} - ${before}) AS TIMESTAMP WITH TIME ZONE)`;
        return `CASE WHEN ${toLocalSql(kept, zone)} = ${after} THEN ${kept} ELSE ${toInstantSql(after, zone)} END`;
      }),
    ),
  );
}

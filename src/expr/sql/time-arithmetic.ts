import type { DataType } from '../../schema/types.ts';
import type { BinaryOperator, Literal } from '../expression.ts';
import { bindOnce } from '../functions/bind-once.ts';
import type { ZoneRule } from '../time-zone.ts';
import { castSql } from './cast-sql.ts';
import { changedLocalSql, toLocalSql, zoneSqlOf } from './zone-sql.ts';

interface Operand {
  readonly sql: string;
  readonly type: DataType | undefined;
  readonly literal?: Literal | undefined;
}

type Interval = Extract<Literal, { type: 'interval' }>;

const microsPerDay = 86_400_000_000n;

/**
 * What a zone has a part in: instants moved by intervals, the time between two, and their text. Months and days are the calendar's, hours
 * and less go by the clock. `undefined` for everything else.
 */
export function timeInZoneSql(operator: BinaryOperator, [left, right]: readonly [Operand, Operand], zone: ZoneRule): string | undefined {
  switch (operator) {
    case '||':
      return isTime(left) || isTime(right) ? `(${textSql(left, zone)} || ${textSql(right, zone)})` : undefined;
    case '+':
      return movedSql(left, { by: right, sign: '+' }, zone) ?? movedSql(right, { by: left, sign: '+' }, zone);
    case '-':
      return betweenSql(left, right, zone) ?? movedSql(left, { by: right, sign: '-' }, zone);
    default:
      return undefined;
  }
}

function textSql({ sql, type }: Operand, zone: ZoneRule): string {
  return type?.kind === 'timestamp' ? castSql(sql, { from: type, to: { kind: 'string' }, safe: false, zone }) : sql;
}

function isTime({ type }: Operand): boolean {
  return type?.kind === 'timestamp';
}

/** The time between two, by their local times. */
function betweenSql(left: Operand, right: Operand, zone: ZoneRule): string | undefined {
  const kinds: readonly (string | undefined)[] = [left.type?.kind, right.type?.kind];
  if (!kinds.includes('timestamp') || !kinds.every((kind) => kind === 'timestamp' || kind === 'timestamp_ntz' || kind === 'date'))
    return undefined;
  const local = ({ sql, type }: Operand): string => castSql(sql, { from: type, to: { kind: 'timestamp_ntz' }, safe: false, zone });
  return `(${local(left)} - ${local(right)})`;
}

/** A date that is moved by less than days becomes an instant. Intervals have no type here. */
function movedSql(time: Operand, { by, sign }: { readonly by: Operand; readonly sign: '+' | '-' }, zone: ZoneRule): string | undefined {
  const interval = by.literal?.type === 'interval' ? by.literal : undefined;
  if (by.type !== undefined || (by.literal !== undefined && interval === undefined)) return undefined;
  const isDate = time.type?.kind === 'date' && interval !== undefined && interval.micros !== 0n;
  if (!isTime(time) && !isDate) return undefined;
  const instant = isDate ? castSql(time.sql, { from: time.type, to: { kind: 'timestamp' }, safe: false, zone }) : time.sql;
  return interval === undefined ? movedByAny(instant, { interval: by.sql, sign }, zone) : movedByLiteral(instant, { interval, sign }, zone);
}

/** An interval without months has as many days as its hours make. */
function movedByLiteral(
  instant: string,
  { interval, sign }: { readonly interval: Interval; readonly sign: '+' | '-' },
  zone: ZoneRule,
): string {
  const all = BigInt(interval.days) * microsPerDay + interval.micros;
  const [days, micros] = interval.months === 0 ? [all / microsPerDay, all % microsPerDay] : [BigInt(interval.days), interval.micros];
  const calendar = `(to_months(${interval.months}) + to_days(${days}))`;
  const hasDays = interval.months !== 0 || days !== 0n;
  const moved = hasDays ? changedLocalSql(instant, zoneSqlOf(zone), (local) => `${local} ${sign} ${calendar}`) : instant;
  return micros === 0n ? moved : byClock(moved, `${sign} to_microseconds(${micros})`);
}

function movedByAny(instant: string, by: { readonly interval: string; readonly sign: '+' | '-' }, zone: ZoneRule): string {
  const { sign } = by;
  return bindOnce(by.interval, '__interval', (interval) => {
    const calendar = `date_trunc('day', ${interval})`;
    const moved = changedLocalSql(instant, zoneSqlOf(zone), (local) => `${local} ${sign} ${calendar}`);
    return byClock(moved, `${sign} (${interval} - ${calendar})`);
  });
}

function byClock(instant: string, move: string): string {
  return `CAST(${toLocalSql(instant, undefined)} ${move} AS TIMESTAMP WITH TIME ZONE)`;
}

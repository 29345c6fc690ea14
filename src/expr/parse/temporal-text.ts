import { dateTimeParts, formatDate } from '../../schema/date-text.ts';
import { toInstantMicros, type ZoneRule } from '../time-zone.ts';

const millisPerDay = 86_400_000;
const microsPerSecond = 1_000_000n;
const dateTimePattern =
  /^\s*([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:(?:[T ](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?\s*(Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?)?)?)?\s*$/i;

/** Days since 1970-01-01 of `yyyy[-M[-d]]`, a time of day after it ignored; `undefined` for anything else. */
export function parseDateText(text: string): number | undefined {
  const parts = dateTimePattern.exec(text);
  return parts === null ? undefined : daysOf(Number(parts[1]), Number(parts[2] ?? 1), Number(parts[3] ?? 1));
}

/**
 * Microseconds since 1970-01-01T00:00:00 of `yyyy[-M[-d[ H[:m[:s[.f]]]]]]` with an optional zone (`Z`, `UTC`, `+02:00`; UTC when absent);
 * digits past microseconds are cut. `undefined` for anything else.
 */
export function parseTimestampText(text: string): { readonly micros: bigint; readonly zoned: boolean } | undefined {
  const parts = dateTimePattern.exec(text);
  if (parts === null) return undefined;
  const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', fraction = '', zone] = parts;
  const days = daysOf(Number(year), Number(month), Number(day));
  const offset = zone === undefined ? 0 : zoneSeconds(zone);
  if (days === undefined || offset === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = BigInt(days) * 86_400n + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset);
  return { micros: seconds * microsPerSecond + BigInt(fraction.slice(0, 6).padEnd(6, '0')), zoned: zone !== undefined };
}

/** The instant of such a text, in microseconds; without a zone it is a local time of `rule`. */
export function parseInstantText(text: string, rule: ZoneRule): bigint | undefined {
  const parsed = parseTimestampText(text);
  if (parsed === undefined) return undefined;
  return parsed.zoned ? parsed.micros : toInstantMicros(parsed.micros, rule);
}

/** `2024-02-29` of days since 1970-01-01. */
export function printDateText(days: number): string {
  return formatDate(days);
}

/** `2024-02-29 10:00:00[.000001]` of microseconds, zeros at the end of the fraction left out, as Spark prints it in UTC. */
export function printTimestampText(micros: bigint): string {
  const { date, time, fraction } = dateTimeParts(micros);
  const digits = fraction.replace(/0+$/, '');
  return `${date} ${time}${digits === '' ? '' : `.${digits}`}`;
}

function daysOf(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day past the month's end would roll over.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? Math.round(date.getTime() / millisPerDay) : undefined;
}

function zoneSeconds(zone: string): number | undefined {
  if (/^(?:z|utc|gmt)$/i.test(zone)) return 0;
  const parts = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (parts === null) return undefined;
  const hours = Number(parts[2]);
  const minutes = Number(parts[3] ?? 0);
  if (hours > 18 || minutes > 59) return undefined;
  return (parts[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

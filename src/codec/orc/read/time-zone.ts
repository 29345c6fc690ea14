import { unsupportedOrc } from '../orc-errors.ts';

/** Seconds to add to the seconds of an instant (since 1970) for the clock on the wall at that instant. */
export type ZoneOffset = (instantSeconds: number) => number;

const fixedZones: ReadonlySet<string> = new Set(['', 'UTC', 'GMT', 'Etc/UTC', 'Z']);
const quarterSeconds = 900;
// Quarters of an hour whose offset is kept: forty years of every hour.
const maxKnown = 400_000;
/** Seconds that JavaScript's calendar reaches. */
const maxSeconds = 8.64e12;

/**
 * The offsets of a time zone; `undefined` for one that is always zero.
 *
 * @throws ServiceError `ORC_FEATURE_UNSUPPORTED` (kind unsupported) when the zone is unknown.
 */
export function zoneOffset(zone: string | undefined, place: string): ZoneOffset | undefined {
  if (fixedZones.has(zone ?? '')) return undefined;
  const exact = exactOffset(zone ?? '', place);
  const known = new Map<number, number>();
  return (seconds) => {
    const quarter = Math.floor(seconds / quarterSeconds);
    const held = known.get(quarter);
    if (held !== undefined) return held;
    const offset = exact(seconds);
    const from = exact(quarter * quarterSeconds);
    // Offsets change within a quarter of an hour only in old times, where nothing is kept.
    if (from === exact((quarter + 1) * quarterSeconds - 1) && known.size < maxKnown) known.set(quarter, from);
    return offset;
  };
}

function exactOffset(zone: string, place: string): ZoneOffset {
  const format = formatFor(zone, place);
  return (seconds) => {
    const clamped = Math.max(-maxSeconds, Math.min(maxSeconds, seconds));
    const parts = new Map(format.formatToParts(clamped * 1000).map(({ type, value }) => [type, value]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
    const wall = new Date(0);
    wall.setUTCFullYear(year, part('month') - 1, part('day'));
    wall.setUTCHours(part('hour'), part('minute'), part('second'));
    return wall.getTime() / 1000 - clamped;
  };
}

function formatFor(zone: string, place: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw unsupportedOrc(place, `the writer's time zone "${zone}" is unknown here`, 'rewrite the file with timestamps in UTC');
  }
}

/** A time zone as a session has it: `name` as it was set, `rule` what is computed with. */
export interface TimeZone {
  readonly name: string;
  readonly rule: ZoneRule;
}

/** A region of the zone database (`Europe/Berlin`), or a fixed offset (`+05:30`, `-00:00:30`); `undefined` is UTC, whose times are stored. */
export type ZoneRule = string | undefined;

/** What a statement calls now, and the zone of its local times. Default: UTC. */
export interface StatementTime {
  readonly micros: bigint;
  readonly zone?: TimeZone | undefined;
  /** What functions without arguments say of its session, by their name in lower case: `current_database()`. */
  readonly told?: Readonly<Record<string, string>> | undefined;
}

const maxOffsetSeconds = 18 * 3600;
const microsPerSecond = 1_000_000n;
const microsPerDay = 86_400n * microsPerSecond;
const prefixedOffset = /^(?:UTC|GMT|UT)([+-].*)$/;
const zeroNames = /^(?:Z|UTC|GMT|UT|UCT|GMT0|Zulu|Universal|Greenwich|Etc\/(?:UTC|GMT|UCT|Zulu|Universal|Greenwich|GMT[+-]?0))$/;

/** Java's three-letter names, of which some mean something else elsewhere. */
const shortNames: Readonly<Record<string, string>> = {
  ACT: 'Australia/Darwin',
  AET: 'Australia/Sydney',
  AGT: 'America/Argentina/Buenos_Aires',
  ART: 'Africa/Cairo',
  AST: 'America/Anchorage',
  BET: 'America/Sao_Paulo',
  BST: 'Asia/Dhaka',
  CAT: 'Africa/Harare',
  CNT: 'America/St_Johns',
  CST: 'America/Chicago',
  CTT: 'Asia/Shanghai',
  EAT: 'Africa/Addis_Ababa',
  ECT: 'Europe/Paris',
  IET: 'America/Indiana/Indianapolis',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  MIT: 'Pacific/Apia',
  NET: 'Asia/Yerevan',
  NST: 'Pacific/Auckland',
  PLT: 'Asia/Karachi',
  PNT: 'America/Phoenix',
  PRT: 'America/Puerto_Rico',
  PST: 'America/Los_Angeles',
  SST: 'Pacific/Guadalcanal',
  VST: 'Asia/Ho_Chi_Minh',
  EST: '-05:00',
  MST: '-07:00',
  HST: '-10:00',
};

/** A zone by what Spark takes for one: a region, an offset (`+2`, `-08:00`, `+05:30:15`), one after UTC, GMT or UT; `undefined` for anything else. */
export function timeZoneOf(name: string): TimeZone | undefined {
  const known = Object.hasOwn(shortNames, name) ? (shortNames[name] ?? name) : name;
  if (zeroNames.test(known)) return { name, rule: undefined };
  const offset = offsetOf(prefixedOffset.exec(known)?.[1] ?? known);
  if (offset !== undefined) return { name, rule: offset === 0 ? undefined : offsetText(offset) };
  return isRegion(known) ? { name, rule: known } : undefined;
}

/** Seconds east of UTC of a fixed offset; `undefined` for a region. */
export function fixedOffsetSeconds(rule: string): number | undefined {
  return /^[+-]/.test(rule) ? offsetOf(rule) : undefined;
}

/** A fixed offset's name; `undefined` beyond 18 hours and for parts of seconds. */
export function offsetName(micros: bigint): string | undefined {
  const seconds = Number(micros / microsPerSecond);
  return micros % microsPerSecond !== 0n || Math.abs(seconds) > maxOffsetSeconds ? undefined : seconds === 0 ? 'Z' : offsetText(seconds);
}

/** The local time of an instant, both as microseconds. */
export function toLocalMicros(instant: bigint, rule: ZoneRule): bigint {
  return rule === undefined ? instant : instant + offsetMicros(instant, rule);
}

/**
 * The instant of a local time, both as microseconds. Of two, where clocks were set back, it is the earlier one; a time that clocks skipped
 * moves on by what they skipped.
 */
export function toInstantMicros(local: bigint, rule: ZoneRule): bigint {
  if (rule === undefined) return local;
  const early = local - offsetMicros(local - microsPerDay, rule);
  if (toLocalMicros(early, rule) === local) return early;
  const late = local - offsetMicros(local + microsPerDay, rule);
  return toLocalMicros(late, rule) === local ? late : early;
}

/** An instant moved by days of its local time, then by microseconds; the offset stays where the new time has it too. */
export function movedInstantMicros(instant: bigint, by: { readonly days: bigint; readonly micros: bigint }, rule: ZoneRule): bigint {
  if (by.days === 0n) return instant + by.micros;
  const local = toLocalMicros(instant, rule);
  const kept = instant + by.days * microsPerDay;
  const wanted = local + by.days * microsPerDay;
  return (toLocalMicros(kept, rule) === wanted ? kept : toInstantMicros(wanted, rule)) + by.micros;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetMicros(instant: bigint, rule: string): bigint {
  const fixed = fixedOffsetSeconds(rule);
  return BigInt(fixed ?? regionOffsetSeconds(instant, rule)) * microsPerSecond;
}

/** Before zones were agreed on, offsets have seconds. */
function regionOffsetSeconds(instant: bigint, region: string): number {
  const seconds = instant / microsPerSecond - (instant % microsPerSecond < 0n ? 1n : 0n);
  const parts = formatOf(region).formatToParts(new Date(Number(seconds) * 1000));
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return offsetOf(text.replace('GMT', '') || '+00:00') ?? 0;
}

function formatOf(region: string): Intl.DateTimeFormat {
  const known = formats.get(region);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: region, timeZoneName: 'longOffset' });
  formats.set(region, made);
  return made;
}

/** `+h`, `+hh`, `+h:mm`, `+hh:mm`, `+hhmm`, `+hh:mm:ss`, `+hhmmss`: up to 18 hours. */
function offsetOf(text: string): number | undefined {
  const parts = /^([+-])(\d{1,2})(?::(\d{1,2})(?::(\d{2}))?)?$/.exec(text) ?? /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, hours, minutes = '0', seconds = '0'] = parts;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (Number(minutes) > 59 || Number(seconds) > 59 || total > maxOffsetSeconds) return undefined;
  return total === 0 ? 0 : sign === '-' ? -total : total;
}

function offsetText(offset: number): string {
  const digits = (value: number): string => String(value).padStart(2, '0');
  const total = Math.abs(offset);
  const seconds = total % 60 === 0 ? '' : `:${digits(total % 60)}`;
  return `${offset < 0 ? '-' : '+'}${digits(Math.floor(total / 3600))}:${digits(Math.floor(total / 60) % 60)}${seconds}`;
}

/** Regions are spelled as the zone database spells them. */
function isRegion(name: string): boolean {
  if (!/^[A-Z][A-Za-z0-9_+/-]+$/.test(name) || !/[a-z/]|^(?:CET|EET|MET|WET|PRC|ROC|ROK|NZ|GB|CST6CDT|EST5EDT|MST7MDT|PST8PDT)/.test(name))
    return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The present by a clock. */
export function statementTime(parts: { readonly clock: { now(): number }; readonly zone?: TimeZone | undefined }): StatementTime {
  return { micros: BigInt(parts.clock.now()) * 1000n, zone: parts.zone };
}

import { JsonBuffer } from './json-buffer.ts';

const microsPerDay = 86_400_000_000;
const microsPerSecond = 1_000_000;
const two32 = 4_294_967_296;
// The high word of the microseconds up to which they are exact as a double.
const maxExactHighWord = 0x1f_ffff;

/** Appends dates and timestamps as ISO 8601 text in quotes. Keeps the last day's text: neighbours are mostly of one day. */
export class IsoTimeWriter {
  readonly #day: JsonBuffer = new JsonBuffer();
  #dayNumber: number = Number.NaN;

  /** `"2024-05-01"`; years outside 0000 to 9999 have a sign and six digits. */
  date(out: JsonBuffer, days: number): void {
    out.byte(0x22);
    this.#appendDay(out, days);
    out.byte(0x22);
  }

  /** `"2024-05-01T10:11:12.000000Z"`, always six digits of a second; without `Z` when `zoned` is false. */
  timestamp(out: JsonBuffer, words: { readonly low: number; readonly high: number }, zoned: boolean): void {
    const { low, high } = words;
    if (high > maxExactHighWord || high < -maxExactHighWord) {
      const micros = (BigInt(high) << 32n) | BigInt(low >>> 0);
      const days = floorDivide(micros, BigInt(microsPerDay));
      this.#append(out, { days: Number(days), microsOfDay: Number(micros - days * BigInt(microsPerDay)) }, zoned);
      return;
    }
    const micros = high * two32 + (low >>> 0);
    const days = Math.floor(micros / microsPerDay);
    this.#append(out, { days, microsOfDay: micros - days * microsPerDay }, zoned);
  }

  #append(out: JsonBuffer, instant: { readonly days: number; readonly microsOfDay: number }, zoned: boolean): void {
    const seconds = Math.floor(instant.microsOfDay / microsPerSecond);
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    out.byte(0x22);
    this.#appendDay(out, instant.days);
    out.byte(0x54);
    out.padded(hours, 2);
    out.byte(0x3a);
    out.padded(minutes - hours * 60, 2);
    out.byte(0x3a);
    out.padded(seconds - minutes * 60, 2);
    out.byte(0x2e);
    out.padded(instant.microsOfDay - seconds * microsPerSecond, 6);
    if (zoned) out.byte(0x5a);
    out.byte(0x22);
  }

  #appendDay(out: JsonBuffer, days: number): void {
    if (days !== this.#dayNumber) {
      const { year, month, day } = civilFromDays(days);
      this.#day.clear();
      if (year < 0 || year > 9999) {
        this.#day.byte(year < 0 ? 0x2d : 0x2b);
        this.#day.padded(Math.abs(year), 6);
      } else this.#day.padded(year, 4);
      this.#day.byte(0x2d);
      this.#day.padded(month, 2);
      this.#day.byte(0x2d);
      this.#day.padded(day, 2);
      this.#dayNumber = days;
    }
    const text = this.#day.bytes;
    for (let i = 0; i < this.#day.length; i++) out.byte(text[i] ?? 0);
  }
}

/** Days since 1970-01-01 of ISO date text; `undefined` when it is none. */
export function parseIsoDate(text: string): number | undefined {
  const match = /^([+-]?\d{4,6})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const days = daysFromCivil({ year, month, day });
  const back = civilFromDays(days);
  return back.month === month && back.day === day ? days : undefined;
}

/**
 * Microseconds since the epoch of a timestamp in either of Delta's spellings (`2024-05-01T10:11:12.000000Z`,
 * `2024-05-01 10:11:12[.ffffff]`, an offset such as `+02:00` is honoured); without a zone it is read as UTC.
 */
export function parseIsoTimestamp(text: string): bigint | undefined {
  const match = /^(.+)[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6})\d*)?(Z|[+-]\d{2}:?\d{2})?$/.exec(text);
  const days = match?.[1] === undefined ? parseIsoDate(text) : parseIsoDate(match[1]);
  if (days === undefined) return undefined;
  if (match === null) return BigInt(days) * BigInt(microsPerDay);
  const [hours, minutes, seconds] = [Number(match[2]), Number(match[3]), Number(match[4])];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const micros = ((hours * 60 + minutes) * 60 + seconds) * microsPerSecond + Number((match[5] ?? '').padEnd(6, '0'));
  return BigInt(days) * BigInt(microsPerDay) + BigInt(micros) - BigInt(offsetMinutes(match[6])) * 60n * BigInt(microsPerSecond);
}

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith('-') ? -minutes : minutes;
}

interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

// The proleptic Gregorian calendar in eras of 400 years that begin on March 1st, so that the leap day comes last.
function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

function daysFromCivil(date: CivilDate): number {
  const year = date.month <= 2 ? date.year - 1 : date.year;
  const era = Math.floor(year / 400);
  const yearOfEra = year - era * 400;
  const dayOfYear = Math.floor((153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5) + date.day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}

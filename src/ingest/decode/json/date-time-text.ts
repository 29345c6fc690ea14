import { byteAt } from '../bytes.ts';
import { DOT, isDigit, MINUS, PLUS, ZERO } from './json-bytes.ts';

/** Results of a parse that found no date: not the form, or the form of a day or time that does not exist. */
export const malformedText = -1;
export const impossibleTime = -2;

const secondsPerDay = 86_400;
const dateLength = 10;
const timeLength = 8;
const maxFractionDigits = 9;

/** ISO 8601 calendar dates and times, years 0001 to 9999, proleptic Gregorian, no leap seconds. */
export class DateTimeText {
  /** Days since 1970-01-01. */
  days = 0;
  /** Seconds since 1970-01-01T00:00:00 in the zone of the text, or in UTC when `zoned`. */
  seconds = 0;
  micros = 0;
  /** Below the microsecond, 0 to 999; only of a parser to nanoseconds. */
  nanos = 0;
  zoned = false;
  #packedDate = -1;
  #offsetSeconds = 0;
  readonly #fractionDigits: 6 | 9;

  /** `fractionDigits`: digits of the second that count; finer ones must be zero. */
  constructor(fractionDigits: 6 | 9 = 6) {
    this.#fractionDigits = fractionDigits;
  }

  /** `YYYY-MM-DD` at `start`: the index after it, or a negative result. Sets `days`. */
  parseDate(bytes: Uint8Array, start: number, end: number): number {
    if (start + dateLength > end || bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS) return malformedText;
    const century = twoDigits(bytes, start);
    const yearOfCentury = twoDigits(bytes, start + 2);
    const month = twoDigits(bytes, start + 5);
    const day = twoDigits(bytes, start + 8);
    if ((century | yearOfCentury | month | day) < 0) return malformedText;
    const year = century * 100 + yearOfCentury;
    const packed = (year << 9) | (month << 5) | day;
    // Neighbouring records mostly share the day.
    if (packed === this.#packedDate && month < 13 && day < 32) return start + dateLength;
    if (year === 0 || month === 0 || month > 12 || day === 0 || day > daysInMonth(year, month)) return impossibleTime;
    this.#packedDate = packed;
    this.days = daysSinceEpoch(year, month, day);
    return start + dateLength;
  }

  /**
   * `YYYY-MM-DDThh:mm:ss[.f...][zone]` at `start`, `T` may be a space, zone `Z` or `±hh:mm`, up to nine fraction digits: the index after
   * it, or a negative result (`impossibleTime` also for digits too fine that are not zero).
   */
  parseDateTime(bytes: Uint8Array, start: number, end: number): number {
    let pos = this.parseDate(bytes, start, end);
    if (pos === malformedText) return malformedText;
    const possible = pos > 0;
    pos = this.#parseTime(bytes, start + dateLength, end);
    if (pos === malformedText) return malformedText;
    const timePossible = pos > 0;
    pos = start + dateLength + 1 + timeLength;
    let exact = true;
    if (byteAt(bytes, pos, end) === DOT) {
      const first = pos + 1;
      pos = this.#parseFraction(bytes, first, end);
      if (pos === first || pos - first > maxFractionDigits) return malformedText;
      exact = trailingZeros(bytes, first + this.#fractionDigits, pos);
    } else {
      this.micros = 0;
      this.nanos = 0;
    }
    pos = this.#parseZone(bytes, pos, end);
    if (pos < 0) return malformedText;
    this.seconds += this.days * secondsPerDay - this.#offsetSeconds;
    return possible && timePossible && exact && this.#withinYears() ? pos : impossibleTime;
  }

  #parseTime(bytes: Uint8Array, start: number, end: number): number {
    if (start + 1 + timeLength > end) return malformedText;
    const mark = bytes[start] ?? 0;
    if (mark !== 0x54 && mark !== 0x74 && mark !== 0x20) return malformedText;
    if (bytes[start + 3] !== 0x3a || bytes[start + 6] !== 0x3a) return malformedText;
    const hour = twoDigits(bytes, start + 1);
    const minute = twoDigits(bytes, start + 4);
    const second = twoDigits(bytes, start + 7);
    if ((hour | minute | second) < 0) return malformedText;
    this.seconds = hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second < 60 ? start + 1 + timeLength : impossibleTime;
  }

  #parseFraction(bytes: Uint8Array, first: number, end: number): number {
    let pos = first;
    let micros = 0;
    let nanos = 0;
    while (pos < end && pos - first <= maxFractionDigits) {
      const byte = bytes[pos] ?? 0;
      if (!isDigit(byte)) break;
      if (pos - first < 6) micros = micros * 10 + byte - ZERO;
      else nanos = nanos * 10 + byte - ZERO;
      pos += 1;
    }
    for (let digits = pos - first; digits < 6; digits += 1) micros *= 10;
    for (let digits = Math.max(6, pos - first); digits < maxFractionDigits; digits += 1) nanos *= 10;
    this.micros = micros;
    this.nanos = nanos;
    return pos;
  }

  #parseZone(bytes: Uint8Array, pos: number, end: number): number {
    const mark = byteAt(bytes, pos, end);
    this.#offsetSeconds = 0;
    this.zoned = mark === 0x5a || mark === 0x7a;
    if (this.zoned) return pos + 1;
    if (mark !== PLUS && mark !== MINUS) return pos;
    if (pos + 6 > end || bytes[pos + 3] !== 0x3a) return malformedText;
    const hours = twoDigits(bytes, pos + 1);
    const minutes = twoDigits(bytes, pos + 4);
    if ((hours | minutes) < 0 || hours > 23 || minutes > 59) return malformedText;
    this.zoned = true;
    this.#offsetSeconds = (mark === MINUS ? -1 : 1) * (hours * 3600 + minutes * 60);
    return pos + 6;
  }

  // A zone can push an instant out of the years that every reader of the table understands.
  #withinYears(): boolean {
    return this.seconds >= -62_135_596_800 && this.seconds < 253_402_300_800;
  }
}

/** Days since 1970-01-01 of a proleptic Gregorian date of year 1 or later. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  // Years that begin in March put the leap day last.
  const shifted = month > 2 ? year : year - 1;
  const dayOfYear = Math.trunc((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const leapDays = Math.trunc(shifted / 4) - Math.trunc(shifted / 100) + Math.trunc(shifted / 400);
  return shifted * 365 + leapDays + dayOfYear - 719_468;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

// The value of two digits, or -1.
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - ZERO;
  const units = (bytes[at + 1] ?? 0) - ZERO;
  return tens >>> 0 > 9 || units >>> 0 > 9 ? -1 : tens * 10 + units;
}

function trailingZeros(bytes: Uint8Array, from: number, until: number): boolean {
  for (let pos = from; pos < until; pos += 1) {
    if (bytes[pos] !== ZERO) return false;
  }
  return true;
}

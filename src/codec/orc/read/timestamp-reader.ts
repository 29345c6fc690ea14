import { corruptOrc } from '../orc-errors.ts';
import { streamKind } from '../proto/numbers.ts';
import { type LongWords, longAt, numberAt, wordsOf } from '../rle/long-words.ts';
import type { ColumnReader } from './column-reader.ts';
import { fixedColumn, type ReaderPlace } from './fixed-readers.ts';
import { Presence, spreadValues } from './presence.ts';
import { longsOf } from './stripe.ts';
import { type ZoneOffset, zoneOffset } from './time-zone.ts';

/** Timestamps count seconds from the start of 2015: of UTC for an instant, of the writer's time zone for a local time. */
const epochSeconds = 1_420_070_400;
const nanosPerSecond = 1_000_000_000;
/** By the number that is stored for zeros cut off. */
const zeroFactors: readonly number[] = [1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
/** Seconds from 1970 past what a 64-bit number of the unit reaches, and with products that are exact as doubles. */
const maxSeconds = { micros: 1e13, nanos: 1e10 } as const;

/** timestamp and timestamp with local time zone, to microseconds (what is finer is cut off) or nanoseconds. */
export function timestampReader(readerPlace: ReaderPlace): ColumnReader {
  const { stripe, orc, type } = readerPlace;
  const place = `${stripe.place}, column ${orc.column} "${orc.path}"`;
  const offset = orc.kind === 'timestamp' ? zoneOffset(stripe.timeZone, place) : undefined;
  // The base is the instant at which clocks of the zone showed the start of 2015.
  const base = offset === undefined ? epochSeconds : epochSeconds - offset(epochSeconds - offset(epochSeconds));
  const unit = type.kind === 'timestamp_ns' || type.kind === 'timestamp_ntz_ns' ? 'nanos' : 'micros';
  const presence = new Presence(stripe, orc);
  const seconds = longsOf(stripe, orc, streamKind.data, true);
  const fractions = longsOf(stripe, orc, streamKind.secondary, false);
  return {
    capacity: () => presence.capacity + Math.min(seconds.capacity, fractions.capacity),
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const values = new BigInt64Array(length);
      const words = wordsOf(values);
      const nanos: LongWords = new Int32Array(2 * present.count);
      seconds.read(words, 0, present.count);
      fractions.read(nanos, 0, present.count);
      combine({ words, nanos, count: present.count, base, offset, unit, place });
      spreadValues(words, present, 2);
      return fixedColumn(type, present, values);
    },
  };
}

/** date to timestamp_ntz or timestamp_ntz_ns: the start of the day. */
export function dateAsTimestampReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const presence = new Presence(stripe, orc);
  const days = longsOf(stripe, orc, streamKind.data, true);
  const unit = type.kind === 'timestamp_ntz_ns' ? 'nanos' : 'micros';
  return {
    capacity: () => presence.capacity + days.capacity,
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const values = new BigInt64Array(length);
      const words = wordsOf(values);
      days.read(words, 0, present.count);
      for (let index = 0; index < present.count; index++) {
        const seconds = numberAt(words, index) * 86_400;
        setTime(words, index, { seconds, nanos: 0 }, unit, `${stripe.place}, column ${orc.column} "${orc.path}"`);
      }
      spreadValues(words, present, 2);
      return fixedColumn(type, present, values);
    },
  };
}

interface Combination {
  /** Stored seconds; the result. */
  readonly words: LongWords;
  readonly nanos: LongWords;
  readonly count: number;
  readonly base: number;
  readonly offset: ZoneOffset | undefined;
  readonly unit: 'micros' | 'nanos';
  readonly place: string;
}

function combine({ words, nanos, count, base, offset, unit, place }: Combination): void {
  for (let index = 0; index < count; index++) {
    const fraction = fractionAt(nanos, index, place);
    let seconds = numberAt(words, index) + base;
    // Writers round seconds before 1970 towards 1970 when a millisecond or more follows them.
    if (seconds < 0 && fraction > 999_999) seconds -= 1;
    if (offset !== undefined) seconds += offset(seconds);
    setTime(words, index, { seconds, nanos: fraction }, unit, place);
  }
}

/**
 * Nanoseconds of a second: the lowest three bits tell how many zeros were cut off, less one. Apache Arrow writes times before 1970 with
 * nanoseconds below zero, which count back from the second.
 */
function fractionAt(nanos: LongWords, index: number, place: string): number {
  const low = nanos[2 * index] ?? 0;
  const high = nanos[2 * index + 1] ?? 0;
  const zeros = low & 7;
  const digits = high === 0 ? low >>> 3 : Number(longAt(nanos, index) >> 3n);
  const fraction = zeros === 0 ? digits : digits * (zeroFactors[zeros] ?? 1);
  if (Math.abs(fraction) >= nanosPerSecond) throw corruptOrc(place, `a timestamp has ${fraction} nanoseconds`);
  return fraction;
}

const two16 = 65_536;
const two31 = 2 ** 31;
const two32 = 2 ** 32;

interface Time {
  /** From 1970. */
  readonly seconds: number;
  readonly nanos: number;
}

/** Sets value `index` to a time in a unit, in steps that are exact as doubles. */
function setTime(words: LongWords, index: number, { seconds, nanos }: Time, unit: 'micros' | 'nanos', place: string): void {
  const factor = unit === 'micros' ? 1_000_000 : nanosPerSecond;
  const upper = Math.floor(seconds / two16);
  const upperProduct = upper * factor;
  const lowerProduct = (seconds - upper * two16) * factor + (unit === 'micros' ? Math.floor(nanos / 1000) : nanos);
  const upperWords = Math.floor(upperProduct / two16);
  const low = (upperProduct - upperWords * two16) * two16 + lowerProduct;
  const high = upperWords + Math.floor(low / two32);
  if (Math.abs(seconds) > maxSeconds[unit] || high < -two31 || high >= two31) {
    throw corruptOrc(place, `a timestamp ${seconds} seconds from 1970 does not fit into 64 bits of ${unit}`);
  }
  words[2 * index] = low | 0;
  words[2 * index + 1] = high;
}

import { encodingKind, streamKind } from '../proto/numbers.ts';
import { type LongWords, longAt, setNumber } from '../rle/long-words.ts';
import { longStream } from './encoded-stream.ts';
import type { EncodedValues } from './encoded-values.ts';
import { longBounds } from './value-bounds.ts';

/** Seconds count from the start of 2015; the stripe says that the clock is UTC's. */
const epochSeconds = 1_420_070_400;
const two32 = 2 ** 32;
const perSecond = { micros: 1_000_000, nanos: 1_000_000_000 } as const;

type Unit = keyof typeof perSecond;

/** Timestamps in microseconds or nanoseconds since 1970. */
export function encodeTimestamps(words: LongWords, groups: Int32Array, unit: Unit): EncodedValues {
  const count = words.length / 2;
  const seconds: LongWords = new Int32Array(2 * count);
  const fractions: LongWords = new Int32Array(2 * count);
  for (let index = 0; index < count; index++) {
    const time = unit === 'micros' ? splitMicros(words, index) : splitNanos(words, index);
    store(seconds, fractions, index, time);
  }
  const nanosPerUnit = unit === 'micros' ? 1000n : 1n;
  return {
    encoding: encodingKind.directV2,
    streams: [longStream(streamKind.data, seconds, groups, true), longStream(streamKind.secondary, fractions, groups, false)],
    statistics: (from, until) => {
      const bounds = longBounds(words, from, until);
      return {
        kind: 'timestamp',
        bounds: bounds === undefined ? undefined : { lower: bounds.lower * nanosPerUnit, upper: bounds.upper * nanosPerUnit },
      };
    },
  };
}

interface Time {
  /** Since 1970, rounded down. */
  readonly seconds: number;
  /** From 0 to below a second. */
  readonly nanos: number;
}

/** Divides in two steps, each exact as doubles. */
function splitMicros(words: LongWords, index: number): Time {
  const high = words[2 * index + 1] ?? 0;
  const upper = Math.floor(high / perSecond.micros);
  const rest = (high - upper * perSecond.micros) * two32 + ((words[2 * index] ?? 0) >>> 0);
  const lower = Math.floor(rest / perSecond.micros);
  return { seconds: upper * two32 + lower, nanos: (rest - lower * perSecond.micros) * 1000 };
}

function splitNanos(words: LongWords, index: number): Time {
  const value = longAt(words, index);
  const unit = BigInt(perSecond.nanos);
  const nanos = ((value % unit) + unit) % unit;
  return { seconds: Number((value - nanos) / unit), nanos: Number(nanos) };
}

/**
 * Readers take a second off when the seconds are before 1970 and a millisecond or more follows them, so one is added here. In the last
 * second before 1970 that gives 0, where they take nothing off; there nanoseconds count back from 1970, as Apache Arrow writes them.
 */
function store(seconds: LongWords, fractions: LongWords, index: number, time: Time): void {
  const rounded = time.seconds < 0 && time.nanos > 999_999;
  const whole = rounded ? time.seconds + 1 : time.seconds;
  const nanos = rounded && whole === 0 ? time.nanos - perSecond.nanos : time.nanos;
  setNumber(seconds, index, whole - epochSeconds);
  setNumber(fractions, index, withoutZeros(nanos));
}

/** Two to eight zeros at the end are cut off; the lowest three bits tell how many, less one. */
function withoutZeros(nanos: number): number {
  if (nanos === 0) return 0;
  if (nanos % 100 !== 0) return nanos * 8;
  let digits = nanos / 100;
  let zeros = 1;
  while (zeros < 7 && digits % 10 === 0) {
    digits /= 10;
    zeros += 1;
  }
  return digits * 8 + zeros;
}

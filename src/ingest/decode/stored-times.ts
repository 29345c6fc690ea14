import type { Int64Builder } from '../../codec/columns/int64-builder.ts';
import { ValueRefused, valueOutOfRange } from './value-refused.ts';

/** What a stored number means: a time of day, an instant, or a date and time of an unsaid place. */
export type TimeMeaning = 'time' | 'instant' | 'local';

export interface StoredTime {
  readonly meaning: TimeMeaning;
  /** Nanoseconds in one of it. */
  readonly unitNanos: bigint;
}

const time = (meaning: TimeMeaning, unitNanos: bigint): StoredTime => ({ meaning, unitNanos });

/** Logical types of Avro, and the names that Kafka Connect and Debezium give the same. */
const stored: ReadonlyMap<string, StoredTime> = new Map([
  ['time-millis', time('time', 1_000_000n)],
  ['time-micros', time('time', 1_000n)],
  ['timestamp-millis', time('instant', 1_000_000n)],
  ['timestamp-micros', time('instant', 1_000n)],
  ['timestamp-nanos', time('instant', 1n)],
  ['local-timestamp-millis', time('local', 1_000_000n)],
  ['local-timestamp-micros', time('local', 1_000n)],
  ['local-timestamp-nanos', time('local', 1n)],
  ['org.apache.kafka.connect.data.Time', time('time', 1_000_000n)],
  ['org.apache.kafka.connect.data.Timestamp', time('instant', 1_000_000n)],
  ['io.debezium.time.Time', time('time', 1_000_000n)],
  ['io.debezium.time.MicroTime', time('time', 1_000n)],
  ['io.debezium.time.NanoTime', time('time', 1n)],
  ['io.debezium.time.Timestamp', time('local', 1_000_000n)],
  ['io.debezium.time.MicroTimestamp', time('local', 1_000n)],
  ['io.debezium.time.NanoTimestamp', time('local', 1n)],
]);

const dates: ReadonlySet<string> = new Set(['date', 'org.apache.kafka.connect.data.Date', 'io.debezium.time.Date']);

/** `undefined`: a logical type or name that does not say that its numbers are times. */
export function timeNamed(name: string | undefined): StoredTime | undefined {
  return stored.get(name ?? '');
}

/** Whether the numbers of a logical type or name are days since 1970. */
export function isDateNamed(name: string | undefined): boolean {
  return dates.has(name ?? '');
}

// Days of 0001-01-01 and 9999-12-31.
const firstDay = -719_162;
const lastDay = 2_932_896;

/** The days, when they are a date of a column. @throws ValueRefused */
export function inDates(days: number, where: string): number {
  if (days < firstDay || days > lastDay) throw valueOutOfRange(where, days, 'a date of the years 0001 to 9999 (in days since 1970)');
  return days;
}

const meaningOf: Readonly<Record<Exclude<Int64Builder['type']['kind'], 'long'>, TimeMeaning>> = {
  time: 'time',
  timestamp: 'instant',
  timestamp_ntz: 'local',
  timestamp_ns: 'instant',
  timestamp_ntz_ns: 'local',
};

const microsOfDay = 86_400_000_000n;
/** Of 0001-01-01T00:00:00 and 10000-01-01T00:00:00. */
const firstMicros = -62_135_596_800_000_000n;
const untilMicros = 253_402_300_800_000_000n;
const twoTo32 = 0x1_0000_0000;
const firstHigh = Math.ceil(Number(firstMicros) / twoTo32);
const untilHigh = Math.floor(Number(untilMicros) / twoTo32);

/** Takes stored times into a column, in whole units of it, exactly, or not at all. */
export class TimesOfColumn {
  readonly column: Int64Builder;
  /** Whether numbers of 64 bits may be stored as they are: `appendWords`. */
  readonly sameUnit: boolean;
  readonly #where: string;
  readonly #factor: bigint;
  readonly #divisor: bigint;
  readonly #first: bigint;
  readonly #until: bigint;

  private constructor({ meaning, unitNanos }: StoredTime, column: Int64Builder, where: string) {
    const inNanos = column.type.kind.endsWith('_ns');
    const wanted = inNanos ? 1n : 1_000n;
    this.column = column;
    this.#where = where;
    this.#factor = unitNanos >= wanted ? unitNanos / wanted : 1n;
    this.#divisor = unitNanos >= wanted ? 1n : wanted / unitNanos;
    this.sameUnit = unitNanos === wanted && meaning !== 'time' && !inNanos;
    this.#first = inNanos ? -(2n ** 63n) : meaning === 'time' ? 0n : firstMicros;
    this.#until = inNanos ? 2n ** 63n : meaning === 'time' ? microsOfDay : untilMicros;
  }

  /** `undefined` when the column does not hold times of that meaning. */
  static of(stored: StoredTime | undefined, column: Int64Builder, where: string): TimesOfColumn | undefined {
    if (stored === undefined || column.type.kind === 'long' || meaningOf[column.type.kind] !== stored.meaning) return undefined;
    return new TimesOfColumn(stored, column, where);
  }

  /** Where units are the same: without making a bigint where the year is far from the ends. @throws ValueRefused */
  appendWords(low: number, high: number): void {
    if (high > firstHigh && high < untilHigh) this.column.appendWords(low, high);
    else this.append((BigInt(high) << 32n) + BigInt(low >>> 0));
  }

  /** @throws ValueRefused */
  append(stored: bigint): void {
    const value = (stored * this.#factor) / this.#divisor;
    if (value * this.#divisor !== stored * this.#factor)
      throw new ValueRefused(
        this.#where,
        'out-of-range',
        `${stored} is in no whole ${this.#divisor === 1_000n ? 'microseconds' : 'units'}`,
      );
    if (value < this.#first || value >= this.#until) throw valueOutOfRange(this.#where, stored, `a ${this.column.type.kind}`);
    this.column.appendBigInt(value);
  }
}

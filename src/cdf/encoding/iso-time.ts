import { civilDate } from '../../schema/date-text.ts';
import { floorDivide } from '../../table/partitioning/calendar.ts';
import { RecordBuffer } from './record-buffer.ts';

const microsPerDay = 86_400_000_000;
const microsPerSecond = 1_000_000;
const two32 = 4_294_967_296;
// The high word of the microseconds up to which they are exact as a double.
const maxExactHighWord = 0x1f_ffff;

/** Appends dates and timestamps as ISO 8601 text. Keeps the text of the last day and second: neighbours are mostly of one. */
export class IsoTimeWriter {
  readonly #day: RecordBuffer = new RecordBuffer();
  #dayNumber: number = Number.NaN;
  /** Down to the point behind the seconds. */
  readonly #second: RecordBuffer = new RecordBuffer();
  #secondOfDay: number = Number.NaN;
  #dayOfSecond: number = Number.NaN;

  /** `2024-05-01`; years outside 0000 to 9999 have a sign and six digits. */
  date(out: RecordBuffer, days: number): void {
    this.#appendDay(out, days);
  }

  /** `2024-05-01T10:11:12.000000Z`, always six digits of a second; without `Z` when `zoned` is false. `low`, `high`: the words of the microseconds. */
  timestamp(out: RecordBuffer, low: number, high: number, zoned: boolean): void {
    if (high > maxExactHighWord || high < -maxExactHighWord) {
      const micros = (BigInt(high) << 32n) | BigInt(low >>> 0);
      const days = floorDivide(micros, BigInt(microsPerDay));
      this.#append(out, Number(days), Number(micros - days * BigInt(microsPerDay)), zoned);
      return;
    }
    const micros = high * two32 + (low >>> 0);
    const days = Math.floor(micros / microsPerDay);
    this.#append(out, days, micros - days * microsPerDay, zoned);
  }

  #append(out: RecordBuffer, days: number, microsOfDay: number, zoned: boolean): void {
    const seconds = Math.floor(microsOfDay / microsPerSecond);
    if (seconds !== this.#secondOfDay || days !== this.#dayOfSecond) this.#keepSecond(days, seconds);
    out.range(this.#second.bytes, 0, this.#second.length);
    out.padded(microsOfDay - seconds * microsPerSecond, 6);
    if (zoned) out.byte(0x5a);
  }

  #keepSecond(days: number, seconds: number): void {
    const text = this.#second;
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    text.clear();
    this.#appendDay(text, days);
    text.byte(0x54);
    text.padded(hours, 2);
    text.byte(0x3a);
    text.padded(minutes - hours * 60, 2);
    text.byte(0x3a);
    text.padded(seconds - minutes * 60, 2);
    text.byte(0x2e);
    this.#dayOfSecond = days;
    this.#secondOfDay = seconds;
  }

  #appendDay(out: RecordBuffer, days: number): void {
    if (days !== this.#dayNumber) {
      const { year, month, day } = civilDate(days);
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
    out.range(this.#day.bytes, 0, this.#day.length);
  }
}

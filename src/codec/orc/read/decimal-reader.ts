import { corruptOrc } from '../orc-errors.ts';
import { streamKind } from '../proto/numbers.ts';
import { type LongWords, numberAt, unzigzag } from '../rle/long-words.ts';
import type { ByteSource } from '../streams/byte-source.ts';
import type { ColumnReader } from './column-reader.ts';
import { columnBase, type ReaderPlace } from './fixed-readers.ts';
import { Presence, spreadValues } from './presence.ts';
import { longsOf, streamOf } from './stripe.ts';

interface DecimalForm {
  readonly precision: number;
  readonly scale: number;
}

/** decimal: every value has a scale of its own and is brought to that of the type. */
export function decimalReader({ stripe, orc, type }: ReaderPlace): ColumnReader {
  const where = `${stripe.place}, column ${orc.column} "${orc.path}"`;
  const form: DecimalForm = type.kind === 'decimal' ? type : { precision: orc.precision, scale: orc.scale };
  const presence = new Presence(stripe, orc);
  const digits = streamOf(stripe, orc, streamKind.data);
  const scales = longsOf(stripe, orc, streamKind.secondary, true);
  return {
    capacity: () => presence.capacity + digits.remaining,
    read: (length, parent) => {
      const present = presence.next(length, parent);
      const stored: LongWords = new Int32Array(2 * present.count);
      scales.read(stored, 0, present.count);
      const words = new BigInt64Array(2 * length);
      const target = new Int32Array(words.buffer);
      const value = new DecimalValue(digits, where);
      for (let index = 0; index < present.count; index++) value.next(numberAt(stored, index), form, target, 4 * index);
      spreadValues(target, present, 4);
      return { ...columnBase(type, present), layout: 'decimal', words };
    },
  };
}

// Varints of so many bytes fit into the two words of a long.
const shortBytes = 9;
// A varint of a 128-bit number has no more.
const maxBytes = 19;
const maxScale = 38;
const powers: readonly bigint[] = Array.from({ length: 2 * maxScale + 1 }, (_, exponent) => 10n ** BigInt(exponent));
const smallPowers: readonly number[] = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** Values one after the other; short ones without `bigint`. */
class DecimalValue {
  readonly #source: ByteSource;
  readonly #where: string;
  readonly #long: LongWords = new Int32Array(2);

  constructor(source: ByteSource, where: string) {
    this.#source = source;
    this.#where = where;
  }

  /** Reads a value that was stored with `scale` and writes its unscaled form to the four words from `at`. */
  next(scale: number, form: DecimalForm, target: Int32Array, at: number): void {
    const length = this.#varintLength();
    const zeros = form.scale - scale;
    if (length <= shortBytes) {
      this.#readShort(length);
      const value = numberAt(this.#long, 0);
      const scaled = value * (smallPowers[zeros] ?? Number.NaN);
      if (Number.isSafeInteger(scaled) && Math.abs(scaled) < 10 ** form.precision) {
        setWords(target, at, scaled);
        return;
      }
      this.#setLarge((BigInt(this.#long[1] ?? 0) << 32n) | BigInt((this.#long[0] ?? 0) >>> 0), zeros, form, target, at);
    } else this.#setLarge(this.#readLarge(length), zeros, form, target, at);
  }

  #varintLength(): number {
    const { bytes, position, remaining } = this.#source;
    for (let length = 1; length <= maxBytes; length++) {
      if (length > remaining) throw this.#source.corrupt('it ends within a number');
      if ((bytes[position + length - 1] ?? 0) < 0x80) return length;
    }
    throw this.#source.corrupt('a number has more than 128 bits');
  }

  #readShort(length: number): void {
    const at = this.#source.skip(length);
    const { bytes } = this.#source;
    let low = 0;
    let high = 0;
    for (let index = 0; index < length; index++) {
      const bits = (bytes[at + index] ?? 0) & 0x7f;
      const shift = 7 * index;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
    }
    this.#long[0] = low;
    this.#long[1] = high;
    unzigzag(this.#long, 0, 1);
  }

  #readLarge(length: number): bigint {
    const at = this.#source.skip(length);
    let value = 0n;
    for (let index = length - 1; index >= 0; index--) value = (value << 7n) | BigInt((this.#source.bytes[at + index] ?? 0) & 0x7f);
    return (value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n;
  }

  #setLarge(value: bigint, zeros: number, { precision, scale }: DecimalForm, target: Int32Array, at: number): void {
    const power = powers[Math.abs(zeros)];
    if (power === undefined) throw corruptOrc(this.#where, `a decimal has scale ${scale - zeros}`);
    if (zeros < 0 && value % power !== 0n) throw corruptOrc(this.#where, `a decimal has more than ${scale} digits after the point`);
    const scaled = zeros < 0 ? value / power : value * power;
    const limit = powers[precision] ?? 0n;
    if (scaled >= limit || scaled <= -limit) throw corruptOrc(this.#where, `a decimal has more than ${precision} digits`);
    for (let word = 0; word < 4; word++) target[at + word] = Number(BigInt.asIntN(32, scaled >> BigInt(32 * word)));
  }
}

/** A safe integer as 128 bits. */
function setWords(target: Int32Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32);
  target[at] = value | 0;
  target[at + 1] = high;
  target[at + 2] = value < 0 ? -1 : 0;
  target[at + 3] = value < 0 ? -1 : 0;
}

import type { ByteSink } from '../streams/byte-sink.ts';
import type { ByteSource } from '../streams/byte-source.ts';
import { ByteDecoder, encodeBytes } from './byte-rle.ts';

/** A byte with its bits in opposite order: a stream has the first value in the highest bit, a bitmap in the lowest. */
const mirrored: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  let result = 0;
  for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) result |= 0x80 >> bit;
  return result;
});

/** A stream of booleans. */
export class BitDecoder {
  readonly #bytes: ByteDecoder;
  readonly #held = new Uint8Array(1);
  #heldBits = 0;

  constructor(source: ByteSource) {
    this.#bytes = new ByteDecoder(source);
  }

  /** No more values than this can follow. */
  get capacity(): number {
    return this.#heldBits + 8 * this.#bytes.capacity;
  }

  /** The next `count` values as a bitmap, least significant bit first; bits past the end are zero. */
  read(count: number): Uint8Array {
    const bits = new Uint8Array((count + 7) >> 3);
    if (this.#heldBits === 0) this.#readAligned(bits, count);
    else for (let index = 0; index < count; index++) if (this.#next()) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
    return bits;
  }

  #readAligned(bits: Uint8Array, count: number): void {
    this.#bytes.read(bits, 0, bits.length);
    const last = bits.length - 1;
    if ((count & 7) !== 0) {
      this.#held[0] = bits[last] ?? 0;
      this.#heldBits = 8 - (count & 7);
    }
    for (let index = 0; index < bits.length; index++) bits[index] = mirrored[bits[index] ?? 0] ?? 0;
    if ((count & 7) !== 0) bits[last] = (bits[last] ?? 0) & ((1 << (count & 7)) - 1);
  }

  #next(): boolean {
    if (this.#heldBits === 0) {
      this.#bytes.read(this.#held, 0, 1);
      this.#heldBits = 8;
    }
    this.#heldBits -= 1;
    return (((this.#held[0] ?? 0) >> this.#heldBits) & 1) === 1;
  }
}

/**
 * Appends a bitmap of `count` bits (least significant bit first, zero past the end) as a stream of booleans. The bytes that hold the bits
 * before each of `stops` are complete in the sink when `stop` is told how many bits of the byte that follows belong to what is before.
 */
export function encodeBits(
  sink: ByteSink,
  bits: Uint8Array,
  count: number,
  stops: Iterable<number>,
  stop: (bitsOfNextByte: number) => void,
): void {
  const bytes = new Uint8Array((count + 7) >> 3);
  for (let index = 0; index < bytes.length; index++) bytes[index] = mirrored[bits[index] ?? 0] ?? 0;
  let done = 0;
  for (const at of stops) {
    encodeBytes(sink, bytes, done, at >> 3);
    done = at >> 3;
    stop(at & 7);
  }
  encodeBytes(sink, bytes, done, bytes.length);
}

const longScratch = new BigInt64Array(1);
const wordScratch = new Int32Array(longScratch.buffer);
const maxVarintBytes = 10;
const initialBytes = 64 * 1024;
// Up to this length a loop over ASCII beats the encoder's call.
const shortTextLength = 32;

/** Collects Avro's binary encoding in a buffer that grows. */
export class ByteSink {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number = initialBytes) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** An int, or a long that is an integer of at most 32 bits. */
  int(value: number): void {
    this.#reserve(maxVarintBytes);
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  long(value: bigint): void {
    longScratch[0] = value;
    this.long64(wordScratch[0] ?? 0, wordScratch[1] ?? 0);
  }

  /** A long from its low and high word. */
  long64(low: number, high: number): void {
    if (low >> 31 === high) {
      this.int(low);
      return;
    }
    this.#reserve(maxVarintBytes);
    const bytes = this.#bytes;
    const sign = high >> 31;
    let restHigh = (((high << 1) | (low >>> 31)) ^ sign) >>> 0;
    let restLow = ((low << 1) ^ sign) >>> 0;
    while (restHigh !== 0 || restLow > 0x7f) {
      bytes[this.#length++] = (restLow & 0x7f) | 0x80;
      restLow = ((restLow >>> 7) | (restHigh << 25)) >>> 0;
      restHigh >>>= 7;
    }
    bytes[this.#length++] = restLow;
  }

  float(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeFloatLE(value, this.#length);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** Bytes without their length. */
  fixed(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** The bytes `[from, until)` of `source` behind their length. */
  range(source: Uint8Array, from: number, until: number): void {
    const size = until - from;
    this.int(size);
    this.#reserve(size);
    const bytes = this.#bytes;
    if (size > shortTextLength) bytes.set(source.subarray(from, until), this.#length);
    else for (let index = 0; index < size; index++) bytes[this.#length + index] = source[from + index] ?? 0;
    this.#length += size;
  }

  /** Bytes behind their length. */
  bytes(value: Uint8Array): void {
    this.range(value, 0, value.length);
  }

  text(value: string): void {
    if (value.length <= shortTextLength && this.#ascii(value)) return;
    const size = Buffer.byteLength(value);
    this.int(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  /** What was written since the last call, as bytes of the caller's own. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Forgets what was written from `length` on. */
  truncate(length: number): void {
    this.#length = length;
  }

  #ascii(value: string): boolean {
    this.#reserve(shortTextLength + 1);
    const bytes = this.#bytes;
    const from = this.#length;
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index);
      if (unit > 0x7f) return false;
      bytes[from + 1 + index] = unit;
    }
    bytes[from] = value.length << 1;
    this.#length = from + 1 + value.length;
    return true;
  }

  #reserve(size: number): void {
    const wanted = this.#length + size;
    if (wanted <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

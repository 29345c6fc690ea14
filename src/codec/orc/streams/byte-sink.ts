const firstBytes = 256;

/** Bytes that grow at the end. */
export class ByteSink {
  #bytes: Uint8Array = new Uint8Array(firstBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  append(source: Uint8Array): void {
    const at = this.reserve(source.length);
    this.#bytes.set(source, at);
  }

  /** Makes room for `count` bytes, to be filled through `bytes` from the returned place. */
  reserve(count: number): number {
    if (this.#length + count > this.#bytes.length) this.#grow(count);
    const at = this.#length;
    this.#length += count;
    return at;
  }

  /** The storage; valid until the next byte is added. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** What was written, as a view. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(count: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.written());
    this.#bytes = larger;
  }
}

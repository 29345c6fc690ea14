import type { ByteSink } from '../streams/byte-sink.ts';
import type { ByteSource } from '../streams/byte-source.ts';

// A control byte of a run stands for at most 130 bytes and is followed by one.
const maxBytesPerByte = 65;
const minRepeat = 3;
const maxRepeat = 130;
const maxLiterals = 128;

/** A stream of bytes in run-length encoding. */
export class ByteDecoder {
  readonly #source: ByteSource;
  #repeated = 0;
  #repeats = 0;
  #literals = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** No more bytes than this can follow. */
  get capacity(): number {
    return this.#repeats + this.#literals + this.#source.remaining * maxBytesPerByte;
  }

  /** Fills `target[from, until)`. @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt). */
  read(target: Uint8Array, from: number, until: number): void {
    for (let at = from; at < until; ) {
      if (this.#repeats === 0 && this.#literals === 0) this.#next();
      const taken = Math.min(until - at, this.#repeats + this.#literals);
      if (this.#repeats > 0) {
        target.fill(this.#repeated, at, at + taken);
        this.#repeats -= taken;
      } else {
        target.set(this.#source.take(taken), at);
        this.#literals -= taken;
      }
      at += taken;
    }
  }

  #next(): void {
    const control = this.#source.byte();
    if (control < 0x80) {
      this.#repeats = control + minRepeat;
      this.#repeated = this.#source.byte();
    } else this.#literals = 0x100 - control;
  }
}

/** Appends `bytes[from, until)` in run-length encoding. */
export function encodeBytes(sink: ByteSink, bytes: Uint8Array, from: number, until: number): void {
  let pending = from;
  let at = from;
  while (at < until) {
    const value = bytes[at];
    let end = at + 1;
    while (end < until && end - at < maxRepeat && bytes[end] === value) end += 1;
    if (end - at >= minRepeat) {
      literals(sink, bytes, pending, at);
      sink.byte(end - at - minRepeat);
      sink.byte(value ?? 0);
      pending = end;
    }
    at = end;
  }
  literals(sink, bytes, pending, until);
}

function literals(sink: ByteSink, bytes: Uint8Array, from: number, until: number): void {
  for (let at = from; at < until; at += maxLiterals) {
    const end = Math.min(until, at + maxLiterals);
    sink.byte(0x100 - (end - at));
    sink.append(bytes.subarray(at, end));
  }
}

import type { ByteSource } from '../streams/byte-source.ts';
import { addLong, type LongWords, readVarint, unzigzag } from './long-words.ts';
import { maxRunLength, readRunV2 } from './run-v2.ts';

export interface LongDecoderOptions {
  readonly version: 1 | 2;
  readonly signed: boolean;
}

// A byte never stands for more values: 512 in the four bytes of a delta run, 130 in the three of a run of version 1.
const maxValuesPerByte = 128;

/** A stream of integers in run-length encoding. */
export class LongDecoder {
  readonly #source: ByteSource;
  readonly #options: LongDecoderOptions;
  readonly #run: LongWords = new Int32Array(2 * maxRunLength);
  #runAt = 0;
  #runEnd = 0;

  constructor(source: ByteSource, options: LongDecoderOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** No more values than this can follow. */
  get capacity(): number {
    return this.#runEnd - this.#runAt + this.#source.remaining * maxValuesPerByte;
  }

  /** Reads `count` values to values `from` on. @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt). */
  read(words: LongWords, from: number, count: number): void {
    const end = from + count;
    for (let at = from; at < end; ) {
      if (this.#runAt === this.#runEnd) this.#next();
      const taken = Math.min(end - at, this.#runEnd - this.#runAt);
      words.set(this.#run.subarray(2 * this.#runAt, 2 * (this.#runAt + taken)), 2 * at);
      this.#runAt += taken;
      at += taken;
    }
  }

  #next(): void {
    const { version, signed } = this.#options;
    this.#runEnd = version === 1 ? readRunV1(this.#source, this.#run, signed) : readRunV2(this.#source, this.#run, signed);
    this.#runAt = 0;
  }
}

/** Reads one run of version 1 (at most 130 values) to the front of `run` and returns its length. */
function readRunV1(source: ByteSource, run: LongWords, signed: boolean): number {
  const control = source.byte();
  if (control >= 0x80) {
    const count = 0x100 - control;
    for (let index = 0; index < count; index++) readVarint(source, run, index);
    if (signed) unzigzag(run, 0, count);
    return count;
  }
  const count = control + 3;
  const delta = (source.byte() << 24) >> 24;
  readVarint(source, run, 0);
  if (signed) unzigzag(run, 0, 1);
  for (let index = 1; index < count; index++) addLong(run, index, index - 1, delta, delta >> 31);
  return count;
}

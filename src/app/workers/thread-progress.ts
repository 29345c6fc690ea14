/** What a thread and its pool share: beats of its event loop and of its work, and the record batch that it is at. */
const field = { beats: 0, step: 1 } as const;
const beatMs = 250;

/** In the thread: says that it goes on. */
export class ProgressTeller {
  readonly #shared: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.#shared = new Int32Array(buffer);
    setInterval(() => {
      Atomics.add(this.#shared, field.beats, 1);
    }, beatMs).unref();
  }

  /** The work is at its part number `step`, from 0 on. */
  readonly at = (step: number): void => {
    Atomics.store(this.#shared, field.step, step);
    Atomics.add(this.#shared, field.beats, 1);
  };
}

/** In the pool: sees whether a thread goes on. Counts looks, not time: a machine that stood still is no thread that does. */
export class ProgressWatch {
  readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  readonly #shared = new Int32Array(this.buffer);
  #seen = -1;
  #still = 0;

  get step(): number {
    return Atomics.load(this.#shared, field.step);
  }

  /** How many looks in a row, this one included, saw no progress. */
  look(): number {
    const beats = Atomics.load(this.#shared, field.beats);
    this.#still = beats === this.#seen ? this.#still + 1 : 0;
    this.#seen = beats;
    return this.#still;
  }

  reset(): void {
    this.#still = 0;
    Atomics.store(this.#shared, field.step, 0);
  }
}

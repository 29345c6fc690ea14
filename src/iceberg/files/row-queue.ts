import type { ColumnBatch } from '../../schema/columns.ts';

/** Hands batches to a consumer that pulls; whoever puts one waits until the one before was taken. */
export class RowQueue {
  #waiting: ColumnBatch | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  async put(batch: ColumnBatch): Promise<void> {
    while (this.#waiting !== undefined && this.#failure === undefined) await this.#changed();
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#waiting = batch;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** The consumer takes no more. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  async *batches(): AsyncGenerator<ColumnBatch, void, undefined> {
    for (;;) {
      const batch = this.#waiting;
      if (batch !== undefined) {
        this.#waiting = undefined;
        this.#wake();
        yield batch;
      } else if (this.#ended) return;
      else await this.#changed();
    }
  }

  // Producer and consumer never wait at the same time: one waits for a full place, the other for an empty one.
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

import type { MemoryShare } from './memory-ledger.ts';

export interface TableBufferOptions {
  /** Its part of the process's memory. Absent: it has no bound but its own. */
  readonly share: MemoryShare | undefined;
  /** Bytes above which it is full; below half of it it is not any more. */
  readonly maxBytes: number;
  readonly observer: { buffered(bytes: number): void; paused(paused: boolean): void };
  readonly pause: (paused: boolean) => void;
}

/** What a table has fetched and not committed: counted, told, and held back when it is too much. */
export class TableBuffer {
  readonly #options: TableBufferOptions;
  #collectedBytes = 0;
  #sealedBytes = 0;
  #paused = false;

  constructor(options: TableBufferOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#collectedBytes + this.#sealedBytes;
  }

  /** The open batch holds so much by now. */
  collected(bytes: number): void {
    this.#collectedBytes = bytes;
    this.#balance();
  }

  /** A batch was closed, and the open one is empty. */
  sealed(bytes: number): void {
    this.#collectedBytes = 0;
    this.#sealedBytes += bytes;
    this.#balance();
  }

  /** A closed batch has its outcome. */
  settled(bytes: number): void {
    this.#sealedBytes -= bytes;
    this.#balance();
  }

  /** The share is full, or is not any more. */
  recheck(): void {
    const { share, maxBytes } = this.#options;
    const full = share?.isFull === true;
    if (!this.#paused && (full || this.bytes > maxBytes)) this.#setPaused(true);
    else if (this.#paused && !full && this.bytes <= maxBytes / 2) this.#setPaused(false);
  }

  #balance(): void {
    this.#options.observer.buffered(this.bytes);
    this.#options.share?.keep(this.#collectedBytes, this.#sealedBytes);
    this.recheck();
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#options.observer.paused(paused);
    this.#options.pause(paused);
  }
}

const firstBytes = 1024 * 1024;

/** How much the next fetch asks for: much where much comes, so that readers without a backlog hold no room for it. */
export class FetchSize {
  readonly #maxBytes: number;
  #bytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = Math.min(firstBytes, maxBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** An answer to a fetch that was granted `grantedBytes` had so many. */
  answered(bytes: number, grantedBytes: number): void {
    // One record batch may be larger than everything that was asked for: the next is expected to be, too.
    if (bytes > this.#maxBytes) this.#bytes = bytes;
    else if (bytes > grantedBytes / 2) this.#bytes = Math.min(this.#maxBytes, Math.max(this.#bytes, 2 * bytes));
    else if (bytes < this.#bytes / 8) this.#bytes = Math.max(Math.min(firstBytes, this.#maxBytes), this.#bytes / 2);
  }
}

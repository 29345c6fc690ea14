/**
 * Syncs of directories, shared by those who wait for the same one: what is changed while a sync runs is made durable by the next, however
 * many changes there are. Deleting thousands of files would be thousands of syncs otherwise.
 */
export class DirectorySyncs {
  readonly #sync: (directory: string) => Promise<void>;
  /** The last to begin, by directory. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(sync: (directory: string) => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when everything that was changed in the directory before the call is durable. Rejects as the sync that it depends on. */
  sync(directory: string): Promise<void> {
    const waiting = this.#waiting.get(directory);
    if (waiting !== undefined) return waiting;
    const next = this.#after(directory);
    this.#waiting.set(directory, next);
    return next;
  }

  async #after(directory: string): Promise<void> {
    // Whether the one before failed is for those to hear who waited for it.
    await this.#running.get(directory)?.catch(() => undefined);
    this.#waiting.delete(directory);
    const running = this.#sync(directory);
    this.#running.set(directory, running);
    try {
      await running;
    } finally {
      if (this.#running.get(directory) === running) this.#running.delete(directory);
    }
  }
}

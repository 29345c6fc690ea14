import type { Clock } from '../base/clock.ts';
import type { TableEvents } from '../protocol/table-events.ts';

/** Table events within one process. */
export class LocalTableEvents implements TableEvents {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<AbortController>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  committed(table: string): void {
    const waiting = this.#waiting.get(table);
    this.#waiting.delete(table);
    for (const waiter of waiting ?? []) waiter.abort();
  }

  async waitForCommit(table: string, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const waiter = new AbortController();
    const waiting = this.#waiting.get(table) ?? new Set();
    this.#waiting.set(table, waiting.add(waiter));
    const woken = signal === undefined ? waiter.signal : AbortSignal.any([waiter.signal, signal]);
    // Waking early and giving up look the same to the caller: it looks at the table either way.
    await this.#clock.sleep(timeoutMs, woken).catch(() => undefined);
    waiting.delete(waiter);
  }
}

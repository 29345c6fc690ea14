import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { PositionStore } from './position-store.ts';

interface OperatorActsParts {
  readonly store: PositionStore;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  readonly onError: (detail: string) => void;
}

/** Notices what operators do to feeds. Only shortens a wait: a publisher that misses an act is fenced all the same. */
export class OperatorActs {
  readonly #parts: OperatorActsParts;
  readonly #next = new Map<string, AbortController>();

  constructor(parts: OperatorActsParts) {
    this.#parts = parts;
  }

  /** Fires at the next act on the feed. */
  next(feedId: string): AbortSignal {
    let controller = this.#next.get(feedId);
    if (controller === undefined) this.#next.set(feedId, (controller = new AbortController()));
    return controller.signal;
  }

  /** Looks until the signal fires; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, pollIntervalMs, onError } = this.#parts;
    let from: bigint | undefined;
    while (!signal.aborted) {
      try {
        const end = await store.end();
        // What was done before is read by whoever opens the feed; a topic that was made anew begins again.
        if (from === undefined) from = end;
        if (from > end) from = 0n;
        if (from < end) {
          const { feedIds, until } = await store.actsFrom(from, signal);
          from = until > end ? until : end;
          for (const feedId of feedIds) this.#fire(feedId);
        }
      } catch (error) {
        onError(describeError(error));
      }
      await clock.sleep(pollIntervalMs, signal).catch(() => undefined);
    }
  }

  #fire(feedId: string): void {
    const controller = this.#next.get(feedId);
    this.#next.delete(feedId);
    controller?.abort();
  }
}

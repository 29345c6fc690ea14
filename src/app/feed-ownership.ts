import { untilAborted } from '../base/abort.ts';
import type { KafkaClient, WorkGroup } from '../kafka/client.ts';

/** Which feeds this process publishes: a group divides them among the replicas of the pipeline. What fences is the transactional id. */
export class FeedOwnership {
  readonly #kafka: KafkaClient;
  readonly #options: {
    readonly groupId: string;
    readonly member: string;
    readonly items: readonly string[];
    readonly sessionTimeoutMs: number;
  };
  readonly #held = new Map<string, AbortController>();
  readonly #waiting = new Set<() => void>();
  #owners: ReadonlyMap<string, string> = new Map();
  #group: WorkGroup | undefined;

  constructor(
    kafka: KafkaClient,
    options: { readonly groupId: string; readonly member: string; readonly feedIds: readonly string[]; readonly sessionTimeoutMs: number },
  ) {
    const { groupId, member, feedIds, sessionTimeoutMs } = options;
    this.#kafka = kafka;
    this.#options = { groupId, member, items: feedIds, sessionTimeoutMs };
  }

  /** Who publishes the feed, as far as the group told. */
  ownerOf(feedId: string): string | undefined {
    return this.#owners.get(feedId);
  }

  /** Whether the group has told anything yet. */
  get known(): boolean {
    return this.#owners.size > 0;
  }

  /** Fires when the feed goes to somebody else; `undefined` while it is not this process's. */
  held(feedId: string): AbortSignal | undefined {
    return this.#held.get(feedId)?.signal;
  }

  /** Resolves at the next division, or when the signal fires. */
  async changed(signal: AbortSignal): Promise<void> {
    const division = new Promise<void>((resolve) => this.#waiting.add(resolve));
    await Promise.race([division, untilAborted(signal)]);
  }

  /** Takes part until the signal fires. Rejects with what ends the membership; nothing is held then. */
  async run(signal: AbortSignal): Promise<void> {
    let fail: (error: unknown) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => undefined);
    const handler = {
      onOwned: (items: ReadonlySet<string>, owners: ReadonlyMap<string, string>) => {
        this.#divide(items, owners);
      },
      onFailed: fail,
    };
    const group = this.#kafka.workGroup({ ...this.#options, handler });
    this.#group = group;
    try {
      await Promise.race([group.start().then(() => untilAborted(signal)), failed, untilAborted(signal)]);
    } catch (error) {
      this.#divide(new Set(), new Map());
      await this.close();
      throw error;
    }
  }

  /** Leaves the group: to be called when the feeds have ended, so that nobody takes over in the middle of a transaction. */
  async close(): Promise<void> {
    const group = this.#group;
    this.#group = undefined;
    await group?.stop();
  }

  #divide(items: ReadonlySet<string>, owners: ReadonlyMap<string, string>): void {
    this.#owners = owners;
    for (const [feedId, holding] of this.#held) {
      if (items.has(feedId)) continue;
      this.#held.delete(feedId);
      holding.abort();
    }
    for (const feedId of items) if (!this.#held.has(feedId)) this.#held.set(feedId, new AbortController());
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

import { assert } from '../../base/assert.ts';
import { type Deferred, deferred } from '../../base/deferred.ts';
import { isServiceError, serviceError } from '../../base/errors.ts';
import type { ConsumerOptions, KafkaConsumer, PartitionOffsets, StartPosition, TopicPartition, TopicsChange } from '../client.ts';
import { GroupMembership, type Membership } from './group-membership.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { isPermanent, toServiceError } from './kafkajs-errors.ts';
import { PartitionFetcher } from './partition-fetcher.ts';
import { Subscription } from './subscription.ts';
import { TopicWatch } from './topic-watch.ts';

const defaultMaxFetchBytes = 16 * 1024 * 1024;
const defaultMaxWaitMs = 250;
const defaultSessionTimeoutMs = 30_000;
const rebalanceTimeoutMs = 60_000;
const defaultTopicCheckMs = 5_000;

/**
 * Group member on kafkajs connections. kafkajs's own consumer is not used: it decodes every record, moves to another offset without a word
 * when the broker does not hold the one asked for, and starts fetching before its caller knows of the assignment.
 *
 * Life: join, tell the handler, fetch, send heartbeats and watch the topics until the generation ends, tell the handler, join again.
 */
export class KafkajsConsumer implements KafkaConsumer {
  readonly #connection: KafkaConnection;
  readonly #options: ConsumerOptions;
  readonly #heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
  readonly #byId: boolean;
  readonly #subscription: Subscription;
  readonly #group: GroupMembership;
  readonly #stopping = new AbortController();
  /** Topics the handler was told are missing. */
  #missing: readonly string[] = [];
  /** Watches in a row that ended a generation because of a fetch's doubt. */
  #doubts = 0;
  #fetcher: PartitionFetcher | undefined;
  #membership: Membership | undefined;
  #running: Promise<void> | undefined;

  constructor(
    options: ConsumerOptions,
    route: {
      readonly connection: KafkaConnection;
      readonly heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
      /** Fetches by topic id from brokers that can. */
      readonly byId: boolean;
    },
  ) {
    const { connection } = route;
    this.#connection = connection;
    this.#options = options;
    this.#heldOffsets = route.heldOffsets;
    this.#byId = route.byId;
    this.#subscription = new Subscription(connection, options);
    this.#group = new GroupMembership({
      connection,
      groupId: options.groupId,
      subscription: this.#subscription,
      sessionTimeoutMs: this.#sessionTimeoutMs,
      rebalanceTimeoutMs,
    });
  }

  async start(): Promise<void> {
    assert(this.#running === undefined, 'a consumer starts once');
    const joined = deferred<undefined>();
    this.#running = this.#run(joined);
    await joined.promise;
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#fetcher?.setPaused(partitions, true);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#fetcher?.setPaused(partitions, false);
  }

  seek(position: StartPosition): void {
    this.#fetcher?.seek(position);
  }

  async commitGroupOffsets(positions: readonly StartPosition[]): Promise<void> {
    const membership = this.#membership;
    if (membership === undefined) {
      throw serviceError.fenced(
        'KAFKA_GROUP_FENCED',
        `group "${this.#options.groupId}": this member belongs to no generation at the moment`,
      );
    }
    if (positions.length > 0) await this.#group.commit(membership, positions);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#group.leave();
    await this.#connection.close();
  }

  get #sessionTimeoutMs(): number {
    return this.#options.sessionTimeoutMs ?? defaultSessionTimeoutMs;
  }

  /** Never rejects: what ends it goes to `start` or to the handler. */
  async #run(joined: Deferred<undefined>): Promise<void> {
    const { signal } = this.#stopping;
    let everJoined = false;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const membership = await this.#group.join(signal);
        attempt = 0;
        everJoined = true;
        joined.resolve(undefined);
        await this.#serve(membership);
      } catch (error) {
        if (this.#stopping.signal.aborted) break;
        const failure = isServiceError(error) ? error : toServiceError(error, 'consume');
        if (!isPermanent(failure)) {
          await this.#pauseQuietly(attempt);
          continue;
        }
        if (everJoined) this.#options.handler.onFailed(failure);
        else joined.reject(failure);
        await this.#group.leave();
        return;
      }
    }
    joined.resolve(undefined);
  }

  /** One generation, from its assignment to its end. Rejects with what ends the consumer. */
  async #serve(membership: Membership): Promise<void> {
    const { handler } = this.#options;
    const watch = new TopicWatch(this.#connection, this.#subscription);
    const fetcher = new PartitionFetcher(
      {
        connection: this.#connection,
        handler,
        readCommitted: this.#options.readCommitted ?? true,
        maxFetchBytes: this.#options.maxFetchBytes ?? defaultMaxFetchBytes,
        allowance: this.#options.allowance,
        maxWaitMs: this.#options.maxWaitMs ?? defaultMaxWaitMs,
        heldOffsets: this.#heldOffsets,
        byId: this.#byId,
        onDoubt: () => {
          watch.hurry();
        },
      },
      membership.partitions,
    );
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, over.signal]);
    this.#membership = membership;
    this.#fetcher = fetcher;
    // Signs of life go on while the handler looks up its positions; the end of the generation waits for it.
    const heartbeats = this.#group.keep(membership, signal).finally(() => {
      over.abort();
    });
    const watching = this.#watchTopics(watch, fetcher, signal).finally(() => {
      over.abort();
    });
    for (const each of [heartbeats, watching]) each.catch(() => undefined);
    try {
      await this.#tellTopics();
      fetcher.startAt(await handler.onAssigned(membership.partitions, membership.generation));
      await fetcher.run(signal);
      await Promise.all([heartbeats, watching]);
    } finally {
      over.abort();
      this.#membership = undefined;
      this.#fetcher = undefined;
      await Promise.allSettled([heartbeats, watching]);
      if (!this.#stopping.signal.aborted) await handler.onRevoked(membership.generation);
    }
  }

  /** Resolves when the topics are not those any more with which the generation began. Rejects as `keep` of the group. */
  async #watchTopics(watch: TopicWatch, fetcher: PartitionFetcher, signal: AbortSignal): Promise<void> {
    let change: TopicsChange | undefined;
    while (change === undefined) {
      try {
        await watch.rest(this.#options.topicCheckMs ?? defaultTopicCheckMs, signal);
        // What one broker has heard of, another may not: such doubts pass, and are not worth a generation each at full speed.
        if (watch.isHurried) await this.#connection.pause(movedBackoff, this.#doubts++, signal);
        else this.#doubts = 0;
        change = await watch.look((topic) => fetcher.topicIdOf(topic));
      } catch (error) {
        if (signal.aborted) return;
        const failure = toServiceError(error, 'watch topics');
        if (isPermanent(failure)) throw failure;
      }
    }
    if (signal.aborted) return;
    fetcher.halt();
    this.#missing = change.missing;
    await this.#options.handler.onTopicsChanged(change);
  }

  /** Before their positions are asked for: what is missing, and what has come since the consumer began. */
  async #tellTopics(): Promise<void> {
    const { missing } = this.#subscription;
    const appeared = this.#subscription.takeAppeared();
    if (missing.join() === this.#missing.join() && appeared.length === 0) return;
    this.#missing = missing;
    await this.#options.handler.onTopicsChanged({ missing, replaced: [], ...(appeared.length === 0 ? {} : { appeared }) });
  }

  async #pauseQuietly(attempt: number): Promise<void> {
    try {
      await this.#connection.pause(movedBackoff, attempt, this.#stopping.signal);
    } catch (error) {
      if (!isServiceError(error, 'aborted')) throw error;
    }
  }
}

import { assert } from '../../base/assert.ts';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import type { ConsumerOptions, KafkaConsumer, PartitionOffsets, StartPosition, TopicPartition } from '../client.ts';
import { type Deferred, deferred } from './deferred.ts';
import { GroupMembership, type Membership } from './group-membership.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { isPermanent, toServiceError } from './kafkajs-errors.ts';
import { PartitionFetcher } from './partition-fetcher.ts';

const defaultMaxFetchBytes = 16 * 1024 * 1024;
const defaultMaxWaitMs = 250;
const defaultSessionTimeoutMs = 30_000;
const rebalanceTimeoutMs = 60_000;
const maxHeartbeatIntervalMs = 1000;
// How often topics are looked at for added partitions.
const metadataIntervalMs = 60_000;

/**
 * Group member on kafkajs connections. kafkajs's own consumer is not used: it decodes every record, moves to another offset without a word
 * when the broker does not hold the one asked for, and starts fetching before its caller knows of the assignment.
 *
 * Life: join, tell the handler, fetch and send heartbeats until the generation ends, tell the handler, join again.
 */
export class KafkajsConsumer implements KafkaConsumer {
  readonly #connection: KafkaConnection;
  readonly #options: ConsumerOptions;
  readonly #heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
  readonly #group: GroupMembership;
  readonly #stopping = new AbortController();
  #fetcher: PartitionFetcher | undefined;
  #membership: Membership | undefined;
  #running: Promise<void> | undefined;

  constructor(connection: KafkaConnection, options: ConsumerOptions, heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>) {
    this.#connection = connection;
    this.#options = options;
    this.#heldOffsets = heldOffsets;
    this.#group = new GroupMembership({
      connection,
      groupId: options.groupId,
      topics: options.topics,
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
      throw new ServiceError({
        code: 'KAFKA_GROUP_FENCED',
        kind: 'fenced',
        message: `group "${this.#options.groupId}": this member belongs to no generation at the moment`,
      });
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
    const fetcher = new PartitionFetcher(
      {
        connection: this.#connection,
        handler,
        readCommitted: this.#options.readCommitted ?? true,
        maxFetchBytes: this.#options.maxFetchBytes ?? defaultMaxFetchBytes,
        maxWaitMs: this.#options.maxWaitMs ?? defaultMaxWaitMs,
        heldOffsets: this.#heldOffsets,
      },
      membership.partitions,
    );
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, over.signal]);
    this.#membership = membership;
    this.#fetcher = fetcher;
    // Signs of life go on while the handler looks up its positions; the end of the generation waits for it.
    const heartbeats = this.#heartbeat(membership, signal).finally(() => {
      over.abort();
    });
    heartbeats.catch(() => undefined);
    try {
      fetcher.startAt(await handler.onAssigned(membership.partitions, membership.generation));
      await fetcher.run(signal);
      await heartbeats;
    } finally {
      over.abort();
      this.#membership = undefined;
      this.#fetcher = undefined;
      await heartbeats.catch(() => undefined);
      if (!this.#stopping.signal.aborted) await handler.onRevoked(membership.generation);
    }
  }

  /** Resolves when the generation is over, rejects for good reasons only: a broker that is away for long ends the generation at most. */
  async #heartbeat(membership: Membership, signal: AbortSignal): Promise<void> {
    const { clock } = this.#connection;
    const intervalMs = Math.min(maxHeartbeatIntervalMs, this.#sessionTimeoutMs / 10);
    const counts = this.#partitionCounts();
    let heardMs = clock.monotonicMs();
    let lookedMs = heardMs;
    while (!signal.aborted) {
      try {
        await clock.sleep(intervalMs, signal);
        if ((await this.#group.heartbeat(membership)) === 'rejoin') return;
        heardMs = clock.monotonicMs();
        if (heardMs - lookedMs >= metadataIntervalMs) {
          lookedMs = heardMs;
          await this.#connection.refresh();
          if (this.#partitionCounts() !== counts) return;
        }
      } catch (error) {
        const failure = toServiceError(error, 'heartbeat');
        // A deleted topic is the fetcher's to report.
        if (isPermanent(failure) && failure.kind !== 'not-found') throw failure;
        if (clock.monotonicMs() - heardMs > this.#sessionTimeoutMs) return;
      }
    }
  }

  #partitionCounts(): string {
    return this.#options.topics.map((topic) => this.#connection.partitionCount(topic)).join();
  }

  async #pauseQuietly(attempt: number): Promise<void> {
    try {
      await this.#connection.pause(movedBackoff, attempt, this.#stopping.signal);
    } catch (error) {
      if (!isServiceError(error, 'aborted')) throw error;
    }
  }
}

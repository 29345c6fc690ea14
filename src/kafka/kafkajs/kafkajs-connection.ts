import { throwIfAborted } from '../../base/abort.ts';
import { type BackoffPolicy, backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { kafkaTopicNotFound, kafkaUnavailable } from '../errors.ts';
import { answerError, isCoordinatorMove, isPermanent, kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';
import type { Broker, Cluster } from './kafkajs-internals.ts';
import { metadataFrom, type TopicMetadata } from './metadata-request.ts';

export type CoordinatorKind = 'group' | 'transaction';

/** One set of connections to the cluster, with the look-ups that every part of the adapter needs. */
export class KafkaConnection {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** What topics were like when last asked for; those that did not exist are left out. */
  readonly #topics = new Map<string, TopicMetadata>();
  /** Node ids of coordinators that answered. */
  readonly #coordinators = new Map<string, number>();

  constructor(options: { readonly cluster: Cluster; readonly clock: Clock; readonly random: Random }) {
    this.cluster = options.cluster;
    this.clock = options.clock;
    this.random = options.random;
  }

  /** Connects if necessary and any broker answers. Rejects with a ServiceError. */
  async anyBroker(): Promise<Broker> {
    return this.#guarded('connect', async () => {
      await this.cluster.connect();
      if (this.cluster.getNodeIds().length === 0) await this.cluster.refreshMetadata();
      let failure: unknown = kafkaUnavailable('the cluster lists no broker');
      for (const nodeId of this.cluster.getNodeIds()) {
        try {
          return await this.cluster.findBroker({ nodeId });
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    });
  }

  broker(nodeId: number): Promise<Broker> {
    return this.#guarded(`connect to broker ${nodeId}`, () => this.cluster.findBroker({ nodeId: String(nodeId) }));
  }

  /**
   * Learns where the topics' partitions are, if that is not known. Rejects with `KAFKA_TOPIC_NOT_FOUND`, `KAFKA_NOT_AUTHORIZED`,
   * `KAFKA_UNAVAILABLE`.
   */
  async follow(topics: readonly string[]): Promise<void> {
    await this.refresh(topics.filter((topic) => !this.#topics.has(topic)));
  }

  /** Asks for the topics anew. Rejects as `follow`. */
  async refresh(topics: readonly string[]): Promise<void> {
    const missing = await this.look(topics);
    if (missing.length > 0) throw kafkaTopicNotFound(missing.join(', '));
  }

  /** As `refresh`, but resolves with the topics that do not exist. */
  async look(topics: readonly string[]): Promise<readonly string[]> {
    if (topics.length === 0) return [];
    const broker = await this.anyBroker();
    const { nodeIds, topics: found } = await this.#guarded('topic metadata', () => metadataFrom(broker, topics), topics.join(', '));
    const known = this.cluster.getNodeIds();
    if (nodeIds.some((nodeId) => !known.includes(String(nodeId)))) await this.#refreshBrokers();
    const failures = found.flatMap((metadata) => this.#note(metadata) ?? []);
    const failure = failures.find(({ kind }) => kind !== 'not-found');
    if (failure !== undefined) throw failure;
    return topics.filter((topic) => !this.#topics.has(topic));
  }

  /** Of all topics that may be seen, but for Kafka's own. Rejects as `look`. */
  async partitionCounts(): Promise<ReadonlyMap<string, number>> {
    const broker = await this.anyBroker();
    const { topics } = await this.#guarded('list of topics', () => metadataFrom(broker, 'all'));
    const seen = topics.filter(
      ({ topic, errorCode }) => !topic.startsWith('__') && (errorCode === kafkaCode.none || errorCode === kafkaCode.leaderNotAvailable),
    );
    return new Map(seen.map(({ topic, partitions }) => [topic, partitions.length]));
  }

  /** Remembers what a topic is like; the error when nothing can be known of it. */
  #note(metadata: TopicMetadata): ServiceError | undefined {
    const { topic, errorCode } = metadata;
    if (errorCode === kafkaCode.none || errorCode === kafkaCode.leaderNotAvailable) {
      this.#topics.set(topic, metadata);
      return undefined;
    }
    const error = answerError(errorCode, `look for topic "${topic}"`, topic);
    if (error.kind === 'not-found') this.#topics.delete(topic);
    return error;
  }

  #refreshBrokers(): Promise<void> {
    return this.#guarded('broker list', async () => {
      await this.cluster.connect();
      await this.cluster.refreshMetadata();
    });
  }

  /** What was last heard of a topic; `undefined`: it did not exist. */
  topic(topic: string): TopicMetadata | undefined {
    return this.#topics.get(topic);
  }

  partitionCount(topic: string): number {
    return this.#topics.get(topic)?.partitions.length ?? 0;
  }

  /** The broker that leads a partition; `undefined` when none does at the moment. */
  leaderOf(topic: string, partition: number): number | undefined {
    const leader = this.#topics.get(topic)?.partitions.find((each) => each.partition === partition)?.leader;
    return leader === undefined || leader < 0 ? undefined : leader;
  }

  /**
   * The coordinator of a group or transactional id. Asked directly, because kafkajs's own look-up hides a missing permission behind
   * a "coordinator not found".
   */
  async coordinator(kind: CoordinatorKind, id: string): Promise<Broker> {
    const known = this.#coordinators.get(`${kind}/${id}`);
    if (known !== undefined) return this.broker(known);
    const any = await this.anyBroker();
    const found = await this.#guarded(`find the coordinator of ${kind} "${id}"`, () =>
      any.findGroupCoordinator({ groupId: id, coordinatorType: kind === 'group' ? 0 : 1 }),
    );
    const { nodeId } = found.coordinator;
    if (!this.cluster.getNodeIds().includes(String(nodeId))) await this.#refreshBrokers();
    this.#coordinators.set(`${kind}/${id}`, nodeId);
    return this.broker(nodeId);
  }

  /** Asks for the coordinator again the next time, after it answered that it is none or did not answer. */
  forgetCoordinator(kind: CoordinatorKind, id: string): void {
    this.#coordinators.delete(`${kind}/${id}`);
  }

  /**
   * Asks a coordinator until it answers: looks it up again when it moved or starts, waits when `retry` says so.
   *
   * @throws ServiceError what the last attempt said, when the deadline passed or trying again cannot help.
   */
  async askCoordinator<T>(
    ask: { readonly kind: CoordinatorKind; readonly id: string; readonly deadlineMs: number; readonly retryCodes?: readonly number[] },
    call: (broker: Broker) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const deadline = this.clock.monotonicMs() + ask.deadlineMs;
    for (let attempt = 0; ; attempt += 1) {
      throwIfAborted(signal);
      try {
        return await call(await this.coordinator(ask.kind, ask.id));
      } catch (error) {
        const code = kafkaCodeOf(error);
        if (code === undefined || isCoordinatorMove(code)) this.forgetCoordinator(ask.kind, ask.id);
        const retried = isCoordinatorMove(code) || (code !== undefined && ask.retryCodes?.includes(code) === true);
        const failure = toServiceError(error, `${ask.kind} "${ask.id}"`);
        if (!retried && (code !== undefined || isPermanent(failure))) throw error;
        if (this.clock.monotonicMs() >= deadline) throw failure;
        await this.pause(isCoordinatorMove(code) || code === undefined ? movedBackoff : busyBackoff, attempt, signal);
      }
    }
  }

  /** Rejects with kind `aborted` when the signal fires. */
  pause(policy: BackoffPolicy, attempt: number, signal?: AbortSignal): Promise<void> {
    return this.clock.sleep(backoffMs(policy, attempt, this.random), signal);
  }

  /** Best effort: connections that are gone anyway are no error. */
  async close(): Promise<void> {
    try {
      await this.cluster.disconnect();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  async #guarded<T>(what: string, call: () => Promise<T>, topic?: string): Promise<T> {
    try {
      return await call();
    } catch (error) {
      // The code must stay readable for those who react to it, so it travels as the cause.
      throw error instanceof ServiceError ? error : toServiceError(error, what, topic);
    }
  }
}

/** Pace while brokers move or are down. */
export const movedBackoff: BackoffPolicy = { initialMs: 100, maxMs: 2000 };
/** Pace while the coordinator is busy for milliseconds, ending the transaction before. */
export const busyBackoff: BackoffPolicy = { initialMs: 5, maxMs: 20 };

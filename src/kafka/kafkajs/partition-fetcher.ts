import { isServiceError } from '../../base/errors.ts';
import type { ConsumerHandler, PartitionOffsets, StartPosition, TopicPartition } from '../client.ts';
import { kafkaOffsetOutOfRange, kafkaTopicNotFound } from '../errors.ts';
import { visibleBatches } from '../isolation.ts';
import { deferred } from './deferred.ts';
import { type FetchAnswer, fetchFrom } from './fetch-request.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { answerError, isPermanent, kafkaCode, toServiceError } from './kafkajs-errors.ts';

export interface FetcherOptions {
  readonly connection: KafkaConnection;
  readonly handler: ConsumerHandler;
  readonly readCommitted: boolean;
  readonly maxFetchBytes: number;
  readonly maxWaitMs: number;
  /** Asks for the offsets that a partition holds. */
  readonly heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
}

interface Cursor extends TopicPartition {
  /** `undefined` rests: no position yet, or out of range. */
  offset: bigint | undefined;
  paused: boolean;
  /** Since when the broker does not know the partition, `Clock.monotonicMs`. */
  unknownSinceMs: number | undefined;
}

const minPartitionBytes = 1024 * 1024;
// A topic just created is unknown to some brokers for a moment; one that stays unknown was deleted.
const unknownTopicGraceMs = 10_000;

/**
 * Reads the partitions of one generation: one fetch at a time per broker, positions kept here. Bytes of before a seek, pause or the end
 * are dropped, because what comes back is compared with the position it was asked for.
 */
export class PartitionFetcher {
  readonly #options: FetcherOptions;
  readonly #cursors = new Map<string, Cursor>();
  readonly #inFlight = new Map<number, Promise<void>>();
  #turn = 0;
  #attempt = 0;
  #wake: () => void = () => undefined;
  #woken = false;

  constructor(options: FetcherOptions, partitions: readonly TopicPartition[]) {
    this.#options = options;
    for (const { topic, partition } of partitions) {
      this.#cursors.set(keyOf({ topic, partition }), { topic, partition, offset: undefined, paused: false, unknownSinceMs: undefined });
    }
  }

  /** Sets the positions that were not moved by `seek` in the meantime. */
  startAt(positions: readonly StartPosition[]): void {
    for (const position of positions) {
      const cursor = this.#cursors.get(keyOf(position));
      if (cursor !== undefined) cursor.offset ??= position.offset;
    }
    this.#wakeUp();
  }

  seek(position: StartPosition): void {
    const cursor = this.#cursors.get(keyOf(position));
    if (cursor === undefined) return;
    // A cursor of its own, so that a fetch under way finds the old one gone.
    this.#cursors.set(keyOf(position), { ...cursor, offset: position.offset });
    this.#wakeUp();
  }

  setPaused(partitions: readonly TopicPartition[], paused: boolean): void {
    for (const partition of partitions) {
      const cursor = this.#cursors.get(keyOf(partition));
      if (cursor !== undefined) cursor.paused = paused;
    }
    if (!paused) this.#wakeUp();
  }

  /**
   * Fetches until the signal fires. Rejects with what cannot be cured by trying again: not authorised, topic gone, corrupt bytes,
   * or what a handler method threw.
   */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => {
      this.#wakeUp();
    };
    signal.addEventListener('abort', onAbort);
    const failed = deferred<never>();
    failed.promise.catch(() => undefined);
    try {
      while (!signal.aborted) {
        this.#startFetches(signal, failed.reject);
        await Promise.race([failed.promise, this.#nextEvent()]);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      // Fetches under way find no cursor to deliver for.
      this.#cursors.clear();
    }
  }

  /** Starts a fetch at every broker that leads something to read and is not being asked already. */
  #startFetches(signal: AbortSignal, fail: (error: unknown) => void): void {
    const byLeader = new Map<number, Cursor[]>();
    for (const cursor of this.#cursors.values()) {
      if (cursor.paused || cursor.offset === undefined) continue;
      const leader = this.#options.connection.leaderOf(cursor.topic, cursor.partition) ?? noLeader;
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), cursor]);
    }
    for (const [leader, cursors] of byLeader) {
      if (this.#inFlight.has(leader)) continue;
      const fetch = this.#fetch(leader, cursors, signal)
        .catch(fail)
        .finally(() => {
          this.#inFlight.delete(leader);
          this.#wakeUp();
        });
      this.#inFlight.set(leader, fetch);
    }
  }

  async #fetch(leader: number, cursors: readonly Cursor[], signal: AbortSignal): Promise<void> {
    const { connection } = this.#options;
    if (leader === noLeader) {
      await this.#recover(signal);
      return;
    }
    const asked = this.#targets(cursors);
    let answers: readonly FetchAnswer[];
    try {
      const broker = await connection.broker(leader);
      answers = await fetchFrom(broker, {
        targets: asked.map(({ cursor, offset, maxBytes }) => ({ topic: cursor.topic, partition: cursor.partition, offset, maxBytes })),
        readCommitted: this.#options.readCommitted,
        maxBytes: this.#options.maxFetchBytes,
        maxWaitMs: this.#options.maxWaitMs,
      });
    } catch (error) {
      const failure = toServiceError(error, `fetch from broker ${leader}`);
      if (isPermanent(failure)) throw failure;
      await this.#recover(signal);
      return;
    }
    const byKey = new Map(answers.map((answer) => [keyOf(answer), answer]));
    let troubled = false;
    for (const { cursor, offset } of asked) {
      const answer = byKey.get(keyOf(cursor));
      if (answer === undefined || signal.aborted || !this.#isCurrent(cursor, offset)) continue;
      if (!(await this.#take(cursor, offset, answer))) troubled = true;
    }
    if (troubled) await this.#recover(signal);
    else this.#attempt = 0;
  }

  /** Every fetch starts with another partition: the broker fills its answer in order, up to the limit. */
  #targets(cursors: readonly Cursor[]): readonly { readonly cursor: Cursor; readonly offset: bigint; readonly maxBytes: number }[] {
    this.#turn += 1;
    const shift = this.#turn % cursors.length;
    const maxBytes = Math.max(minPartitionBytes, Math.floor(this.#options.maxFetchBytes / cursors.length));
    return [...cursors.slice(shift), ...cursors.slice(0, shift)].flatMap((cursor) =>
      cursor.offset === undefined ? [] : [{ cursor, offset: cursor.offset, maxBytes }],
    );
  }

  /** Hands an answer on; false when the partition needs a pause and another look at the metadata. */
  async #take(cursor: Cursor, offset: bigint, answer: FetchAnswer): Promise<boolean> {
    const { topic, partition } = cursor;
    const { handler, connection, readCommitted } = this.#options;
    if (answer.errorCode === kafkaCode.offsetOutOfRange) {
      return this.#outOfRange(cursor, offset);
    }
    if (answer.errorCode === kafkaCode.unknownTopicOrPartition) {
      cursor.unknownSinceMs ??= connection.clock.monotonicMs();
      if (connection.clock.monotonicMs() - cursor.unknownSinceMs >= unknownTopicGraceMs) throw kafkaTopicNotFound(topic);
      return false;
    }
    cursor.unknownSinceMs = undefined;
    if (answer.errorCode !== kafkaCode.none) {
      const error = answerError(answer.errorCode, `fetch ${topic}/${partition}`, topic);
      if (isPermanent(error)) throw error;
      return false;
    }
    const { batches, untilOffset } = visibleBatches(answer.records, readCommitted ? answer.aborted : []);
    if (untilOffset === undefined || untilOffset <= offset) return true;
    cursor.offset = untilOffset;
    const highWatermark = readCommitted ? answer.lastStableOffset : answer.highWatermark;
    handler.onFetched({ topic, partition, fetchOffset: offset, untilOffset, highWatermark, batches });
    return true;
  }

  /** False when the answer is doubtful and is to be asked for again. */
  async #outOfRange(cursor: Cursor, offset: bigint): Promise<boolean> {
    const { handler, heldOffsets } = this.#options;
    const position = { topic: cursor.topic, partition: cursor.partition, offset };
    const held = await heldOffsets(cursor);
    if (!this.#isCurrent(cursor, offset)) return true;
    // A broker that is just finishing a transaction may refuse an offset it holds.
    if (held.earliest <= offset && offset <= held.latest) return false;
    cursor.offset = undefined;
    if (handler.onOutOfRange === undefined) throw kafkaOffsetOutOfRange(position, held);
    handler.onOutOfRange(position, held);
    return true;
  }

  /** Waits a little and asks for the leaders again; trouble with that is met by the next fetch. */
  async #recover(signal: AbortSignal): Promise<void> {
    const { connection } = this.#options;
    try {
      await connection.pause(movedBackoff, this.#attempt, signal);
      this.#attempt += 1;
      await connection.refresh();
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (isPermanent(error) && error.kind !== 'not-found') throw error;
      if (error.kind === 'not-found') this.#noteUnknown(error);
    }
  }

  #noteUnknown(error: unknown): void {
    const now = this.#options.connection.clock.monotonicMs();
    for (const cursor of this.#cursors.values()) {
      if (this.#options.connection.partitionCount(cursor.topic) > cursor.partition && cursor.unknownSinceMs === undefined) continue;
      cursor.unknownSinceMs ??= now;
      if (now - cursor.unknownSinceMs >= unknownTopicGraceMs) throw error;
    }
  }

  #isCurrent(cursor: Cursor, offset: bigint): boolean {
    return this.#cursors.get(keyOf(cursor)) === cursor && cursor.offset === offset && !cursor.paused;
  }

  async #nextEvent(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#woken = false;
  }

  #wakeUp(): void {
    this.#woken = true;
    this.#wake();
  }
}

const noLeader = -1;

function keyOf(at: TopicPartition): string {
  return `${at.topic}/${at.partition}`;
}

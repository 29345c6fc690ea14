import { deferred } from '../../base/deferred.ts';
import { isServiceError } from '../../base/errors.ts';
import type { ConsumerHandler, FetchAllowance, FetchGrant, PartitionOffsets, StartPosition, TopicPartition } from '../client.ts';
import { kafkaOffsetOutOfRange } from '../errors.ts';
import { visibleBatches } from '../isolation.ts';
import { type FetchAnswer, type FetchTarget, fetchesById, fetchFrom } from './fetch-request.ts';
import { FetchSize } from './fetch-size.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { answerError, isPermanent, kafkaCode, toServiceError } from './kafkajs-errors.ts';
import type { Broker } from './kafkajs-internals.ts';
import { metadataFrom, noTopicId } from './metadata-request.ts';

export interface FetcherOptions {
  readonly connection: KafkaConnection;
  readonly handler: ConsumerHandler;
  readonly readCommitted: boolean;
  readonly maxFetchBytes: number;
  /** Room for answers. Absent: there is always room. */
  readonly allowance?: FetchAllowance | undefined;
  readonly maxWaitMs: number;
  /** Asks for the offsets that a partition holds. */
  readonly heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
  /** Fetches by topic id from brokers that can; else a topic's id is asked for before bytes of it are handed on. */
  readonly byId: boolean;
  /** A fetch was refused as if a topic were gone or another one. */
  readonly onDoubt: () => void;
}

interface Cursor extends TopicPartition {
  /** `undefined` rests: no position yet, or out of range. */
  offset: bigint | undefined;
  /** The incarnation that `offset` belongs to. */
  topicId: string;
  paused: boolean;
}

/** A cursor's place at the time of a fetch. */
interface Asked {
  readonly cursor: Cursor;
  readonly offset: bigint;
  readonly maxBytes: number;
}

const minPartitionBytes = 1024 * 1024;

/**
 * Reads the partitions of one generation: one fetch at a time per broker, positions kept here. Bytes of before a seek, pause or the end
 * are dropped, because what comes back is compared with the position it was asked for.
 */
export class PartitionFetcher {
  readonly #options: FetcherOptions;
  readonly #cursors = new Map<string, Cursor>();
  readonly #inFlight = new Map<number, Promise<void>>();
  readonly #size: FetchSize;
  #turn = 0;
  #attempt = 0;
  #wake: () => void = () => undefined;
  #woken = false;

  constructor(options: FetcherOptions, partitions: readonly TopicPartition[]) {
    this.#options = options;
    this.#size = new FetchSize(options.maxFetchBytes);
    for (const { topic, partition } of partitions) {
      this.#cursors.set(keyOf({ topic, partition }), { topic, partition, offset: undefined, topicId: noTopicId, paused: false });
    }
  }

  /** Sets the positions that were not moved by `seek` in the meantime. */
  startAt(positions: readonly StartPosition[]): void {
    for (const position of positions) {
      const cursor = this.#cursors.get(keyOf(position));
      if (cursor === undefined || cursor.offset !== undefined) continue;
      cursor.offset = position.offset;
      cursor.topicId = this.#incarnationOf(position);
    }
    this.#wakeUp();
  }

  seek(position: StartPosition): void {
    const cursor = this.#cursors.get(keyOf(position));
    if (cursor === undefined) return;
    // A cursor of its own, so that a fetch under way finds the old one gone.
    this.#cursors.set(keyOf(position), { ...cursor, offset: position.offset, topicId: this.#incarnationOf(position) });
    this.#wakeUp();
  }

  /** The incarnation from which a topic is being read; `undefined` while nothing of it is, or when its broker tells no ids. */
  topicIdOf(topic: string): string | undefined {
    const reading = [...this.#cursors.values()].find((cursor) => cursor.topic === topic && cursor.offset !== undefined);
    return reading === undefined || reading.topicId === noTopicId ? undefined : reading.topicId;
  }

  /** Delivers nothing any more. */
  halt(): void {
    this.#cursors.clear();
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
      const led = byLeader.get(leader);
      if (led === undefined) byLeader.set(leader, [cursor]);
      else led.push(cursor);
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
    if (leader === noLeader) {
      await this.#recover(signal);
      return;
    }
    const { allowance } = this.#options;
    let grant: FetchGrant | undefined;
    try {
      grant = await allowance?.take(this.#size.bytes, signal);
    } catch (error) {
      if (isServiceError(error, 'aborted')) return;
      throw error;
    }
    // Whoever made it wait may have moved or stopped what it was to read; the next round asks for what there is then.
    const current = cursors.filter((cursor) => cursor.offset !== undefined && this.#isCurrent(cursor, cursor.offset));
    try {
      if (current.length > 0 && !signal.aborted) await this.#fetchWithin(grant, leader, current, signal);
    } finally {
      grant?.giveBack();
    }
  }

  async #fetchWithin(grant: FetchGrant | undefined, leader: number, cursors: readonly Cursor[], signal: AbortSignal): Promise<void> {
    const maxBytes = grant?.bytes ?? this.#options.maxFetchBytes;
    const asked = this.#targets(cursors, maxBytes);
    let answers: readonly FetchAnswer[];
    try {
      answers = await this.#ask(await this.#options.connection.broker(leader), asked, maxBytes);
    } catch (error) {
      const failure = toServiceError(error, `fetch from broker ${leader}`);
      if (isPermanent(failure)) throw failure;
      await this.#recover(signal);
      return;
    }
    this.#size.answered(
      answers.reduce((sum, { records }) => sum + records.length, 0),
      maxBytes,
    );
    const byKey = new Map(answers.map((answer) => [keyOf(answer), answer]));
    let troubled = false;
    for (const { cursor, offset } of asked) {
      const answer = byKey.get(keyOf(cursor));
      if (answer === undefined || signal.aborted || !this.#isCurrent(cursor, offset)) continue;
      grant?.spend(answer.records.length);
      if (!(await this.#take(cursor, offset, answer))) troubled = true;
    }
    if (troubled) await this.#recover(signal);
    else this.#attempt = 0;
  }

  async #ask(broker: Broker, asked: readonly Asked[], maxFetchBytes: number): Promise<readonly FetchAnswer[]> {
    const options = {
      targets: asked.map(({ cursor: { topic, topicId, partition }, offset, maxBytes }) => ({
        topic,
        topicId,
        partition,
        offset,
        maxBytes,
      })),
      readCommitted: this.#options.readCommitted,
      maxBytes: maxFetchBytes,
      maxWaitMs: this.#options.maxWaitMs,
    };
    const byId = this.#options.byId && fetchesById(broker) && options.targets.every(({ topicId }) => topicId !== noTopicId);
    if (byId) return fetchFrom(broker, 'id', options);
    // Ids do not come back: a topic that has its id after the fetch had it during the fetch.
    return this.#ofTheirIncarnation(broker, options.targets, await fetchFrom(broker, 'name', options));
  }

  /** Answers for another incarnation than the one asked for become the error that a fetch by id would have met. */
  async #ofTheirIncarnation(
    broker: Broker,
    targets: readonly FetchTarget[],
    answers: readonly FetchAnswer[],
  ): Promise<readonly FetchAnswer[]> {
    const wanted = new Map(targets.map((target) => [keyOf(target), target.topicId]));
    const telling = answers.filter(
      (answer) => (answer.records.length > 0 || answer.errorCode === kafkaCode.offsetOutOfRange) && wanted.get(keyOf(answer)) !== noTopicId,
    );
    if (telling.length === 0) return answers;
    const { topics } = await metadataFrom(broker, [...new Set(telling.map(({ topic }) => topic))]);
    const present = new Map(topics.map(({ topic, topicId }) => [topic, topicId]));
    return answers.map((answer) =>
      !telling.includes(answer) || present.get(answer.topic) === wanted.get(keyOf(answer))
        ? answer
        : { ...answer, errorCode: kafkaCode.inconsistentTopicId },
    );
  }

  /** Every fetch starts with another partition: the broker fills its answer in order, up to the limit. */
  #targets(cursors: readonly Cursor[], maxFetchBytes: number): readonly Asked[] {
    this.#turn += 1;
    const shift = this.#turn % cursors.length;
    const maxBytes = Math.max(minPartitionBytes, Math.floor(maxFetchBytes / cursors.length));
    return [...cursors.slice(shift), ...cursors.slice(0, shift)].flatMap((cursor) =>
      cursor.offset === undefined ? [] : [{ cursor, offset: cursor.offset, maxBytes }],
    );
  }

  /** Hands an answer on; false when the partition needs a pause and another look at the metadata. */
  async #take(cursor: Cursor, offset: bigint, answer: FetchAnswer): Promise<boolean> {
    const { topic, topicId, partition } = cursor;
    const { handler, readCommitted, onDoubt } = this.#options;
    if (answer.errorCode === kafkaCode.offsetOutOfRange) {
      return this.#outOfRange(cursor, offset);
    }
    if (topicDoubts.has(answer.errorCode)) {
      onDoubt();
      return false;
    }
    if (answer.errorCode !== kafkaCode.none) {
      const error = answerError(answer.errorCode, `fetch ${topic}/${partition}`, topic);
      if (isPermanent(error)) throw error;
      return false;
    }
    const { batches, untilOffset } = visibleBatches(answer.records, readCommitted ? answer.aborted : []);
    if (untilOffset === undefined || untilOffset <= offset) return true;
    cursor.offset = untilOffset;
    const highWatermark = readCommitted ? answer.lastStableOffset : answer.highWatermark;
    handler.onFetched({ topic, topicId, partition, fetchOffset: offset, untilOffset, highWatermark, batches });
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
      const missing = await connection.look([...new Set([...this.#cursors.values()].map(({ topic }) => topic))]);
      if (missing.length > 0) this.#options.onDoubt();
    } catch (error) {
      if (!isServiceError(error) || isPermanent(error)) throw error;
    }
  }

  #incarnationOf({ topic, topicId }: StartPosition): string {
    return topicId ?? this.#options.connection.topic(topic)?.topicId ?? noTopicId;
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
/** Answers after which a topic is looked at: it may be gone, or another one of the same name. */
const topicDoubts: ReadonlySet<number> = new Set([
  kafkaCode.unknownTopicOrPartition,
  kafkaCode.unknownTopicId,
  kafkaCode.inconsistentTopicId,
]);

function keyOf(at: TopicPartition): string {
  return `${at.topic}/${at.partition}`;
}

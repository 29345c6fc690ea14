import { assert } from '../../../src/base/assert.ts';
import { isServiceError, ServiceError } from '../../../src/base/errors.ts';
import type {
  ConsumerOptions,
  FetchGrant,
  KafkaConsumer,
  StartPosition,
  TopicDescription,
  TopicPartition,
} from '../../../src/kafka/client.ts';
import { kafkaOffsetOutOfRange } from '../../../src/kafka/errors.ts';
import type { ClientLink } from './client-link.ts';
import { isTransient, type MemoryCluster } from './memory-cluster.ts';
import type { GroupMember } from './memory-group.ts';
import type { LogRead } from './memory-log.ts';

interface Cursor extends TopicPartition {
  /** `undefined` rests: no position yet, or out of range. */
  offset: bigint | undefined;
  /** The incarnation that `offset` belongs to. */
  topicId: string | undefined;
  paused: boolean;
}

const defaultMaxFetchBytes = 16 * 1024 * 1024;
const retryMs = 100;

/** A consumer of the memory broker. Fetches one partition after the other and sleeps until something changes. */
export class MemoryConsumer implements KafkaConsumer, GroupMember {
  readonly memberId: string;
  readonly #cluster: MemoryCluster;
  readonly #link: ClientLink;
  readonly #options: ConsumerOptions;
  readonly #stopListening: () => void;
  #cursors = new Map<string, Cursor>();
  #generation = 0;
  /** What the topics were like when the generation began. */
  #shape = new Map<string, TopicDescription | undefined>();
  /** Topics the handler was told are missing. */
  #missing: readonly string[] = [];
  /** All that ever matched; `undefined` before the first generation. */
  #seen: Set<string> | undefined;
  #state: 'idle' | 'running' | 'stopped' = 'idle';
  readonly #stopping = new AbortController();
  /** Assignments and revocations, one after the other. */
  #calls: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();
  #changes = 0;
  #wake: () => void = () => undefined;

  constructor(cluster: MemoryCluster, link: ClientLink, memberId: string, options: ConsumerOptions) {
    this.#cluster = cluster;
    this.#link = link;
    this.memberId = memberId;
    this.#options = options;
    this.#stopListening = cluster.onChange(() => {
      this.#change();
    });
  }

  get clientId(): string {
    return this.#link.clientId;
  }

  /** Those it names, and those that match. */
  get topics(): readonly string[] {
    const { topics, matching } = this.#options;
    if (matching === undefined) return topics;
    const matched = [...this.#cluster.partitionCounts.keys()].filter((topic) => !topics.includes(topic) && matching.test(topic)).toSorted();
    if (matched.length > matching.maxTopics)
      throw new ServiceError({ code: 'KAFKA_TOPICS_TOO_MANY', kind: 'invalid', message: `${matched.length} topics match` });
    return [...topics, ...matched];
  }

  async start(): Promise<void> {
    assert(this.#state === 'idle', 'a consumer starts once');
    this.#state = 'running';
    await this.#join();
    this.#loop = this.#run();
  }

  /** The client reaches the broker again after it was evicted: what it held is gone, it joins anew. */
  async rejoin(): Promise<void> {
    if (this.#state !== 'running') return;
    await this.revoke(this.#generation);
    while (this.#isRunning() && !(await this.#joined())) await this.#cluster.clock.sleep(retryMs);
    this.#change();
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, true);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, false);
    this.#change();
  }

  seek(position: StartPosition): void {
    const cursor = this.#cursors.get(keyOf(position));
    if (cursor === undefined) return;
    // A cursor of its own, so that a fetch under way finds the old one gone and drops what it brought.
    this.#cursors.set(keyOf(position), { ...cursor, offset: position.offset, topicId: this.#incarnationOf(position) });
    this.#change();
  }

  commitGroupOffsets(positions: readonly StartPosition[]): Promise<void> {
    const generation = this.#generation;
    return this.#cluster.request(this.#link, 'commit-offsets', () => {
      this.#cluster.group(this.#options.groupId).commit(this.memberId, generation, positions);
    });
  }

  async stop(): Promise<void> {
    const wasRunning = this.#state === 'running';
    this.#close();
    if (wasRunning && this.#link.state === 'up') this.#cluster.group(this.#options.groupId).leave(this.memberId);
    await this.#loop;
    await this.#settled();
  }

  revoke(generation: number): Promise<void> {
    this.#cursors = new Map();
    this.#calls = this.#calls.then(() => this.#guarded(() => this.#options.handler.onRevoked(generation)));
    return this.#settled();
  }

  assign(partitions: readonly TopicPartition[], generation: number): void {
    this.#generation = generation;
    const cursors = new Map<string, Cursor>(
      partitions.map((at) => [keyOf(at), { ...at, offset: undefined, topicId: undefined, paused: false }]),
    );
    this.#cursors = cursors;
    this.#shape = this.#presentShape();
    const missing = missingIn(this.#shape);
    const matched = this.#options.matching === undefined ? [] : [...this.#shape.keys()];
    const seen = this.#seen ?? new Set(matched);
    this.#seen = seen;
    const appeared = matched.filter((topic) => !seen.has(topic) && !missing.includes(topic) && !this.#options.topics.includes(topic));
    for (const topic of appeared) seen.add(topic);
    this.#calls = this.#calls.then(() =>
      this.#guarded(async () => {
        if (this.#cursors !== cursors) return;
        if (missing.join() !== this.#missing.join() || appeared.length > 0) {
          this.#missing = missing;
          await this.#options.handler.onTopicsChanged({ missing, replaced: [], ...(appeared.length === 0 ? {} : { appeared }) });
        }
        if (this.#cursors !== cursors) return;
        const positions = await this.#options.handler.onAssigned(partitions, generation);
        if (this.#cursors !== cursors) return;
        for (const position of positions) {
          const cursor = cursors.get(keyOf(position));
          if (cursor === undefined || cursor.offset !== undefined) continue;
          cursor.offset = position.offset;
          cursor.topicId = this.#incarnationOf(position);
        }
        this.#change();
      }),
    );
  }

  /** False when the request got lost: a member that was there before asks again until it is heard. */
  async #joined(): Promise<boolean> {
    try {
      await this.#join();
      return true;
    } catch (error) {
      if (isServiceError(error) && isTransient(error) && this.#link.state !== 'crashed') return false;
      this.#fail(error);
      return true;
    }
  }

  async #join(): Promise<void> {
    await this.#cluster.request(this.#link, 'join-group', () => undefined);
    await this.#cluster.group(this.#options.groupId).join(this);
  }

  async #run(): Promise<void> {
    while (this.#isRunning()) {
      const seen = this.#changes;
      await this.#watchTopics();
      let progressed = false;
      for (const cursor of [...this.#cursors.values()]) {
        if (await this.#fetch(cursor)) progressed = true;
        if (!this.#isRunning()) return;
      }
      if (progressed || this.#changes !== seen) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends the generation when the topics are not those any more with which it began. */
  async #watchTopics(): Promise<void> {
    const shape = this.#shapeOrFailure();
    if (shape === undefined) return;
    const replaced = [...this.#cursors.values()].flatMap(({ topic, topicId }) => {
      const present = shape.get(topic)?.topicId;
      return topicId === undefined || present === undefined || present === topicId ? [] : [topic];
    });
    const changed = shape.size !== this.#shape.size || [...shape].some(([topic, now]) => !isSame(now, this.#shape.get(topic)));
    if ((!changed && replaced.length === 0) || this.#link.state !== 'up') return;
    this.#shape = shape;
    this.#missing = missingIn(shape);
    this.#cursors = new Map();
    const change = { missing: this.#missing, replaced: [...new Set(replaced)] };
    this.#calls = this.#calls.then(() => this.#guarded(() => this.#options.handler.onTopicsChanged(change)));
    await this.#settled();
    if (this.#isRunning()) void this.#cluster.group(this.#options.groupId).rebalance();
  }

  #shapeOrFailure(): Map<string, TopicDescription | undefined> | undefined {
    try {
      return this.#presentShape();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #presentShape(): Map<string, TopicDescription | undefined> {
    return new Map(this.topics.map((topic) => [topic, this.#cluster.describeTopic(topic)]));
  }

  #incarnationOf({ topic, topicId }: StartPosition): string | undefined {
    return topicId ?? this.#cluster.describeTopic(topic)?.topicId;
  }

  /** True when there may be more to fetch at once. */
  async #fetch(cursor: Cursor): Promise<boolean> {
    const from = cursor.offset;
    if (cursor.paused || from === undefined) return false;
    const grant = await this.#allowed(cursor, from);
    if (grant === 'moved') return true;
    try {
      return await this.#fetchWithin(cursor, from, grant);
    } finally {
      grant?.giveBack();
    }
  }

  /** Room for what is fetched; `moved`: while it waited there came to be something else to fetch, or nothing. */
  async #allowed(cursor: Cursor, from: bigint): Promise<FetchGrant | 'moved' | undefined> {
    const { allowance, maxFetchBytes = defaultMaxFetchBytes } = this.#options;
    if (allowance === undefined) return undefined;
    try {
      const grant = await allowance.take(maxFetchBytes, this.#stopping.signal);
      if (this.#isRunning() && this.#cursors.get(keyOf(cursor)) === cursor && cursor.offset === from && !isPaused(cursor)) return grant;
      grant.giveBack();
      return 'moved';
    } catch (error) {
      if (!isServiceError(error, 'aborted')) throw error;
      return 'moved';
    }
  }

  async #fetchWithin(cursor: Cursor, from: bigint, grant: FetchGrant | undefined): Promise<boolean> {
    const read = await this.#read(cursor, from, grant?.bytes);
    if (read === 'gone') return false;
    if (read === undefined) return true;
    if (!this.#isRunning() || this.#cursors.get(keyOf(cursor)) !== cursor || isPaused(cursor)) return true;
    if (read.kind === 'out-of-range') {
      cursor.offset = undefined;
      this.#outOfRange({ topic: cursor.topic, partition: cursor.partition, offset: from }, read);
      return false;
    }
    if (read.untilOffset === from) return false;
    cursor.offset = read.untilOffset;
    const { topic, partition, topicId = '' } = cursor;
    const { untilOffset, highWatermark, batches } = read;
    grant?.spend(batches.reduce((sum, { bytes }) => sum + bytes.length, 0));
    await this.#guarded(() => {
      this.#options.handler.onFetched({ topic, topicId, partition, fetchOffset: from, untilOffset, highWatermark, batches });
    });
    return true;
  }

  /** `gone`: the topic, or the incarnation of it that is read, is no more; a change of the topics tells what is now. */
  async #read(
    cursor: Cursor,
    from: bigint,
    maxBytes = this.#options.maxFetchBytes ?? defaultMaxFetchBytes,
  ): Promise<LogRead | 'gone' | undefined> {
    const options = {
      readCommitted: this.#options.readCommitted ?? true,
      maxBytes,
    };
    try {
      return await this.#cluster.request(this.#link, 'fetch', () => this.#cluster.log(cursor, cursor.topicId).read(from, options));
    } catch (error) {
      if (isServiceError(error, 'not-found', 'discontinuity')) return 'gone';
      if (isServiceError(error) && isTransient(error)) {
        if (this.#link.state !== 'crashed') await this.#cluster.clock.sleep(retryMs);
        else this.#close();
      } else {
        this.#fail(error);
      }
      return undefined;
    }
  }

  #outOfRange(position: StartPosition, read: { readonly earliest: bigint; readonly latest: bigint }): void {
    const { handler } = this.#options;
    if (handler.onOutOfRange === undefined) {
      this.#fail(kafkaOffsetOutOfRange(position, read));
      return;
    }
    handler.onOutOfRange(position, { topic: position.topic, partition: position.partition, earliest: read.earliest, latest: read.latest });
  }

  async #guarded(call: () => Promise<void> | void): Promise<void> {
    if (!this.#isRunning() || this.#link.state === 'crashed') return;
    try {
      await call();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!this.#isRunning()) return;
    this.#close();
    this.#cluster.group(this.#options.groupId).leave(this.memberId);
    if (this.#link.state !== 'crashed') this.#options.handler.onFailed(error);
  }

  /** Waits for the handler's calls, but not for those of a client that crashed: they may never end. */
  #settled(): Promise<void> {
    return this.#link.state === 'crashed' ? Promise.resolve() : this.#calls;
  }

  #setPaused(partitions: readonly TopicPartition[], paused: boolean): void {
    for (const partition of partitions) {
      const cursor = this.#cursors.get(keyOf(partition));
      if (cursor !== undefined) cursor.paused = paused;
    }
  }

  #close(): void {
    this.#state = 'stopped';
    this.#stopping.abort();
    this.#stopListening();
    this.#change();
  }

  #change(): void {
    this.#changes += 1;
    this.#wake();
  }

  #isRunning(): boolean {
    return this.#state === 'running';
  }
}

function keyOf(at: TopicPartition): string {
  return `${at.topic}/${at.partition}`;
}

function missingIn(shape: ReadonlyMap<string, TopicDescription | undefined>): readonly string[] {
  return [...shape].flatMap(([topic, now]) => (now === undefined ? [topic] : []));
}

function isSame(one: TopicDescription | undefined, other: TopicDescription | undefined): boolean {
  return one?.topicId === other?.topicId && one?.partitions === other?.partitions;
}

function isPaused(cursor: Cursor): boolean {
  return cursor.paused;
}

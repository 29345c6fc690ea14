import type { Clock } from '../../base/clock.ts';
import { serviceError } from '../../base/errors.ts';
import type {
  ConsumerHandler,
  ConsumerOptions,
  FetchedPartition,
  KafkaClient,
  KafkaConsumer,
  PartitionOffsets,
  StartPosition,
  TopicPartition,
  TopicsChange,
} from '../../kafka/client.ts';
import type { DivideResult, DivisionSpec, MadePart, RecordDivider } from '../../protocol/division.ts';
import type { MemoryLedger, MemoryShare } from '../memory/memory-ledger.ts';
import { type FetchedPart, ownPart, partOf } from './fetched-part.ts';
import { GrowingDivision, type MadeTables, type TableMaker } from './growing-division.ts';
import { type Lane, partitionKey } from './lane.ts';
import { nextRead } from './next-read.ts';
import { type Generation, newGeneration, outOfRange, type PartitionRead, placeOf } from './reading.ts';

export interface LaneReaderOptions {
  readonly kafka: Pick<KafkaClient, 'consumer'>;
  readonly division: DivisionSpec;
  readonly divider: RecordDivider;
  readonly groupId: string;
  /** Topics that every table reads whole. */
  readonly isWhole: (topic: string) => boolean;
  readonly clock: Clock;
  /** Of the process. Absent: only the reader's own limit holds. */
  readonly memory?: MemoryLedger | undefined;
  /** Told when the others of its route wait no longer for a table that takes nothing. */
  readonly onLeftBehind: (table: string, at: TopicPartition) => void;
  /** Of a division with a template. */
  readonly maker?: TableMaker | undefined;
  /** Told of tables that were made; their ingests are to be started. */
  readonly onMade?: ((parts: readonly MadePart[]) => void) | undefined;
  /** Told when tables could not be made; it is tried again. */
  readonly onNotMade?: ((keys: readonly string[], error: unknown) => void) | undefined;
}

/** How long the first table to read waits for the others, so that all begin together. */
const gatherMs = 3_000;
/** How long the others wait for a table that is full. */
const patienceMs = 10_000;
const gatherStepMs = 20;
/** How long after tables could not be made it is tried again. */
const makeAgainMs = 5_000;
/** Bytes fetched and not divided above which fetching waits. */
const maxPendingBytes = 32 * 1024 * 1024;

/**
 * Reads the topics of a route once for all the tables that its records are divided among (docs/adr/0018-one-reader-many-tables.md). Each table has a
 * `KafkaConsumer` of its own here, and knows nothing of the others: it starts at its own marks, seeks, pauses and stops as it likes. What it was
 * handed is exactly what it would have fetched alone, without the records of others.
 */
export class LaneReader {
  readonly #options: LaneReaderOptions;
  readonly #division: GrowingDivision;
  #consumer: KafkaConsumer | undefined;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #closed = new AbortController();
  #generation: Generation | undefined;
  readonly #share: MemoryShare | undefined;
  #pendingBytes = 0;

  constructor(options: LaneReaderOptions) {
    this.#options = options;
    const nothing = (): void => undefined;
    // What it has is on its way to the tables, and they say when they are full.
    this.#share = options.memory?.open(options.groupId, { changed: nothing, relieve: nothing });
    this.#division = new GrowingDivision(options.division);
  }

  get #lanes(): readonly Lane[] {
    return this.#division.lanes;
  }

  /** Takes in tables that were made. */
  add(made: MadeTables): void {
    const parts = this.#division.add(made);
    if (parts.length > 0) this.#options.onMade?.(parts);
  }

  /** Where a table that was made begins in a partition that it has no mark of. */
  beginningAt(at: TopicPartition, topicId: string): bigint | undefined {
    return this.#division.beginningAt(at, topicId);
  }

  /** The consumer of one table. */
  consumer(table: string, options: ConsumerOptions): KafkaConsumer {
    const lane = this.#lanes.find((each) => each.table === table);
    if (lane === undefined) throw serviceError.internal('ASSERTION_FAILED', `a division has no table "${table}"`);
    return {
      start: () => this.#attach(lane, options),
      stop: () => this.#detach(lane),
      pause: (partitions) => {
        for (const at of partitions) lane.pause(at, this.#options.clock.monotonicMs());
        this.#steerAll();
        if (partitions.length > 0) void this.#steerLater();
      },
      resume: (partitions) => {
        for (const at of partitions) lane.resume(at);
        this.#steerAll();
      },
      seek: (position) => {
        lane.mark([position]);
        lane.seek(position);
        this.#steerAll();
      },
      commitGroupOffsets: (positions) => this.#publish(lane, positions),
    };
  }

  async #attach(lane: Lane, options: ConsumerOptions): Promise<void> {
    lane.clear();
    lane.handler = options.handler;
    this.#opening ??= this.#open(options);
    const opening = this.#opening;
    await opening;
    const generation = this.#generation;
    if (generation === undefined || lane.handler !== options.handler) return;
    await this.#place(lane, generation);
    this.#steerAll();
  }

  async #detach(lane: Lane): Promise<void> {
    if (lane.handler !== undefined) {
      lane.handler = undefined;
      lane.clear();
      this.#steerAll();
      if (this.#lanes.every(({ handler }) => handler === undefined)) this.#close();
    }
    await this.#closing;
  }

  /** Whoever starts from now on opens another consumer, when this one is gone. */
  #close(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#endGeneration();
    this.#closed.abort();
    this.#closing = this.#closing
      .catch(() => undefined)
      .then(async () => {
        await opening?.catch(() => undefined);
        const consumer = this.#consumer;
        this.#consumer = undefined;
        this.#endGeneration();
        await consumer?.stop();
      });
    this.#closing.catch(() => undefined);
  }

  async #open(options: ConsumerOptions): Promise<void> {
    await this.#closing.catch(() => undefined);
    this.#closed = new AbortController();
    await this.#gather(this.#closed.signal);
    const { kafka, groupId } = this.#options;
    const consumer = kafka.consumer({ ...options, groupId, handler: this.#handler(), allowance: this.#share });
    this.#consumer = consumer;
    await consumer.start();
  }

  async #gather(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const since = clock.monotonicMs();
    while (this.#lanes.some(({ handler }) => handler === undefined) && clock.monotonicMs() - since < gatherMs && !signal.aborted)
      await clock.sleep(gatherStepMs, signal).catch(() => undefined);
  }

  #handler(): ConsumerHandler {
    return {
      onAssigned: (partitions, generation) => this.#assigned(partitions, generation),
      onRevoked: async (generation) => {
        this.#endGeneration();
        await this.#tell((handler) => handler.onRevoked(generation));
      },
      onTopicsChanged: async (change) => {
        await this.#topicsChanged(change);
      },
      onFetched: (fetched) => {
        this.#fetched(fetched);
      },
      onOutOfRange: (position, held) => {
        this.#outOfRange(position, held);
      },
      onFailed: (error) => {
        this.#fail(error);
      },
    };
  }

  async #assigned(partitions: readonly TopicPartition[], number: number): Promise<readonly StartPosition[]> {
    this.#endGeneration();
    const generation = newGeneration(partitions, number);
    this.#generation = generation;
    for (const lane of this.#lanes) lane.clear();
    // The others may begin where it stands.
    if (this.#division.pattern !== undefined) await this.#place(this.#division.pattern, generation);
    await Promise.all(this.#lanes.map((lane) => this.#place(lane, generation)));
    // Positions are set by `seek`: tables that come later move them, too.
    this.#steerAll();
    return [];
  }

  /** Asks a table where it stands. One that cannot say is not read for. */
  async #place(lane: Lane, generation: Generation): Promise<void> {
    const { handler } = lane;
    if (handler === undefined || !lane.takePlacing(generation)) return;
    try {
      const positions = await handler.onAssigned(generation.partitions, generation.number);
      if (lane === this.#division.pattern) await this.#learn(generation.ended.signal);
      if (this.#generation !== generation || lane.handler !== handler) return;
      lane.mark(positions);
      lane.place(positions);
    } catch (error) {
      handler.onFailed(error);
    }
  }

  /** Which tables there are. What this member reads now may have been divided by others. */
  async #learn(signal: AbortSignal): Promise<void> {
    const made = await this.#options.maker?.known(signal);
    if (made !== undefined) this.add(made);
  }

  async #make(keys: readonly string[]): Promise<void> {
    const { maker, clock, onNotMade } = this.#options;
    const { signal } = this.#closed;
    if (maker === undefined || keys.length === 0) return;
    this.#division.startMaking(keys);
    try {
      this.add(await maker.make(keys, signal));
    } catch (error) {
      if (!signal.aborted) onNotMade?.(keys, error);
      await clock.sleep(makeAgainMs, signal).catch(() => undefined);
    } finally {
      this.#division.endMaking(keys);
      this.#steerAll();
    }
  }

  async #topicsChanged(change: TopicsChange): Promise<void> {
    await Promise.all([...(this.#generation?.reads.values() ?? [])].map(({ tail }) => tail));
    await this.#tell((handler) => handler.onTopicsChanged(change));
  }

  #fetched(fetched: FetchedPartition): void {
    const generation = this.#generation;
    const read = generation?.reads.get(partitionKey(fetched));
    if (generation === undefined || read === undefined || read.at !== fetched.fetchOffset) return;
    const part = ownPart(fetched);
    read.at = fetched.untilOffset;
    read.end = fetched.highWatermark;
    read.pending.push(part);
    this.#holdPending(part.bytes.length);
    const divided = this.#divide(part, generation.ended.signal);
    // Looked at when those before it were handed on.
    divided.catch(() => undefined);
    read.tail = read.tail.then(() => this.#handOn(generation, read, part, divided));
    this.#steerAll();
  }

  async #divide({ fetched, bytes, spans }: FetchedPart, signal: AbortSignal): Promise<DivideResult | undefined> {
    const { divider, isWhole } = this.#options;
    const { topic, partition } = fetched;
    if (spans.length === 0 || isWhole(topic)) return undefined;
    return divider.divide({ spec: this.#division.spec, topic, partition, bytes, batches: spans }, signal);
  }

  async #handOn(generation: Generation, read: PartitionRead, part: FetchedPart, divided: Promise<DivideResult | undefined>): Promise<void> {
    try {
      const result = await divided;
      if (this.#generation === generation) this.#deliver(part, result);
    } catch (error) {
      if (this.#generation === generation) this.#fail(error);
    } finally {
      read.pending.shift();
      this.#holdPending(-part.bytes.length);
      this.#steerAll();
    }
  }

  #holdPending(changeBytes: number): void {
    this.#pendingBytes += changeBytes;
    this.#share?.keep(0, this.#pendingBytes);
  }

  #deliver(part: FetchedPart, divided: DivideResult | undefined): void {
    const { fetched } = part;
    const { holdsBack, make } = divided === undefined ? nothingHeld : this.#division.judge(fetched, divided);
    void this.#make(make);
    for (const [index, lane] of this.#lanes.entries()) {
      if (holdsBack && lane === this.#division.pattern) continue;
      // It came after the records were divided, and is read for again.
      if (divided !== undefined && divided.parts[index] === undefined) continue;
      const { handler } = lane;
      const cursor = lane.cursorAt(fetched);
      if (handler === undefined || cursor === undefined || this.#isLeftBehind(lane, fetched)) continue;
      const { offset, topicId } = cursor;
      if (offset < fetched.fetchOffset || offset >= fetched.untilOffset || (topicId ?? fetched.topicId) !== fetched.topicId) continue;
      // Before it is handed on: who takes it may seek or pause.
      lane.seek({ ...fetched, offset: fetched.untilOffset, topicId });
      try {
        handler.onFetched(partOf(part, offset, divided?.parts[index]));
      } catch (error) {
        handler.onFailed(error);
      }
    }
  }

  #outOfRange(position: StartPosition, held: PartitionOffsets): void {
    const read = this.#generation?.reads.get(partitionKey(position));
    if (read === undefined) return;
    read.at = undefined;
    for (const lane of this.#lanes) {
      const { handler } = lane;
      if (handler === undefined || lane.cursorAt(position)?.offset !== position.offset) continue;
      lane.rest(position);
      if (handler.onOutOfRange === undefined) handler.onFailed(outOfRange(position));
      else handler.onOutOfRange(position, held);
    }
    this.#steerAll();
  }

  /** For lag tools, which see the table that is furthest behind of those that have published. */
  async #publish(lane: Lane, positions: readonly StartPosition[]): Promise<void> {
    lane.publish(positions);
    const attached = this.#lanes.filter(({ handler }) => handler !== undefined);
    const least = positions.map((position) => {
      const offsets = attached.flatMap((each) => each.published(position) ?? []);
      return { ...position, offset: offsets.reduce((lowest, offset) => (offset < lowest ? offset : lowest), position.offset) };
    });
    await this.#consumer?.commitGroupOffsets(least);
  }

  #steerAll(): void {
    for (const read of this.#generation?.reads.values() ?? []) this.#steer(read);
  }

  /** When those that wait for a full table have lost their patience. */
  async #steerLater(): Promise<void> {
    const { signal } = this.#closed;
    await this.#options.clock.sleep(patienceMs, signal).catch(() => undefined);
    if (!signal.aborted) this.#steerAll();
  }

  #steer(read: PartitionRead): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    const cursors: bigint[] = [];
    let topicId: string | undefined;
    let waits = this.#pendingBytes > maxPendingBytes;
    for (const lane of this.#lanes) {
      const cursor = lane.cursorAt(read);
      if (lane.handler === undefined || cursor === undefined) continue;
      if (this.#isLeftBehind(lane, read)) continue;
      if (lane === this.#division.pattern && this.#division.isHeldBack(read)) continue;
      if (lane.pausedSinceMs(read) !== undefined) waits = true;
      cursors.push(cursor.offset);
      topicId ??= cursor.topicId;
    }
    const pendingFrom = read.pending[0]?.fetched.fetchOffset;
    const next = nextRead({ ...read, cursors, waits, pendingFrom });
    read.servedBehind = next.servesBehind;
    if (next.seek !== undefined) {
      read.at = next.seek;
      consumer.seek({ ...placeOf(read), offset: next.seek, topicId });
    }
    if (next.paused === read.paused) return;
    read.paused = next.paused;
    if (next.paused) consumer.pause([placeOf(read)]);
    else consumer.resume([placeOf(read)]);
  }

  #isLeftBehind(lane: Lane, at: TopicPartition): boolean {
    const since = lane.pausedSinceMs(at);
    if (since === undefined || this.#options.clock.monotonicMs() - since < patienceMs) return false;
    if (lane.leaveBehind(at)) this.#options.onLeftBehind(lane.table, placeOf(at));
    return true;
  }

  #endGeneration(): void {
    this.#generation?.ended.abort();
    this.#generation = undefined;
  }

  async #tell(say: (handler: ConsumerHandler) => Promise<void>): Promise<void> {
    await Promise.all(this.#lanes.flatMap(({ handler }) => (handler === undefined ? [] : [say(handler)])));
  }

  /** Nothing can be read for any table: each ends, and starts again in its own time. */
  #fail(error: unknown): void {
    const handlers = this.#lanes.map(({ handler }) => handler);
    for (const lane of this.#lanes) {
      lane.handler = undefined;
      lane.clear();
    }
    this.#close();
    for (const handler of handlers) handler?.onFailed(error);
  }
}

const nothingHeld = { holdsBack: false, make: [] };

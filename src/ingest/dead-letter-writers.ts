import type { Clock } from '../base/clock.ts';
import { mapBounded } from '../base/map-bounded.ts';
import type { KafkaClient, TransactionalProducer } from '../kafka/client.ts';
import { type DeadLetter, deadLetterNameOf } from './dead-letter-record.ts';
import { untilVisible } from './visible-end.ts';

/** Producers open at once, each with connections of its own; the one not used for longest makes room. */
export const maxOpenWriters = 64;
// A worker that was killed leaves its transaction open for so long, unless another one takes its partition over.
const transactionTimeoutMs = 20_000;
const openedAtOnce = 16;
/**
 * How far a producer's clock may be ahead where the topic stamps dead letters itself (`message.timestamp.type=LogAppendTime`). By default a dead letter
 * keeps its record's time, and this is not needed.
 */
const maxAheadMs = 600_000;

/** A source partition whose dead letters go to one partition of the topic. */
export interface LetterSource {
  /** The name of the source partition, `writerIdOf`. */
  readonly source: string;
  /** The same for every worker that ever reads the partition for the table. */
  readonly transactionalId: string;
  /** Of the dead-letter topic. */
  readonly partition: number;
}

/** The dead letters of one source partition that are to be in the topic. */
export interface SourceLetters extends LetterSource {
  /** Where the batch begins: everything before it is in the table or among the dead letters for good. */
  readonly from: bigint;
  readonly letters: readonly DeadLetter[];
}

/** The right to write the dead letters of one source partition, and what its earlier owners have written. */
export interface DeadLetterWriter {
  readonly producer: TransactionalProducer;
  /** Times by offsets of records that are in the topic as dead letters, from `from` on. */
  readonly published: Map<bigint, number>;
  /** Dead letters of records before it are forgotten. */
  from: bigint;
  /** Dead letters of records of that time and later are known. */
  sinceMs: number;
}

/**
 * The open transactional producers of one table, one for each source partition. To open one fences the worker that had the partition
 * before, and aborts what it left open; only then it is read what is in the topic already. So between that reading and a transaction of the
 * producer nobody else can have written dead letters of the partition.
 */
export class DeadLetterWriters {
  readonly #kafka: KafkaClient;
  readonly #clock: Clock;
  readonly #at: { readonly topic: string; readonly table: string };
  /** By source, the one used last at the end. */
  readonly #open = new Map<string, DeadLetterWriter>();

  constructor(options: { readonly kafka: KafkaClient; readonly clock: Clock; readonly topic: string; readonly table: string }) {
    this.#kafka = options.kafka;
    this.#clock = options.clock;
    this.#at = options;
  }

  /**
   * The writers of some source partitions, `maxOpenWriters` at most, in their order.
   *
   * @param others the other partitions of the batch: whoever had them before may have died within a transaction.
   * @throws ServiceError `DEAD_LETTERS_UNREADABLE` (unavailable) when an open transaction hides the end of the topic.
   */
  async of(wanted: readonly SourceLetters[], others: readonly LetterSource[], signal?: AbortSignal): Promise<readonly DeadLetterWriter[]> {
    for (const letters of wanted) {
      const open = this.#open.get(letters.source);
      if (open !== undefined && !knows(open, letters)) await this.drop(letters.source);
    }
    await this.#makeRoom(wanted);
    const opened = new Map<string, DeadLetterWriter>();
    try {
      await mapBounded(
        wanted.filter(({ source }) => !this.#open.has(source)),
        openedAtOnce,
        async (letters) => opened.set(letters.source, await this.#opened(letters)),
      );
      await this.#learn(opened, others, signal);
    } catch (error) {
      await Promise.all([...opened.values()].map(({ producer }) => producer.close()));
      throw error;
    }
    for (const [source, writer] of opened) this.#open.set(source, writer);
    return wanted.flatMap(({ source, from }) => this.#used(source, from) ?? []);
  }

  /** Closes the writer of a source partition, if it is open. */
  async drop(source: string): Promise<void> {
    const writer = this.#open.get(source);
    this.#open.delete(source);
    await writer?.producer.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((source) => this.drop(source)));
  }

  async #opened({ transactionalId, from, letters }: SourceLetters): Promise<DeadLetterWriter> {
    const producer = await this.#kafka.openTransactional({ transactionalId, transactionTimeoutMs });
    return { producer, published: new Map(), from, sinceMs: oldestOf(letters) - maxAheadMs };
  }

  #used(source: string, from: bigint): DeadLetterWriter | undefined {
    const writer = this.#open.get(source);
    if (writer === undefined) return undefined;
    this.#open.delete(source);
    this.#open.set(source, writer);
    writer.from = from;
    for (const offset of writer.published.keys()) if (offset < from) writer.published.delete(offset);
    return writer;
  }

  async #makeRoom(wanted: readonly SourceLetters[]): Promise<void> {
    const needed = new Set(wanted.map(({ source }) => source));
    const idle = [...this.#open.keys()].filter((source) => !needed.has(source));
    const excess = idle.length + needed.size - maxOpenWriters;
    for (const source of idle.slice(0, Math.max(0, excess))) await this.drop(source);
  }

  /** Reads what earlier owners of the partitions have written: once for all of them, and no further back than records of their age can lie. */
  async #learn(
    writers: ReadonlyMap<string, DeadLetterWriter>,
    others: readonly LetterSource[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (writers.size === 0) return;
    const { topic, table } = this.#at;
    const sinceMs = Math.min(...[...writers.values()].map((writer) => writer.sinceMs));
    const spans = await this.#kafka.admin.recordsSince(topic, sinceMs);
    await untilVisible({ admin: this.#kafka.admin, clock: this.#clock }, topic, spans, signal, (hidden) =>
      this.#abortLeftOpen(others, hidden),
    );
    for (const { partition, from, until } of spans) {
      if (from >= until) continue;
      for await (const record of this.#kafka.readPartition({ topic, partition, from, until, readCommitted: true, signal })) {
        const letter = deadLetterNameOf(record);
        if (letter === undefined || letter.table !== table) continue;
        const writer = writers.get(letter.source);
        if (writer !== undefined && letter.offset >= writer.from) writer.published.set(letter.offset, letter.timestampMs);
      }
    }
  }

  /** To open a producer aborts what its name has left open; without that the broker does so when the transaction's time is over. */
  async #abortLeftOpen(sources: readonly LetterSource[], hidden: ReadonlySet<number>): Promise<void> {
    const suspects = sources.filter(({ source, partition }) => hidden.has(partition) && !this.#open.has(source));
    await mapBounded(suspects.slice(0, maxOpenWriters), openedAtOnce, async ({ transactionalId }) => {
      await (await this.#kafka.openTransactional({ transactionalId, transactionTimeoutMs })).close();
    });
  }
}

/** Whether what was read when the writer was opened, and what it wrote since, is all that matters to these letters. */
function knows(writer: DeadLetterWriter, { from, letters }: SourceLetters): boolean {
  // The table may have been restored to an older version, and older records may come late.
  return from >= writer.from && oldestOf(letters) >= writer.sinceMs;
}

function oldestOf(letters: readonly DeadLetter[]): number {
  return letters.reduce((oldest, { reject }) => Math.min(oldest, reject.timestampMs), Number.POSITIVE_INFINITY);
}

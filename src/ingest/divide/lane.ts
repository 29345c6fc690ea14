import type { ConsumerHandler, StartPosition, TopicPartition } from '../../kafka/client.ts';

/** Where one table goes on in a partition. */
interface LaneCursor {
  offset: bigint;
  readonly topicId: string | undefined;
}

/** One table of a divided route: who takes its records, and where it stands. */
export class Lane {
  readonly table: string;
  /** What its table was made for; `undefined`: it is a listed one. */
  readonly key: string | undefined;
  /** `undefined`: its ingest does not run. */
  handler: ConsumerHandler | undefined;
  readonly #cursors = new Map<string, LaneCursor>();
  /** When it became full, `Clock.monotonicMs`. */
  readonly #pausedSinceMs = new Map<string, number>();
  readonly #leftBehind = new Set<string>();
  readonly #published = new Map<string, bigint>();
  #placedIn: object | undefined;
  /** Partitions of topics that its table has a mark of. They stay: so do marks. */
  readonly #marked = new Set<string>();

  constructor(table: string, key?: string) {
    this.table = table;
    this.key = key;
  }

  /** Where it goes on; `undefined`: it does not read the partition. */
  cursorAt(at: TopicPartition): Readonly<LaneCursor> | undefined {
    return this.#cursors.get(partitionKey(at));
  }

  seek(position: StartPosition): void {
    this.#cursors.set(partitionKey(position), { offset: position.offset, topicId: position.topicId });
  }

  /** Its table has a mark of the partition, of this incarnation of its topic. */
  isMarked(at: TopicPartition & { readonly topicId: string }): boolean {
    return this.#marked.has(`${at.topicId}:${partitionKey(at)}`);
  }

  /** What a table was made for is placed where its marks are, which are stored first. */
  mark(positions: readonly StartPosition[]): void {
    if (this.key === undefined) return;
    for (const position of positions) this.#marked.add(`${position.topicId ?? ''}:${partitionKey(position)}`);
  }

  /** Places it where it has not been placed otherwise meanwhile. */
  place(positions: readonly StartPosition[]): void {
    for (const position of positions) if (!this.#cursors.has(partitionKey(position))) this.seek(position);
  }

  rest(at: TopicPartition): void {
    this.#cursors.delete(partitionKey(at));
  }

  pause(at: TopicPartition, nowMs: number): void {
    const key = partitionKey(at);
    if (!this.#pausedSinceMs.has(key)) this.#pausedSinceMs.set(key, nowMs);
  }

  resume(at: TopicPartition): void {
    this.#pausedSinceMs.delete(partitionKey(at));
    this.#leftBehind.delete(partitionKey(at));
  }

  /** The others of its route wait for it no longer. True the first time. */
  leaveBehind(at: TopicPartition): boolean {
    const key = partitionKey(at);
    const isNew = !this.#leftBehind.has(key);
    this.#leftBehind.add(key);
    return isNew;
  }

  /** It is asked for its places once a generation. */
  takePlacing(generation: object): boolean {
    const isNew = this.#placedIn !== generation;
    this.#placedIn = generation;
    return isNew;
  }

  pausedSinceMs(at: TopicPartition): number | undefined {
    return this.#pausedSinceMs.get(partitionKey(at));
  }

  published(at: TopicPartition): bigint | undefined {
    return this.#published.get(partitionKey(at));
  }

  publish(positions: readonly StartPosition[]): void {
    for (const position of positions) this.#published.set(partitionKey(position), position.offset);
  }

  /** Forgets where it stands; a generation is over, or its ingest. */
  clear(): void {
    this.#cursors.clear();
    this.#pausedSinceMs.clear();
    this.#leftBehind.clear();
    this.#placedIn = undefined;
    this.#published.clear();
  }
}

export function partitionKey({ topic, partition }: TopicPartition): string {
  return `${partition}:${topic}`;
}

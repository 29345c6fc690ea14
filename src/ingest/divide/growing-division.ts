import type { TopicPartition } from '../../kafka/client.ts';
import type { DivideResult, DivisionSpec, MadePart } from '../../protocol/division.ts';
import { Lane, partitionKey } from './lane.ts';

/** Tables that a template has made, as they are stored. */
export interface MadeTables {
  readonly parts: readonly MadePart[];
  /** No more are made. */
  readonly isFull: boolean;
}

/** Makes the tables of a template, and starts their ingests. */
export interface TableMaker {
  /** Those there are. To be asked after the marks of the table they are made like have been read: what is below these has its tables by then. */
  known(signal: AbortSignal): Promise<MadeTables>;
  /** Those there are when each of the keys has one, as far as more may be made. */
  make(keys: readonly string[], signal: AbortSignal): Promise<MadeTables>;
}

/** Where one fetch was of. */
type FetchedFrom = TopicPartition & { readonly topicId: string; readonly untilOffset: bigint };

interface HeldBack {
  readonly topicId: string;
  readonly keys: ReadonlySet<string>;
}

/**
 * The lanes of a division, which grow by those of the tables that its template makes.
 *
 * What keeps that exact: the table that others are made like has a lane of its own, whose mark passes no record until the table that the record is
 * for has a mark of its own for the partition. So below that lane there is nothing for a table without a mark, and a table begins where that lane is.
 */
export class GrowingDivision {
  readonly #lanes: Lane[];
  /** Of the table that others are made like. */
  readonly pattern: Lane | undefined;
  #spec: DivisionSpec;
  readonly #heldBack = new Map<string, HeldBack>();
  /** Keys whose tables are being made. */
  readonly #making = new Set<string>();

  constructor(spec: DivisionSpec) {
    this.#spec = spec;
    this.#lanes = spec.parts.map(({ table }) => new Lane(table));
    this.pattern = spec.template === undefined ? undefined : this.#lanes.at(-1);
  }

  /** As the records are divided from now on. Parts are only ever added, behind the others. */
  get spec(): DivisionSpec {
    return this.#spec;
  }

  get lanes(): readonly Lane[] {
    return this.#lanes;
  }

  /** Gives those that are new. */
  add({ parts, isFull }: MadeTables): readonly MadePart[] {
    const { template } = this.#spec;
    if (template === undefined) return [];
    const fresh = parts.filter(({ key }) => !this.#lanes.some((lane) => lane.key === key));
    if (fresh.length === 0 && (template.isFull ?? false) === isFull) return [];
    this.#lanes.push(...fresh.map(({ table, key }) => new Lane(table, key)));
    const added = fresh.map(({ table, key }) => ({ table, values: [key] }));
    this.#spec = { ...this.#spec, template: { ...template, isFull }, parts: [...this.#spec.parts, ...added] };
    return fresh;
  }

  /**
   * Whether the pattern's lane is held back before what was fetched, because a record of it is for a table that has no mark there yet; and the keys
   * that a table is to be made for now.
   */
  judge(fetched: FetchedFrom, { wanted, parts }: DivideResult): { readonly holdsBack: boolean; readonly make: readonly string[] } {
    const { pattern } = this;
    const cursor = pattern?.cursorAt(fetched);
    // Where the pattern stands further on, each record has been seen to: tables that came since begin behind it.
    if (cursor === undefined || cursor.offset >= fetched.untilOffset) return { holdsBack: false, make: [] };
    const unmarked = this.#lanes.flatMap(({ key }, index) => {
      const hasRecords = (parts[index]?.batches.length ?? 0) > 0;
      return key !== undefined && hasRecords && !this.#lanes[index]?.isMarked(fetched) ? [key] : [];
    });
    const keys = [...wanted, ...unmarked];
    if (keys.length === 0) return { holdsBack: false, make: [] };
    const { topicId } = fetched;
    const held = this.#heldBack.get(partitionKey(fetched));
    const before = held?.topicId === topicId ? held.keys : [];
    this.#heldBack.set(partitionKey(fetched), { topicId, keys: new Set([...before, ...keys]) });
    const make = wanted.filter((key) => !this.#making.has(key) && !this.#lanes.some((lane) => lane.key === key));
    return { holdsBack: true, make };
  }

  /** The pattern's lane is not read for meanwhile. */
  isHeldBack(at: TopicPartition): boolean {
    const held = this.#heldBack.get(partitionKey(at));
    if (held === undefined) return false;
    const place = { ...at, topicId: held.topicId };
    const waits = [...held.keys].some((key) => {
      const lane = this.#lanes.find((each) => each.key === key);
      // A key that got no table is divided anew, as one that nobody takes.
      return lane === undefined ? this.#making.has(key) : !lane.isMarked(place);
    });
    if (!waits) this.#heldBack.delete(partitionKey(at));
    return waits;
  }

  startMaking(keys: readonly string[]): void {
    for (const key of keys) this.#making.add(key);
  }

  endMaking(keys: readonly string[]): void {
    for (const key of keys) this.#making.delete(key);
  }

  /** Where a table begins that has no mark of a partition; `undefined`: nobody knows as long as the pattern's own ingest does not run. */
  beginningAt(at: TopicPartition, topicId: string): bigint | undefined {
    const cursor = this.pattern?.cursorAt(at);
    return cursor === undefined || (cursor.topicId ?? topicId) !== topicId ? undefined : cursor.offset;
  }
}

/** A record as it was produced: its number is its key, unique in a walk. */
export interface SourceRecord {
  readonly id: number;
  readonly poison: boolean;
}

/** What one incarnation of the source topic was given, by partition and offset. */
export interface Incarnation {
  readonly records: Map<number, SourceRecord[]>;
  /** Everything was committed when the topic was deleted: nothing of it may be missing. */
  whole: boolean;
}

const poisonEvery = 97;

/** What was produced to the source topic of a walk, over all its incarnations. */
export class SourceLedger {
  readonly incarnations: Incarnation[] = [{ records: new Map(), whole: false }];
  #count = 0;

  get current(): Incarnation {
    const newest = this.incarnations.at(-1);
    if (newest === undefined) throw new Error('a ledger has an incarnation');
    return newest;
  }

  get count(): number {
    return this.#count;
  }

  /** The topic was deleted and created again. `drained`: nothing was under way when it went. */
  begin(drained: boolean): void {
    this.current.whole = drained;
    this.incarnations.push({ records: new Map(), whole: false });
  }

  /** The next `count` records, to be handed to `landed` once the broker has them. */
  next(count: number): readonly SourceRecord[] {
    const first = this.#count;
    this.#count += count;
    return Array.from({ length: count }, (_, index) => ({ id: first + index, poison: (first + index) % poisonEvery === 0 }));
  }

  landed(partition: number, baseOffset: bigint, records: readonly SourceRecord[]): void {
    const known = this.current.records.get(partition) ?? [];
    if (BigInt(known.length) !== baseOffset)
      throw new Error(`partition ${partition} has ${known.length} records, these begin at ${baseOffset}`);
    this.current.records.set(partition, [...known, ...records]);
  }

  /** Next offset of each partition that has records. */
  get ends(): ReadonlyMap<number, number> {
    return new Map([...this.current.records].map(([partition, records]) => [partition, records.length]));
  }
}

import type { Engine, HeldRelation, ScanOptions } from '../engine/engine.ts';
import type { RowTarget } from './row-target.ts';

/** Reads files of the table at the version that an operation looks at. */
export type ScanFiles<File> = (files: readonly File[], options?: ScanOptions) => Promise<HeldRelation>;

/** One UPDATE, DELETE or MERGE being worked out, and what it holds until it ends. `File`: a data file as the table's format knows it. */
export class RowWork<File> {
  readonly target: RowTarget;
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  /** What the statement calls now, in microseconds. */
  readonly nowMicros: bigint;
  readonly scan: ScanFiles<File>;
  readonly #held: HeldRelation[] = [];

  constructor(parts: {
    readonly target: RowTarget;
    readonly engine: Engine;
    readonly signal: AbortSignal | undefined;
    readonly nowMicros: bigint;
    readonly scan: ScanFiles<File>;
  }) {
    this.target = parts.target;
    this.engine = parts.engine;
    this.signal = parts.signal;
    this.nowMicros = parts.nowMicros;
    this.scan = parts.scan;
  }

  /** Keeps a relation until the operation ends. */
  async holding(relation: Promise<HeldRelation>): Promise<HeldRelation> {
    const held = await relation;
    this.#held.push(held);
    return held;
  }

  async release(): Promise<void> {
    for (const held of this.#held.splice(0).reverse()) await held.dispose();
  }
}

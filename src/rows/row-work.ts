import type { Clock } from '../base/clock.ts';
import type { Engine, HeldRelation } from '../engine/engine.ts';
import type { StatementTime } from '../expr/time-zone.ts';
import type { RowTarget } from './row-target.ts';

/** One UPDATE, DELETE or MERGE being worked out, and what it holds until it ends. */
export class RowWork {
  readonly target: RowTarget;
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  /** What the statement calls now, and the zone of its local times. */
  readonly now: StatementTime;
  readonly clock: Clock;
  readonly #held: HeldRelation[] = [];

  constructor(parts: {
    readonly target: RowTarget;
    readonly engine: Engine;
    readonly signal: AbortSignal | undefined;
    readonly now: StatementTime;
    readonly clock: Clock;
  }) {
    this.target = parts.target;
    this.engine = parts.engine;
    this.signal = parts.signal;
    this.now = parts.now;
    this.clock = parts.clock;
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

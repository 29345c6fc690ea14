import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { KafkaAdmin, PartitionOffsets } from '../kafka/client.ts';
import { type SourceIdentities, type SourceIdentity, writerIdOf } from '../protocol/source-offsets.ts';
import { knownTopic } from './start-positions.ts';

/** Where a topic ended at a time: all that readers of committed records could see then lies before. */
interface SeenEnds {
  /** Before the broker was asked, `Clock.now`. */
  readonly atMs: number;
  readonly identity: SourceIdentity;
  readonly held: readonly PartitionOffsets[];
}

interface WatchedTopic {
  /** Oldest first. */
  seen: readonly SeenEnds[];
  /** Which of them each table was through when it asked last. */
  readonly passed: Map<string, number>;
}

export interface EndWatchParts {
  readonly admin: KafkaAdmin;
  readonly identities: SourceIdentities;
  readonly clock: Clock;
  /** Told after each look at the topics. */
  readonly onSeen: () => void;
}

/** How often topics are looked at, and how long each of many is given. */
const everyMs = 1_000;
const perTopicMs = 10;
/** Of a look that is so old, neighbours are kept that are this part of its age away: what lags by an hour is told to four minutes. */
const resolution = 1 / 16;

/** Asks for the ends of the topics of a process, so that a table with known marks can say through which time it is whole. */
export class EndWatch {
  readonly #parts: EndWatchParts;
  readonly #topics = new Map<string, WatchedTopic>();

  constructor(parts: EndWatchParts) {
    this.#parts = parts;
  }

  /** Looks until the signal fires. A broker that does not answer is asked again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onSeen } = this.#parts;
    const isOver = (): boolean => signal.aborted;
    while (!signal.aborted) {
      for (const topic of [...this.#topics.keys()]) if (!isOver()) await this.#look(topic);
      onSeen();
      await clock.sleep(everyMs + this.#topics.size * perTopicMs, signal).catch(() => undefined);
    }
  }

  /**
   * The newest time, in milliseconds since 1970, of which it is known that a table with these marks has every record that could be read before it in
   * these topics. `undefined`: of none. Topics that are asked about for the first time are looked at from now on.
   *
   * @param table who asks: looks that every table is past are forgotten.
   */
  validThrough(table: string, topics: Iterable<string>, marks: ReadonlyMap<string, bigint>): number | undefined {
    let least = Number.POSITIVE_INFINITY;
    for (const topic of topics) {
      const { seen, passed } = this.#topicOf(topic);
      const atMs = seen.findLast((each) => hasAll(each, marks))?.atMs ?? Number.NEGATIVE_INFINITY;
      passed.set(table, atMs);
      least = Math.min(least, atMs);
    }
    return Number.isFinite(least) ? least : undefined;
  }

  #topicOf(topic: string): WatchedTopic {
    const known = this.#topics.get(topic) ?? { seen: [], passed: new Map() };
    this.#topics.set(topic, known);
    return known;
  }

  async #look(topic: string): Promise<void> {
    const { admin, identities, clock } = this.#parts;
    const atMs = clock.now();
    try {
      const found = await knownTopic({ admin, identityOf: (name) => identities.identityOf(name) }, topic);
      if (found === undefined) return;
      const watched = this.#topicOf(topic);
      watched.seen = needed([...watched.seen, { atMs, ...found }], watched.passed);
    } catch (error) {
      if (!isServiceError(error)) throw error;
    }
  }
}

/** Without those that every table is past, the older ones apart from each other as far as they may be. */
function needed(seen: readonly SeenEnds[], passed: ReadonlyMap<string, number>): readonly SeenEnds[] {
  const newestMs = seen.at(-1)?.atMs ?? 0;
  const leastMs = Math.min(...passed.values());
  const kept: SeenEnds[] = [];
  for (const each of seen) {
    if (each.atMs < leastMs) continue;
    const gapMs = each.atMs - (kept.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
    if (gapMs >= (newestMs - each.atMs) * resolution) kept.push(each);
  }
  return kept;
}

function hasAll({ identity, held }: Omit<SeenEnds, 'atMs'>, marks: ReadonlyMap<string, bigint>): boolean {
  return held.every(({ partition, earliest, latest }) => {
    const mark = marks.get(writerIdOf(identity, partition));
    return mark === undefined ? earliest === latest : mark >= latest;
  });
}

import { type ServiceError, serviceError } from '../../base/errors.ts';
import { type LetterPlace, type ReplayedRecord, replayedOf } from '../../protocol/replayed-record.ts';
import { isMeant, type LetterFilter, type LetterReader } from './read-letters.ts';

/** Letters known to be replayed that are held at once, some 80 bytes each. */
const maxHeld = 1_000_000;

/** Which letters of one incarnation of a dead-letter topic were replayed, and when for the last time. */
export class ReplayedLetters {
  readonly #topicId: string;
  /** By partition and offset: milliseconds since 1970. */
  readonly #times = new Map<number, Map<bigint, number>>();
  #count = 0;

  constructor(topicId: string) {
    this.#topicId = topicId;
  }

  /** Letters that were replayed. */
  get count(): number {
    return this.#count;
  }

  add({ letter, replayedAt }: Pick<ReplayedRecord, 'letter' | 'replayedAt'>): void {
    if (letter.topicId !== this.#topicId) return;
    const ofPartition = this.#times.get(letter.partition) ?? new Map<bigint, number>();
    this.#times.set(letter.partition, ofPartition);
    if (!ofPartition.has(letter.offset)) this.#count += 1;
    ofPartition.set(letter.offset, Date.parse(replayedAt));
  }

  /** ISO 8601; `undefined`: it was not. */
  replayedAt({ partition, offset }: Pick<LetterPlace, 'partition' | 'offset'>): string | undefined {
    const timeMs = this.#times.get(partition)?.get(offset);
    return timeMs === undefined || Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
  }
}

/**
 * Reads which letters were replayed, of those the filter means. A replay topic that is not there has none.
 *
 * @throws ServiceError `DEAD_LETTER_REPLAYS_TOO_MANY` (invalid) above a million.
 */
export async function readReplayed(
  kafka: LetterReader,
  from: {
    readonly replayTopic: string;
    /** Of the dead-letter topic's incarnation. */
    readonly topicId: string;
    readonly filter: LetterFilter;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ReplayedLetters> {
  const { replayTopic: topic, topicId, filter, signal } = from;
  const found = new ReplayedLetters(topicId);
  if ((await kafka.admin.partitionCount(topic)) === undefined) return found;
  for (const { partition, earliest, latest } of await kafka.admin.offsets(topic)) {
    if (earliest >= latest) continue;
    for await (const { headers } of kafka.readPartition({ topic, partition, from: earliest, until: latest, readCommitted: true, signal })) {
      const replayed = replayedOf(headers);
      if (replayed === undefined || !isMeant({ ...replayed, source: replayed }, filter)) continue;
      found.add(replayed);
      if (found.count > maxHeld) throw tooMany(topic);
    }
  }
  return found;
}

function tooMany(topic: string): ServiceError {
  return serviceError.invalid('DEAD_LETTER_REPLAYS_TOO_MANY', `topic "${topic}" names more than ${maxHeld} letters that were replayed`, {
    hint: 'ask for fewer letters at once, with --table, --reason, --since and --until',
    context: { topic },
  });
}

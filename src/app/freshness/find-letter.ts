import type { LetterFound } from '../../admin/freshness.ts';
import { isServiceError } from '../../base/errors.ts';
import { readLetters } from '../../ingest/letters/read-letters.ts';
import type { FreshnessKafka } from './source-facts.ts';

/** `none`: there is no letter of the record, and there was none. `unknown`: there may have been one; the topic is not to be seen, or has lost letters. */
export type LetterSearch = LetterFound | 'none' | 'unknown';

/**
 * The letter of one record of one table. Reads letters as old as the record and newer ones; of a record whose time is not known, all.
 */
export async function findLetter(
  kafka: FreshnessKafka,
  wanted: {
    readonly deadLetterTopic: string;
    /** `writerIdOf` of the partition. */
    readonly source: string;
    readonly offset: bigint;
    readonly table: string;
    readonly timestampMs: number | undefined;
  },
  signal: AbortSignal | undefined,
): Promise<LetterSearch> {
  const { deadLetterTopic: topic, source, offset, table, timestampMs } = wanted;
  try {
    const letters = readLetters(kafka, { topic, filter: {}, writtenSinceMs: timestampMs, signal });
    for await (const { name, untilOffset, place, reason, rejectedAt } of letters) {
      if (name?.source !== source || name.table !== table) continue;
      if (name.offset <= offset && offset < (untilOffset ?? name.offset + 1n)) return { ...place, reason, rejectedAt };
    }
    if ((await kafka.admin.partitionCount(topic)) === undefined) return 'unknown';
    return (await kafka.admin.offsets(topic)).some(({ earliest }) => earliest > 0n) ? 'unknown' : 'none';
  } catch (error) {
    if (isServiceError(error, 'aborted') || !isServiceError(error)) throw error;
    return 'unknown';
  }
}

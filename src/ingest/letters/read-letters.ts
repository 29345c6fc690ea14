import { serviceError } from '../../base/errors.ts';
import type { KafkaClient } from '../../kafka/client.ts';
import { type StoredLetter, storedLetterOf } from './stored-letter.ts';

/** Which letters are meant; a member that is left out chooses all. */
export interface LetterFilter {
  readonly table?: string | undefined;
  /** Topic that the record came from. */
  readonly topic?: string | undefined;
  readonly reason?: string | undefined;
  /** Such as `VALUE_CONVERTER`. */
  readonly stage?: string | undefined;
  /** When the record was rejected: from this time on, up to but not at that one. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** What letters are read with. */
export type LetterReader = Pick<KafkaClient, 'readPartition'> & {
  readonly admin: Pick<KafkaClient['admin'], 'offsets' | 'partitionCount' | 'recordsSince'>;
};

/** The letters of committed transactions, partition by partition, each in order; holds one at a time. A topic that is not there has none. */
export async function* readLetters(
  kafka: LetterReader,
  from: {
    readonly topic: string;
    /** The incarnation that is meant. Default: the one that is found. */
    readonly topicId?: string | undefined;
    readonly filter: LetterFilter;
    /** Only letters that were written at this time or later, by the time of their records. Default: all. */
    readonly writtenSinceMs?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): AsyncGenerator<StoredLetter, void, undefined> {
  const { topic, topicId, filter, writtenSinceMs, signal } = from;
  if ((await kafka.admin.partitionCount(topic)) === undefined) return;
  const held = await kafka.admin.offsets(topic);
  const since = writtenSinceMs === undefined ? undefined : await kafka.admin.recordsSince(topic, writtenSinceMs);
  for (const { partition, earliest, latest } of held) {
    const first = since === undefined ? earliest : since.find((span) => span.partition === partition)?.from;
    if (first === undefined) continue;
    const start = first < earliest ? earliest : first;
    if (start >= latest) continue;
    const range = { topic, topicId, partition, from: start, until: latest, readCommitted: true, signal };
    for await (const record of kafka.readPartition(range)) {
      const letter = storedLetterOf(record);
      if (isMeant(letter, filter)) yield letter;
    }
  }
}

/** @throws ServiceError `DEAD_LETTER_NOT_FOUND` (not-found). */
export async function readLetter(
  kafka: LetterReader,
  at: { readonly topic: string; readonly partition: number; readonly offset: bigint; readonly signal?: AbortSignal | undefined },
): Promise<StoredLetter> {
  const { topic, partition, offset, signal } = at;
  const held = (await kafka.admin.partitionCount(topic)) === undefined ? [] : await kafka.admin.offsets(topic);
  const span = held.find((each) => each.partition === partition);
  if (span !== undefined && offset >= span.earliest && offset < span.latest) {
    const range = { topic, partition, from: offset, until: offset + 1n, readCommitted: true, signal };
    for await (const record of kafka.readPartition(range)) return storedLetterOf(record);
  }
  const there = span === undefined ? 'the topic has no such partition' : `the partition holds offsets ${span.earliest} to ${span.latest}`;
  throw serviceError.notFound(
    'DEAD_LETTER_NOT_FOUND',
    `no letter at offset ${offset} of partition ${partition} of topic "${topic}": ${there}`,
    {
      hint: 'tidewater dlq list shows the place of every letter; ends of transactions take offsets too',
      context: { topic, partition, offset },
    },
  );
}

/** What of a letter a filter looks at. */
export type LetterFacts = Pick<StoredLetter, 'table' | 'reason' | 'stage' | 'rejectedAt'> & {
  readonly source: Pick<StoredLetter['source'], 'topic'>;
};

export function isMeant(letter: LetterFacts, filter: LetterFilter): boolean {
  const { table, topic, reason, stage, sinceMs, untilMs } = filter;
  if (table !== undefined && letter.table !== table) return false;
  if (topic !== undefined && letter.source.topic !== topic) return false;
  if (reason !== undefined && letter.reason !== reason) return false;
  if (stage !== undefined && letter.stage !== stage) return false;
  if (sinceMs === undefined && untilMs === undefined) return true;
  const rejectedMs = Date.parse(letter.rejectedAt ?? '');
  // A letter that does not say when it was written is in no span of time.
  return rejectedMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && rejectedMs < (untilMs ?? Number.POSITIVE_INFINITY);
}

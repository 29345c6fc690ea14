import { type LetterFilter, readLetter, readLetters } from '../../ingest/letters/read-letters.ts';
import type { StoredLetter } from '../../ingest/letters/stored-letter.ts';
import type { Components } from '../components.ts';

export interface ListLettersOptions {
  readonly filter: LetterFilter;
  /** Letters to tell at most. */
  readonly limit: number | undefined;
}

/** Tells the letters one by one and waits each time. */
export async function listLetters(
  { kafka, config }: Components,
  { filter, limit = Number.POSITIVE_INFINITY }: ListLettersOptions,
  onLetter: (letter: StoredLetter) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let left = limit;
  for await (const letter of readLetters(kafka, { topic: config.ingest.deadLetters.topic, filter, signal })) {
    await onLetter(letter);
    left -= 1;
    if (left <= 0) return;
  }
}

export function showLetter(
  { kafka, config }: Components,
  at: { readonly partition: number; readonly offset: bigint },
  signal: AbortSignal,
): Promise<StoredLetter> {
  return readLetter(kafka, { topic: config.ingest.deadLetters.topic, ...at, signal });
}

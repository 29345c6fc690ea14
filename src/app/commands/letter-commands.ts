import { isServiceError } from '../../base/errors.ts';
import { CommittedRanges } from '../../ingest/letters/committed-ranges.ts';
import type { ReplayTable } from '../../ingest/letters/judge-letter.ts';
import { type LetterFilter, readLetter, readLetters } from '../../ingest/letters/read-letters.ts';
import { type ReplayOutcome, type ReplayReport, type ReplayRequest, replayLetters } from '../../ingest/letters/replay-letters.ts';
import { type ReplayedLetters, readReplayed } from '../../ingest/letters/replayed-letters.ts';
import type { StoredLetter } from '../../ingest/letters/stored-letter.ts';
import { isLetterRoute } from '../../ingest/settings.ts';
import type { Table } from '../../table/table.ts';
import type { Components } from '../components.ts';

export interface ListLettersOptions {
  readonly filter: LetterFilter;
  /** Letters to tell at most. */
  readonly limit: number | undefined;
}

/** A letter, and when it was replayed for the last time (ISO 8601); `undefined`: it was not. */
export interface FoundLetter {
  readonly letter: StoredLetter;
  readonly replayedAt: string | undefined;
}

/** Tells the letters one by one and waits each time. */
export async function listLetters(
  components: Components,
  { filter, limit = Number.POSITIVE_INFINITY }: ListLettersOptions,
  onLetter: (found: FoundLetter) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { kafka, config } = components;
  const replayed = await replayedLetters(components, filter, signal);
  let left = limit;
  for await (const letter of readLetters(kafka, { topic: config.ingest.deadLetters.topic, filter, signal })) {
    await onLetter({ letter, replayedAt: replayed?.replayedAt(letter.place) });
    left -= 1;
    if (left <= 0) return;
  }
}

export async function showLetter(
  components: Components,
  at: { readonly partition: number; readonly offset: bigint },
  signal: AbortSignal,
): Promise<FoundLetter> {
  const { kafka, config } = components;
  const letter = await readLetter(kafka, { topic: config.ingest.deadLetters.topic, ...at, signal });
  const { table, reason, stage } = letter;
  const replayed = await replayedLetters(components, { table, reason, stage }, signal);
  return { letter, replayedAt: replayed?.replayedAt(letter.place) };
}

export async function replayDeadLetters(
  components: Components,
  request: ReplayRequest,
  onOutcome: (letter: StoredLetter, outcome: ReplayOutcome) => Promise<void>,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const { kafka, clock, config } = components;
  const { topic: deadLetterTopic, replayTopic, partitions } = config.ingest.deadLetters;
  const tables = await replayTables(components, signal);
  const to = { kafka, clock, pipeline: config.pipeline, deadLetterTopic, replayTopic, partitions, tables };
  return replayLetters(to, request, onOutcome, signal);
}

/** The routed tables that are there, as they are. */
async function replayTables({ catalog, config, tables }: Components, signal: AbortSignal): Promise<ReadonlyMap<string, ReplayTable>> {
  const found = new Map<string, ReplayTable>();
  for (const route of tables.routes) {
    const { table } = route;
    if (isLetterRoute(route)) continue;
    try {
      const opened = await catalog.load(table, signal);
      const snapshot = await opened.refresh(signal);
      let committed: Promise<CommittedRanges> | undefined;
      found.set(table, {
        tableId: snapshot.tableId,
        marks: snapshot.progressStartingWith(`${config.pipeline}:`),
        committed: (stop) => (committed ??= committedRanges(opened, config.pipeline, stop)),
      });
    } catch (error) {
      if (!isServiceError(error, 'not-found')) throw error;
    }
  }
  return found;
}

async function committedRanges(table: Table, pipeline: string, signal: AbortSignal | undefined): Promise<CommittedRanges> {
  return new CommittedRanges(await table.history({}, signal), pipeline);
}

/** `undefined`: the topic is not to be seen, and nobody can say it. */
async function replayedLetters(
  { kafka, config }: Components,
  filter: LetterFilter,
  signal: AbortSignal,
): Promise<ReplayedLetters | undefined> {
  const { topic, replayTopic } = config.ingest.deadLetters;
  const found = await kafka.admin.describeTopic(topic);
  if (found === undefined) return undefined;
  try {
    return await readReplayed(kafka, { replayTopic, topicId: found.topicId, filter, signal });
  } catch (error) {
    if (isServiceError(error) && error.code === 'KAFKA_NOT_AUTHORIZED') return undefined;
    throw error;
  }
}

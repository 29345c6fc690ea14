import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';

/** The last header of every record of a replay topic; its value is JSON of `ReplayedRecord`. */
export const replayHeader = 'tidewater.replay';
/** A header of ours takes a few hundred bytes; what is longer is none. */
const maxHeaderBytes = 64 * 1024;

/** A dead letter's place: offsets of a topic that was made anew are other letters. */
export interface LetterPlace {
  /** The broker's id of the dead-letter topic's incarnation; `-` when the broker does not tell. */
  readonly topicId: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** Where a record that is replayed came from at first, and how often and why it has failed. */
export interface ReplayHistory {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestampMs: number;
  /** How often it was replayed, this time included. */
  readonly times: number;
  /** Why it was rejected for the first time, and when (ISO 8601). */
  readonly firstReason: string | undefined;
  readonly firstRejectedAt: string | undefined;
}

/** What the replay topic says of a record beside its key, value and headers. */
export interface ReplayedRecord extends ReplayHistory {
  readonly letter: LetterPlace;
  readonly pipeline: string;
  readonly table: string;
  /** `Snapshot.tableId`: a table that took the name later has never rejected the record. */
  readonly tableId: string;
  /** Of the letter that is replayed. */
  readonly reason: string | undefined;
  readonly stage: string | undefined;
  readonly rejectedAt: string | undefined;
  /** ISO 8601. */
  readonly replayedAt: string;
}

/** Whose replayed records a table takes. */
export interface ReplayTarget {
  /** The replay topic. */
  readonly topic: string;
  readonly pipeline: string;
  readonly table: string;
  readonly tableId: string;
  /** Tables whose records may be this one's by now: those of a divided route. Absent: none. */
  readonly together?: readonly string[] | undefined;
}

type Header = readonly [name: string, value: Uint8Array];

export function printReplayed(record: ReplayedRecord): string {
  const { letter, reason, stage, rejectedAt, pipeline, table, tableId, replayedAt } = record;
  return printJson({
    letter: { topicId: letter.topicId, partition: letter.partition, offset: String(letter.offset) },
    ...{ pipeline, table, tableId, replayedAt },
    ...{ reason: reason ?? null, stage: stage ?? null, rejectedAt: rejectedAt ?? null },
    ...historyJson(record),
  });
}

/** The history alone, for a letter of a record that was replayed and failed again. */
export function printHistory(history: ReplayHistory): string {
  return printJson(historyJson(history));
}

/** `undefined`: the record is none of ours. */
export function replayedOf(headers: readonly Header[]): ReplayedRecord | undefined {
  const last = headers.at(-1);
  return last?.[0] === replayHeader ? parseReplayed(last[1]) : undefined;
}

export function parseHistory(bytes: Uint8Array): ReplayHistory | undefined {
  return historyOf(jsonOf(bytes));
}

function parseReplayed(bytes: Uint8Array): ReplayedRecord | undefined {
  const json = jsonOf(bytes);
  const history = historyOf(json);
  if (history === undefined || !isJsonObject(json) || !isJsonObject(json['letter'])) return undefined;
  const { topicId, partition, offset } = json['letter'];
  const { pipeline, table, tableId, replayedAt } = json;
  const letterOffset = offsetOf(offset);
  if (typeof topicId !== 'string' || typeof partition !== 'number' || letterOffset === undefined) return undefined;
  if (typeof pipeline !== 'string' || typeof table !== 'string' || typeof tableId !== 'string' || typeof replayedAt !== 'string')
    return undefined;
  return {
    ...history,
    letter: { topicId, partition, offset: letterOffset },
    ...{ pipeline, table, tableId, replayedAt },
    reason: textOf(json['reason']),
    stage: textOf(json['stage']),
    rejectedAt: textOf(json['rejectedAt']),
  };
}

function historyJson(history: ReplayHistory): Record<string, JsonValue> {
  const { topic, partition, offset, timestampMs, times, firstReason, firstRejectedAt } = history;
  const first = { firstReason: firstReason ?? null, firstRejectedAt: firstRejectedAt ?? null };
  return { topic, partition, offset: String(offset), timestampMs, times, ...first };
}

function historyOf(json: JsonValue | undefined): ReplayHistory | undefined {
  if (!isJsonObject(json)) return undefined;
  const { topic, partition, timestampMs, times } = json;
  const offset = offsetOf(json['offset']);
  if (typeof topic !== 'string' || offset === undefined || !isCount(partition) || !isCount(times)) return undefined;
  if (typeof timestampMs !== 'number' || !Number.isSafeInteger(timestampMs)) return undefined;
  const first = { firstReason: textOf(json['firstReason']), firstRejectedAt: textOf(json['firstRejectedAt']) };
  return { topic, partition, offset, timestampMs, times, ...first };
}

function jsonOf(bytes: Uint8Array): JsonValue | undefined {
  if (bytes.length > maxHeaderBytes) return undefined;
  try {
    return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'), `header ${replayHeader}`);
  } catch (error) {
    if (isServiceError(error, 'invalid', 'corrupt')) return undefined;
    throw error;
  }
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647;
}

function offsetOf(value: JsonValue | undefined): bigint | undefined {
  return typeof value === 'string' && /^\d{1,18}$/.test(value) ? BigInt(value) : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

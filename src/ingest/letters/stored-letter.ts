import type { KafkaRecord } from '../../kafka/client.ts';
import { parseHistory, type ReplayHistory } from '../../protocol/replayed-record.ts';
import { type DeadLetterName, deadLetterNameOf, headerCountHeader, idHeader, replayedHeader } from '../dead-letter-record.ts';

type Header = KafkaRecord['headers'][number];

/** Where the record of a letter came from. Members that a letter of another program does not tell are `undefined`. */
export interface LetterSource {
  readonly topic: string | undefined;
  readonly partition: number | undefined;
  readonly offset: bigint | undefined;
}

/** A dead letter as it lies in its topic: what it tells, and the record that it is about. */
export interface StoredLetter {
  readonly place: { readonly topic: string; readonly partition: number; readonly offset: bigint };
  readonly table: string | undefined;
  readonly pipeline: string | undefined;
  readonly reason: string | undefined;
  readonly stage: string | undefined;
  readonly message: string | undefined;
  readonly rejectedAt: string | undefined;
  /** Of a record that was replayed and failed again: where it came from at first. */
  readonly source: LetterSource;
  /** Which record was rejected, by where it was read; `undefined` in letters without an id. */
  readonly name: DeadLetterName | undefined;
  /** How often the record was replayed before it became this letter, and why it was rejected at first. */
  readonly history: ReplayHistory | undefined;
  /** Offset behind the last record of a batch that could not be opened. */
  readonly untilOffset: bigint | undefined;
  /** The parts that the letter holds only the beginning of. */
  readonly cut: readonly { readonly part: string; readonly bytes: string | undefined; readonly sha256: string | undefined }[];
  readonly timestampMs: number;
  readonly key: Uint8Array | undefined;
  readonly value: Uint8Array | undefined;
  /** Of the record, without what the letter added. */
  readonly headers: readonly Header[];
}

const addedNames = /^(?:__connect\.errors|tidewater\.dlq)\./;

/** What a record of a dead-letter topic says. */
export function storedLetterOf(record: KafkaRecord): StoredLetter {
  const { topic, partition, offset } = record;
  return { place: { topic, partition, offset }, ...letterContentOf(record) };
}

/** The same wherever it lies. */
export function letterContentOf(
  record: Pick<KafkaRecord, 'key' | 'value' | 'headers'> & { readonly timestampMs: number },
): Omit<StoredLetter, 'place'> {
  const added = record.headers.slice(originalCount(record.headers));
  // A header that the record had already is not added anew: it says what it said when the record was a letter before.
  const text = (name: string): string | undefined =>
    textOf(added.findLast(([each]) => each === name) ?? record.headers.findLast(([each]) => each === name));
  const named = deadLetterNameOf(record);
  const [pipeline, topic, partition] = named?.source.split(':') ?? [];
  const replayed = added.findLast(([name]) => name === replayedHeader);
  const history = replayed === undefined ? undefined : parseHistory(replayed[1]);
  return {
    table: named?.table ?? text('tidewater.dlq.table'),
    pipeline: pipeline ?? text('__connect.errors.connector.name'),
    reason: text('tidewater.dlq.reason') ?? text('__connect.errors.exception.class.name'),
    stage: text('__connect.errors.stage'),
    message: text('__connect.errors.exception.message'),
    rejectedAt: text('tidewater.dlq.rejected_at'),
    source: {
      topic: history?.topic ?? topic ?? text('__connect.errors.topic'),
      partition: history?.partition ?? numberOf(partition ?? text('__connect.errors.partition')),
      offset: history?.offset ?? named?.offset ?? offsetOf(text('__connect.errors.offset')),
    },
    name: named,
    history,
    untilOffset: offsetOf(textOf(added.find(([name]) => name === 'tidewater.dlq.until_offset'))),
    cut: (textOf(added.find(([name]) => name === 'tidewater.dlq.cut'))?.split(',') ?? []).map((part) => ({
      part,
      bytes: text(`tidewater.dlq.${part}.bytes`),
      sha256: text(`tidewater.dlq.${part}.sha256`),
    })),
    timestampMs: history?.timestampMs ?? record.timestampMs,
    key: record.key,
    value: record.value,
    headers: record.headers.slice(0, record.headers.length - added.length),
  };
}

/**
 * How many headers the record had, as the letter says. In a letter of an older version those of letters at the end are not the record's, and the id of
 * an earlier letter is the end of that one's.
 */
function originalCount(headers: readonly Header[]): number {
  const said = headers.at(-2);
  const told = said?.[0] === headerCountHeader && headers.at(-1)?.[0] === idHeader ? numberOf(textOf(said)) : undefined;
  if (told !== undefined && told <= headers.length - 2) return told;
  let count = headers.length;
  while (count > 0 && addedNames.test(headers[count - 1]?.[0] ?? '') && (count === headers.length || headers[count - 1]?.[0] !== idHeader))
    count -= 1;
  return count;
}

function textOf(header: Header | undefined): string | undefined {
  return header === undefined ? undefined : Buffer.from(header[1]).toString('utf8');
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function offsetOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

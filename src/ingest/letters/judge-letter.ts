import { assertNever } from '../../base/assert.ts';
import type { ReplayHistory } from '../../protocol/replayed-record.ts';
import { parseWriterId } from '../../protocol/source-offsets.ts';
import type { CommittedRanges } from './committed-ranges.ts';
import type { StoredLetter } from './stored-letter.ts';

/** A table that letters may be replayed into, as it is. */
export interface ReplayTable {
  readonly tableId: string;
  /** Its progress marks of this pipeline. */
  readonly marks: ReadonlyMap<string, bigint>;
  /** What its commits say; read when a letter of the table is to be replayed. Absent: nothing is known. */
  readonly committed?: ((signal?: AbortSignal) => Promise<CommittedRanges>) | undefined;
}

/** Why a letter is not replayed although it is meant. */
export type ReplayRefusal = 'no-id' | 'no-table' | 'not-whole' | 'unopened-batch' | 'not-passed' | 'accepted' | 'too-large';

/** What is to be done with a letter. */
export type LetterVerdict =
  | { readonly kind: 'replay'; readonly table: string; readonly tableId: string; readonly history: ReplayHistory }
  | { readonly kind: 'other-pipeline' }
  | { readonly kind: 'refused'; readonly why: ReplayRefusal };

/** Whether a letter can be replayed, by what it is and how far its table is. */
export function judgeLetter(
  letter: StoredLetter,
  { pipeline, tables }: { readonly pipeline: string; readonly tables: ReadonlyMap<string, ReplayTable> },
): LetterVerdict {
  const { name, source, history, cut, untilOffset, reason, rejectedAt, timestampMs } = letter;
  if (letter.pipeline !== undefined && letter.pipeline !== pipeline) return { kind: 'other-pipeline' };
  const { topic, partition, offset } = source;
  if (name === undefined || topic === undefined || partition === undefined || offset === undefined) return refused('no-id');
  if (untilOffset !== undefined) return refused('unopened-batch');
  if (cut.length > 0) return refused('not-whole');
  const table = tables.get(name.table);
  if (table === undefined) return refused('no-table');
  // Letters are written before the commit that covers them. Until it is there the record is going to be read again from where it came.
  if ((table.marks.get(name.source) ?? 0n) <= name.offset) return refused('not-passed');
  const first = { firstReason: history?.firstReason ?? reason, firstRejectedAt: history?.firstRejectedAt ?? rejectedAt };
  const times = (history?.times ?? 0) + 1;
  return {
    kind: 'replay',
    table: name.table,
    tableId: table.tableId,
    history: { topic, partition, offset, timestampMs, times, ...first },
  };
}

/**
 * Whether the table took the record after all: it was read again after its letter was written and its commit was not, with another route or schema,
 * or by a table that was made anew. Only what is certain counts.
 */
export async function isAccepted(
  { name }: StoredLetter,
  { pipeline, tables }: { readonly pipeline: string; readonly tables: ReadonlyMap<string, ReplayTable> },
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const table = name === undefined ? undefined : tables.get(name.table);
  const source = name === undefined ? undefined : parseWriterId(name.source, pipeline);
  if (name === undefined || source === undefined || table?.committed === undefined) return false;
  const { topic, partition, topicId } = source;
  // Commits do not say of which incarnation of a topic their ranges are.
  const others = [...table.marks.keys()].flatMap((writerId) => parseWriterId(writerId, pipeline) ?? []);
  if (others.some((other) => other.topic === topic && other.partition === partition && other.topicId !== topicId)) return false;
  return (await table.committed(signal)).hasNoLetters(topic, partition, name.offset) === true;
}

/** What a person does about it. */
export function refusalText(why: ReplayRefusal): string {
  switch (why) {
    case 'no-id':
      return 'the letter does not say which record it is: it was written by another program or an old version; send its bytes again with a producer';
    case 'no-table':
      return 'its table is not there or has no route in this pipeline: configure it, or leave the letter';
    case 'not-whole':
      return 'the letter holds only the beginning of the record: let the producer send it again, or take it from the source topic';
    case 'unopened-batch':
      return 'the letter holds a whole batch that could not be opened: let the producer send its records again';
    case 'not-passed':
      return 'its table has no commit behind the record yet, so the record is still to be read from its topic: let the pipeline run first';
    case 'accepted':
      return 'its table has taken the record since: the commit that covers it has no dead letter; if it is known not to be a row, name the letter with --again';
    case 'too-large':
      return 'the replay topic does not take it: raise max.message.bytes of that topic';
    default:
      return assertNever(why);
  }
}

function refused(why: ReplayRefusal): LetterVerdict {
  return { kind: 'refused', why };
}

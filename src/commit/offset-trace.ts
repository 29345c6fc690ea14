import { type CommitAccounting, parseAccounting } from '../protocol/commit-accounting.ts';
import { parseWriterId, pipelineOf, type SourceIdentity, type SourceRange } from '../protocol/source-offsets.ts';
import type { HistoryEntry, HistoryLink, ReadableTable, Snapshot } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';

/** One place of a source topic. */
export interface SourceOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

export interface TraceRequest extends SourceOffset {
  /** Default: the only one that has read the partition into the table. */
  readonly pipeline?: string | undefined;
  /** The incarnation of the topic that is meant. Default: the one that the table has read last. */
  readonly incarnation?: Pick<SourceIdentity, 'clusterId' | 'topicId'> | undefined;
}

/** The version of a table that an offset came with. */
export interface TracedVersion {
  readonly version: Version;
  readonly committedAt: number;
}

/** What the commits of a table say of one offset of its source. */
export type OffsetTrace =
  /** A commit covers it: what the commit read are rows of that version, but for what its accounting says. */
  | (TracedVersion & {
      readonly kind: 'committed';
      readonly writerId: string;
      readonly range: SourceRange;
      readonly accounting: CommitAccounting;
      /** Offsets of all ranges of the commit. */
      readonly offsets: bigint;
      /** A later version put the table back to one before this one: what it has of it is not read again. Absent: none did. */
      readonly undone?: TracedVersion | undefined;
      /** A later version put the table back to a time, and does not say which version that is. Absent: none did. */
      readonly perhapsUndone?: TracedVersion | undefined;
    })
  /** The mark of the partition passed it in a commit that does not say what it read: another tool's, or that of a twin that was compared. */
  | (TracedVersion & { readonly kind: 'unaccounted' })
  /** It was not read: the table begins behind it, or an operator decided so. */
  | (TracedVersion & { readonly kind: 'passed-over' })
  /** The table has everything before `nextOffset`. */
  | { readonly kind: 'not-yet'; readonly nextOffset: bigint }
  /** The table has it or has passed it; the commit is not in the history any more. */
  | { readonly kind: 'forgotten'; readonly nextOffset: bigint; readonly oldestVersion: Version | undefined }
  /** The table has no mark of the partition; `others`: but of other incarnations of the topic. */
  | { readonly kind: 'not-read'; readonly others: boolean };

/** Versions that are read at once: an offset that is asked about is mostly a new one. */
const firstPage = 32;
const largestPage = 1_024;

/**
 * Where in a table an offset of its source is, from the table alone: the newest commit that covers it, if the table's mark is behind it. The older
 * the offset, the more versions are read; of an offset that is not there yet, none.
 *
 * @param snapshot the newest, of this moment: what it has is what the answer is about.
 */
export async function traceOffset(
  table: Pick<ReadableTable, 'history'>,
  snapshot: Snapshot,
  request: TraceRequest,
  signal?: AbortSignal,
): Promise<OffsetTrace> {
  const { offset } = request;
  const marks = marksOf(snapshot, request);
  const meant = meantMarks(marks, request);
  if (meant.length === 0) return { kind: 'not-read', others: marks.length > 0 };
  const walk = new Walk(request);
  const writers = new Map(meant.map(({ writerId, mark }) => [writerId, mark]));
  const [only] = meant;
  if (meant.length === 1 && only !== undefined && offset >= only.mark) return { kind: 'not-yet', nextOffset: only.mark };
  let until: number = snapshot.version;
  let oldest: HistoryLink | undefined;
  for (let size = firstPage; until >= 0; size = Math.min(size * 2, largestPage)) {
    const page = await table.history({ limit: size, untilVersion: toVersion(until) }, signal);
    for (const entry of page) {
      oldest = entry;
      walk.pass(entry);
      // Of several incarnations the one that was read last is meant.
      const writerId = walk.writerId ?? [...entry.progress.keys()].find((each) => writers.has(each));
      if (writerId === undefined) continue;
      walk.writerId = writerId;
      const mark = writers.get(writerId) ?? 0n;
      if (offset >= mark) return { kind: 'not-yet', nextOffset: mark };
      const found = walk.look(entry, writerId);
      if (found !== undefined) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < size) break;
    until = last.version - 1;
  }
  return walk.end(oldest, meant[0]?.mark ?? 0n);
}

interface Mark {
  readonly writerId: string;
  readonly source: SourceIdentity;
  readonly mark: bigint;
}

function marksOf(snapshot: Snapshot, { pipeline, topic, partition }: TraceRequest): readonly Mark[] {
  return [...snapshot.progressStartingWith(pipeline === undefined ? '' : `${pipeline}:`)].flatMap(([writerId, mark]) => {
    const source = parseWriterId(writerId, pipelineOf(writerId));
    return source?.topic === topic && source.partition === partition ? [{ writerId, source, mark }] : [];
  });
}

function meantMarks(marks: readonly Mark[], { incarnation }: TraceRequest): readonly Mark[] {
  if (incarnation === undefined) return marks;
  return marks.filter(({ source }) => source.clusterId === incarnation.clusterId && source.topicId === incarnation.topicId);
}

/** From the newest version to the oldest. */
class Walk {
  readonly #at: SourceOffset;
  writerId: string | undefined;
  /** The version after which the mark was behind the offset, without saying why. */
  #passedAt: TracedVersion | undefined;
  /** By the newest version that counts and put the table back. */
  #putBack: (TracedVersion & { readonly target: number }) | undefined;
  #perhaps: TracedVersion | undefined;
  /** The version whose range was looked at last; `decided`: the offset is among what it passed over by decision. */
  #later: (TracedVersion & { readonly decided: boolean }) | undefined;

  constructor(at: SourceOffset) {
    this.#at = at;
  }

  /** Marks stay where a Delta table is put back: what came after is not read again. */
  pass({ version, committedAt, operation, operationParameters }: HistoryEntry): void {
    if (operation !== 'RESTORE' || version > (this.#putBack?.target ?? version)) return;
    const target = operationParameters['version'];
    if (target === undefined) this.#perhaps = { version, committedAt };
    else this.#putBack = { version, committedAt, target: Number(target) };
  }

  #restores(version: Version): Pick<Extract<OffsetTrace, { kind: 'committed' }>, 'undone' | 'perhapsUndone'> {
    const { target, ...undone } = this.#putBack ?? { target: version };
    if (version > target && 'version' in undone) return { undone };
    return this.#perhaps === undefined ? {} : { perhapsUndone: this.#perhaps };
  }

  look(entry: HistoryEntry, writerId: string): OffsetTrace | undefined {
    const { topic, partition, offset } = this.#at;
    const { version, committedAt, progress } = entry;
    const moved = progress.get(writerId);
    if (moved === undefined) return undefined;
    const accounting = parseAccounting(entry.userMetadata);
    const range = accounting?.ranges.find((each) => each.topic === topic && each.partition === partition && each.until === moved);
    if (accounting === undefined || range === undefined) {
      if (moved <= offset) return this.#between();
      this.#passedAt = { version, committedAt };
      this.#later = undefined;
      return undefined;
    }
    if (range.until <= offset) return this.#between();
    if (range.from <= offset) {
      const offsets = accounting.ranges.reduce((sum, { from, until }) => sum + (until - from), 0n);
      return { kind: 'committed', version, committedAt, writerId, range, accounting, offsets, ...this.#restores(version) };
    }
    this.#passedAt = undefined;
    this.#later = { version, committedAt, decided: range.after !== undefined && range.after <= offset };
    return undefined;
  }

  /** The mark was before the offset in the version looked at now, and behind it in the one looked at before. */
  #between(): OffsetTrace | undefined {
    if (this.#passedAt !== undefined) return { kind: 'unaccounted', ...this.#passedAt };
    return this.#later === undefined ? undefined : passedOver(this.#later);
  }

  /** No version that the history has covers it. */
  end(oldest: HistoryLink | undefined, nextOffset: bigint): OffsetTrace {
    const isWhole = oldest !== undefined && oldest.previous === undefined;
    if (this.#later !== undefined && (this.#later.decided || isWhole)) return passedOver(this.#later);
    if (this.#passedAt !== undefined && isWhole) return { kind: 'unaccounted', ...this.#passedAt };
    return { kind: 'forgotten', nextOffset, oldestVersion: oldest?.version };
  }
}

function passedOver({ version, committedAt }: TracedVersion): OffsetTrace {
  return { kind: 'passed-over', version, committedAt };
}

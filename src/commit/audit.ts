import { type AccountedRange, type CommitAccounting, parseAccounting } from '../protocol/commit-accounting.ts';
import { parseWriterId, pipelineOf } from '../protocol/source-offsets.ts';
import type { HistoryEntry } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import { type AuditFinding, AuditFindings } from './audit-findings.ts';

/** A version that changed rows and is no commit of a pipeline: a statement, another engine, a restore. */
export interface ForeignChange {
  readonly version: Version;
  readonly committedAt: number;
  readonly operation: string;
  readonly engine: string | undefined;
  /** By how many rows the table grew or shrank; `undefined`: the version does not tell. */
  readonly netRows: number | undefined;
  readonly addedFiles: number;
  readonly removedFiles: number;
}

/** What the ledger has of one incarnation of a partition: contiguous from its first range that the history still knows. */
export interface LedgerRange {
  readonly pipeline: string;
  readonly topic: string;
  readonly partition: number;
  readonly from: bigint;
  readonly until: bigint;
  /** Of the replay topic: no row has an offset of it. */
  readonly replay?: boolean | undefined;
}

/** A commit of a pipeline. */
export interface LedgerCommit {
  readonly version: Version;
  readonly rows: number;
  /** How many of them may be of replayed dead letters, which have the offsets of other commits. */
  readonly replayed: number;
  readonly pipeline: string;
  /** With the incarnation of the topic, by cluster and id, that each is of. */
  readonly ranges: readonly (AccountedRange & { readonly incarnation: string })[];
}

export interface AuditReport {
  readonly versions: number;
  readonly commits: number;
  readonly records: number;
  readonly rows: number;
  readonly deadLettered: number;
  readonly filtered: number;
  /** Records that the rows are of: fewer, where a route makes several rows of a record. */
  readonly recordsWithRows: number;
  /** Dead letters that were replayed and may be among the rows. */
  readonly replayed: number;
  /** Commits whose rows took the place of others with the same keys. */
  readonly keyedCommits: number;
  /** The ledger's end for each partition: `topic:partition` -> next offset. */
  readonly offsets: ReadonlyMap<string, bigint>;
  readonly ranges: readonly LedgerRange[];
  /** Oldest first; of very many only the first ones, `foreignCount` counts all. */
  readonly foreign: readonly ForeignChange[];
  readonly foreignCount: number;
  readonly findings: readonly AuditFinding[];
}

/** Changes of others that are told one by one. */
const maxForeign = 1_000;

interface MovedMark {
  readonly writerId: string;
  /** Cluster and topic id. */
  readonly incarnation: string;
  readonly value: bigint;
}

type MovedMarks = ReadonlyMap<string, MovedMark>;

/** As `LedgerAudit`, of a history in hand, oldest first. */
export function auditHistory(history: readonly HistoryEntry[]): AuditReport {
  const audit = new LedgerAudit(new AuditFindings());
  for (const entry of history) audit.add(entry);
  return audit.report();
}

/**
 * Checks the ledgers of all pipelines that write to a table, from its history alone (docs/spec/offset-ledger.md L6): ranges of each partition
 * follow each other or say why not, every commit's records add up, file statistics agree with the rows it claims, marks equal the ends of
 * ranges. Holds what it has of partitions, not of versions.
 */
export class LedgerAudit {
  readonly #findings: AuditFindings;
  readonly #ledgers = new Map<string, { range: LedgerRange }>();
  /** The incarnation each partition was read from last. */
  readonly #incarnations = new Map<string, string>();
  readonly #totals = {
    versions: 0,
    commits: 0,
    records: 0,
    rows: 0,
    recordsWithRows: 0,
    replayed: 0,
    keyedCommits: 0,
    deadLettered: 0,
    filtered: 0,
  };
  readonly #foreign: ForeignChange[] = [];
  #foreignCount = 0;

  constructor(findings: AuditFindings) {
    this.#findings = findings;
  }

  /** The next version of the history. Gives the commit it is, if a pipeline made it. */
  add(entry: HistoryEntry): LedgerCommit | undefined {
    this.#totals.versions += 1;
    const accounting = parseAccounting(entry.userMetadata);
    if (accounting === undefined) {
      this.#addForeign(entry);
      return undefined;
    }
    this.#totals.commits += 1;
    for (const key of ['records', 'rows', 'deadLettered', 'filtered'] as const) this.#totals[key] += accounting[key];
    this.#totals.recordsWithRows += accounting.recordsWithRows ?? accounting.rows;
    this.#totals.replayed += accounting.replayed ?? 0;
    if (accounting.keyed === true) this.#totals.keyedCommits += 1;
    this.#findings.add(...checkBalance(entry, accounting), ...checkMarks(entry, accounting));
    const { rows, replayed = 0, pipeline } = accounting;
    const marks = marksOf(entry, pipeline);
    const ranges = accounting.ranges.map((range) => {
      const incarnation = marks.get(placeOf(range))?.incarnation ?? '';
      this.#follow(entry, pipeline, range, marks);
      return { ...range, incarnation };
    });
    return { version: entry.version, rows, replayed, pipeline, ranges };
  }

  report(): AuditReport {
    const ranges = [...this.#ledgers.values()].map(({ range }) => range);
    return {
      ...this.#totals,
      offsets: new Map(ranges.map(({ topic, partition, until }) => [`${topic}:${partition}`, until])),
      ranges,
      foreign: this.#foreign,
      foreignCount: this.#foreignCount,
      findings: this.#findings.told,
    };
  }

  /** Ledgers go by writer id: offsets of a topic that was created again follow nothing. */
  #follow(entry: HistoryEntry, pipeline: string, range: AccountedRange, marks: MovedMarks): void {
    const { topic, partition, from, until, replay } = range;
    const name = placeOf(range);
    const mark = marks.get(name);
    const key = mark?.writerId ?? `${pipeline}:${name}`;
    const before = this.#ledgers.get(key)?.range;
    const incarnation = this.#incarnations.get(`${pipeline}:${name}`);
    if (before === undefined) {
      if (incarnation !== undefined && incarnation !== key) this.#findings.add(newIncarnation(entry, name, range));
      if (mark !== undefined) this.#findings.add(...this.#otherReaders(entry, pipeline, range, mark.incarnation));
      this.#ledgers.set(key, { range: { pipeline, topic, partition, from, until, ...(replay === true ? { replay } : {}) } });
    } else {
      if (from !== before.until) this.#findings.add(discontinuity(entry, name, range, before.until));
      this.#ledgers.set(key, { range: { ...before, until } });
    }
    this.#incarnations.set(`${pipeline}:${name}`, key);
  }

  /** What pipelines of other names have read of the same: whether rows are there twice is seen in the rows. */
  #otherReaders(
    { version }: HistoryEntry,
    pipeline: string,
    { topic, partition, from }: AccountedRange,
    incarnation: string,
  ): AuditFinding[] {
    const name = placeOf({ topic, partition });
    return [...this.#ledgers].flatMap(([writerId, { range: other }]): AuditFinding[] => {
      if (other.pipeline === pipeline || writerId !== `${other.pipeline}:${name}:${incarnation}`) return [];
      const text = `${name} is read by the pipeline "${pipeline}" from ${from} on, and the pipeline "${other.pipeline}" has read [${other.from}, ${other.until}) of the same topic`;
      return [{ level: 'note', version, rule: 'second-pipeline', text }];
    });
  }

  #addForeign(entry: HistoryEntry): void {
    for (const [writerId, value] of entry.progress) {
      const source = parseWriterId(writerId, pipelineOf(writerId));
      if (source === undefined) continue;
      this.#findings.add(unaccounted(entry, writerId));
      const ledger = this.#ledgers.get(writerId);
      // What comes next follows the mark as it was set, so that one fault is one finding.
      if (ledger !== undefined) ledger.range = { ...ledger.range, until: value };
    }
    const { netRows, addedFiles, removedFiles } = entry;
    if (!entry.dataChange || (netRows === 0 && addedFiles === 0 && removedFiles === 0)) return;
    this.#foreignCount += 1;
    if (this.#foreign.length >= maxForeign) return;
    const { version, committedAt, operation, engineInfo: engine } = entry;
    this.#foreign.push({ version, committedAt, operation, engine, netRows, addedFiles, removedFiles });
  }
}

function checkBalance({ version, addedRows }: HistoryEntry, accounting: CommitAccounting): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const { records, rows, recordsWithRows = rows, deadLettered, filtered } = accounting;
  if (records !== recordsWithRows + deadLettered + filtered) {
    const text = `${records} records were read, but ${recordsWithRows === rows ? `${rows} rows` : `${recordsWithRows} records with rows`} + ${deadLettered} dead letters + ${filtered} filtered were written`;
    findings.push({ level: 'error', version, rule: 'balance', text });
  }
  // Files of a keyed table that are written anew hold rows of others too.
  if (addedRows !== undefined && addedRows !== rows && accounting.keyed !== true) {
    findings.push({ level: 'error', version, rule: 'row-count', text: `claims ${rows} rows, its files hold ${addedRows}` });
  }
  return findings;
}

function discontinuity({ version }: HistoryEntry, name: string, range: AccountedRange, expected: bigint): AuditFinding {
  const text = `${name} begins at ${range.from}, the version before it ended at ${expected}`;
  if (range.after !== expected) return { level: 'error', version, rule: range.from > expected ? 'gap' : 'overlap', text };
  const what =
    range.from > expected ? `${range.from - expected} offsets were passed over` : `${expected - range.from} offsets are read again`;
  return { level: 'note', version, rule: 'decision', text: `${text}: ${what} by decision (ingest.onOffsetDiscontinuity)` };
}

function newIncarnation({ version }: HistoryEntry, name: string, { from }: AccountedRange): AuditFinding {
  const text = `${name} begins at ${from} of another incarnation of the topic (deleted and created again, or another cluster), by decision`;
  return { level: 'note', version, rule: 'incarnation', text };
}

function checkMarks(entry: HistoryEntry, { pipeline, ranges }: CommitAccounting): AuditFinding[] {
  const marks = marksOf(entry, pipeline);
  return ranges.flatMap((range): AuditFinding[] => {
    const mark = marks.get(placeOf(range))?.value;
    if (mark === range.until) return [];
    const text = `${range.topic}:${range.partition} ends at ${range.until}, the stored mark is ${String(mark)}`;
    return [{ level: 'error', version: entry.version, rule: 'mark', text }];
  });
}

/** The marks of a pipeline that a version moved, by `topic:partition`. */
function marksOf(entry: HistoryEntry, pipeline: string): MovedMarks {
  const marks = new Map<string, MovedMark>();
  for (const [writerId, value] of entry.progress) {
    const source = parseWriterId(writerId, pipeline);
    if (source !== undefined) marks.set(placeOf(source), { writerId, incarnation: `${source.clusterId}:${source.topicId}`, value });
  }
  return marks;
}

function placeOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}:${partition}`;
}

/** A version that moved a pipeline's marks without saying what it read. */
function unaccounted({ version }: HistoryEntry, writerId: string): AuditFinding {
  const text = `moved the mark ${writerId} without accounting (written by another tool?)`;
  return { level: 'warning', version, rule: 'unaccounted', text };
}

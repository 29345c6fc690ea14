import { type CommitAccounting, parseAccounting } from '../protocol/commit-accounting.ts';
import { parseWriterId } from '../protocol/source-offsets.ts';
import type { HistoryEntry } from '../table/table.ts';
import type { Version } from '../table/version.ts';

export interface AuditFinding {
  readonly level: 'error' | 'warning';
  readonly version: Version;
  readonly rule: 'gap' | 'overlap' | 'balance' | 'row-count' | 'mark' | 'unaccounted';
  readonly text: string;
}

export interface AuditReport {
  readonly versions: number;
  readonly commits: number;
  readonly records: number;
  readonly rows: number;
  readonly deadLettered: number;
  readonly filtered: number;
  /** The ledger's end for each partition: `topic:partition` -> next offset. */
  readonly offsets: ReadonlyMap<string, bigint>;
  readonly findings: readonly AuditFinding[];
}

/**
 * Checks a pipeline's ledger from the table's history alone (docs/spec/offset-ledger.md L6): ranges of each partition follow each
 * other, every commit's records add up, file statistics agree with the rows it claims, marks equal the ends of ranges.
 *
 * @param history oldest first, contiguous.
 */
export function auditHistory(history: readonly HistoryEntry[], pipeline: string): AuditReport {
  const findings: AuditFinding[] = [];
  const ends = new Map<string, LedgerEnd>();
  const totals = { commits: 0, records: 0, rows: 0, deadLettered: 0, filtered: 0 };
  for (const entry of history) {
    const accounting = parseAccounting(entry.userMetadata);
    if (accounting?.pipeline !== pipeline) {
      findings.push(...unaccounted(entry, pipeline));
      continue;
    }
    totals.commits += 1;
    totals.records += accounting.records;
    totals.rows += accounting.rows;
    totals.deadLettered += accounting.deadLettered;
    totals.filtered += accounting.filtered;
    findings.push(
      ...checkBalance(entry, accounting),
      ...checkMarks(entry, accounting, pipeline),
      ...checkRanges(entry, accounting, ends, pipeline),
    );
  }
  const offsets = new Map([...ends.values()].map(({ partition, until }) => [partition, until]));
  return { versions: history.length, ...totals, offsets, findings };
}

/** Where the ledger of one incarnation of a partition ends. */
interface LedgerEnd {
  readonly partition: string;
  readonly until: bigint;
}

function checkBalance(entry: HistoryEntry, accounting: CommitAccounting): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const { records, rows, deadLettered, filtered } = accounting;
  if (records !== rows + deadLettered + filtered) {
    const text = `${records} records were read, but ${rows} rows + ${deadLettered} dead letters + ${filtered} filtered were written`;
    findings.push({ level: 'error', version: entry.version, rule: 'balance', text });
  }
  if (entry.addedRows !== undefined && entry.addedRows !== rows) {
    findings.push({
      level: 'error',
      version: entry.version,
      rule: 'row-count',
      text: `claims ${rows} rows, its files hold ${entry.addedRows}`,
    });
  }
  return findings;
}

/** `offsets` goes by writer id: offsets of a topic that was created again follow nothing. */
function checkRanges(entry: HistoryEntry, accounting: CommitAccounting, offsets: Map<string, LedgerEnd>, pipeline: string): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const marks = marksOf(entry, pipeline);
  for (const range of accounting.ranges) {
    const partition = `${range.topic}:${range.partition}`;
    const key = marks.get(partition)?.writerId ?? partition;
    const expected = offsets.get(key)?.until;
    if (expected !== undefined && range.from !== expected) {
      const rule = range.from > expected ? 'gap' : 'overlap';
      const text = `${partition} begins at ${range.from}, the version before it ended at ${expected}`;
      findings.push({ level: 'error', version: entry.version, rule, text });
    }
    offsets.set(key, { partition, until: range.until });
  }
  return findings;
}

function checkMarks(entry: HistoryEntry, accounting: CommitAccounting, pipeline: string): AuditFinding[] {
  const marks = marksOf(entry, pipeline);
  return accounting.ranges.flatMap((range): AuditFinding[] => {
    const mark = marks.get(`${range.topic}:${range.partition}`)?.value;
    if (mark === range.until) return [];
    const text = `${range.topic}:${range.partition} ends at ${range.until}, the stored mark is ${String(mark)}`;
    return [{ level: 'error', version: entry.version, rule: 'mark', text }];
  });
}

/** The marks of ours a version moved, by `topic:partition`. */
function marksOf(entry: HistoryEntry, pipeline: string): ReadonlyMap<string, { readonly writerId: string; readonly value: bigint }> {
  const marks = new Map<string, { readonly writerId: string; readonly value: bigint }>();
  for (const [writerId, value] of entry.progress) {
    const source = parseWriterId(writerId, pipeline);
    if (source !== undefined) marks.set(`${source.topic}:${source.partition}`, { writerId, value });
  }
  return marks;
}

/** A version that moved our marks without saying what it read. */
function unaccounted(entry: HistoryEntry, pipeline: string): AuditFinding[] {
  const ours = [...entry.progress.keys()].filter((writerId) => parseWriterId(writerId, pipeline) !== undefined);
  return ours.map((writerId) => ({
    level: 'warning',
    version: entry.version,
    rule: 'unaccounted',
    text: `moved the mark ${writerId} without accounting (written by another tool?)`,
  }));
}

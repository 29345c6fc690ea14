import type { ServiceError } from '../base/errors.ts';
import { isServiceError } from '../base/errors.ts';
import { buildBatch, type InputRow } from '../codec/build-columns.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { HistoryLink, QueryableTable, Snapshot } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import { type AuditReport, LedgerAudit, type LedgerCommit } from './audit.ts';
import { auditFiles } from './audit-files.ts';
import { AuditFindings } from './audit-findings.ts';
import { auditRows, rangeSchema, rowsProblem, type SourceColumns } from './audit-rows.ts';

/** Each holds what the one before it does. */
export type AuditLevel = 'log' | 'files' | 'rows';

export interface TableAuditRequest {
  readonly table: QueryableTable;
  readonly level: AuditLevel;
  readonly engine: OpenEngine;
  /** `undefined`: no columns of the table are known to hold source offsets. */
  readonly columns: SourceColumns | undefined;
}

/**
 * `sound`: what was checked holds. `changed`: it holds, and others changed rows or marks, which are named. `broken`: it does not hold.
 */
export type Verdict = 'sound' | 'changed' | 'broken';

export interface TableAudit extends AuditReport {
  readonly verdict: Verdict;
  /** What of the history there is to prove anything with; `complete`: it begins with the table's first version. */
  readonly proven: { readonly from: Version | undefined; readonly until: Version; readonly complete: boolean };
  readonly checked: readonly string[];
  readonly unchecked: readonly string[];
  /** Findings beyond those that are told one by one. */
  readonly untoldFindings: number;
}

/** Audits a table at a level, in memory that does not grow with its rows, files or versions. Writes nothing. */
export async function auditTable(request: TableAuditRequest, signal?: AbortSignal): Promise<TableAudit> {
  const audit = new RunningAudit(request);
  return audit.run(signal);
}

/** Ranges handed to the engine at a time. */
const rangesAtOnce = 1_024;

class RunningAudit {
  readonly #request: TableAuditRequest;
  readonly #findings = new AuditFindings();
  readonly #ledger: LedgerAudit;
  readonly #checked: string[] = ['log: that records, marks and ranges of every commit add up and follow each other'];
  readonly #unchecked: string[] = [];
  #first: HistoryLink | undefined;
  #last: HistoryLink | undefined;

  constructor(request: TableAuditRequest) {
    this.#request = request;
    this.#ledger = new LedgerAudit(this.#findings);
  }

  async run(signal: AbortSignal | undefined): Promise<TableAudit> {
    const { table, level } = this.#request;
    const snapshot = await table.refresh(signal);
    if (level === 'rows') await this.#logAndRows(snapshot, signal);
    else {
      for await (const link of table.versions(snapshot, signal)) this.#follow(link);
      this.#checkTotal(snapshot);
      if (level === 'files') await this.#files(snapshot, signal);
      else this.#unchecked.push('files: whether they are there, whole, and hold the rows the log says (--files)');
      this.#unchecked.push('rows: whether every source offset is there once (--rows)');
    }
    return this.#report(snapshot);
  }

  get #complete(): boolean {
    return this.#first !== undefined && this.#first.previous === undefined;
  }

  #follow(link: HistoryLink): LedgerCommit | undefined {
    this.#first ??= link;
    if (this.#last !== undefined && link.previous !== this.#last.version) {
      const text = `follows version ${String(link.previous)}, and the history goes from ${this.#last.version} to it: versions between are gone`;
      this.#findings.add({ level: 'error', version: link.version, rule: 'history', text });
    }
    this.#last = link;
    return this.#ledger.add(link);
  }

  /** With the whole history and nobody else's rows in it, the log's own count is what the pipelines wrote. */
  #checkTotal({ rowCount, version }: Snapshot): void {
    const { rows, foreignCount, keyedCommits } = this.#ledger.report();
    if (keyedCommits > 0) this.#unchecked.push('rows: that each key has the row of its last record, which only the topic can say');
    if (!this.#complete || foreignCount > 0 || rowCount === undefined || keyedCommits > 0) return;
    this.#checked.push('log: that the files of the newest version hold as many rows as all commits wrote');
    if (rowCount === rows) return;
    const text = `the files of the newest version hold ${rowCount} rows by the log, all commits together wrote ${rows}`;
    this.#findings.add({ level: 'error', version, rule: 'total', text });
  }

  async #files(snapshot: Snapshot, signal: AbortSignal | undefined): Promise<void> {
    const { objects, uncounted } = await auditFiles(this.#request.table.objects(snapshot, signal), this.#findings, signal);
    this.#checked.push(`files: that ${objects} are there, have their size, begin and end as they should, and count what the log says`);
    this.#unchecked.push('files: the pages between beginning and end');
    if (uncounted > 0)
      this.#unchecked.push(`files: the rows of ${uncounted}, which the log does not count or whose format is not looked into`);
  }

  /** The history goes to the engine as it is read. */
  async #logAndRows(snapshot: Snapshot, signal: AbortSignal | undefined): Promise<void> {
    const { table, columns } = this.#request;
    const engine = await this.#request.engine();
    const ranges = await engine.hold(rangeSchema, this.#ranges(snapshot, signal), signal);
    try {
      this.#checkTotal(snapshot);
      await this.#files(snapshot, signal);
      const ledger = this.#ledger.report();
      const problem = this.#findings.told.some(({ rule }) => rule === 'file') ? 'files are broken' : rowsProblem(columns, ledger);
      if (problem !== undefined || columns === undefined) {
        this.#unchecked.push(`rows: whether every source offset is there once: ${problem ?? ''}`);
        return;
      }
      const rows = await engine.scan(await table.scan(snapshot, {}, signal), {}, signal);
      try {
        const complete = this.#complete;
        const { proven, unproven } = await auditRows({ engine, rows, ranges, ledger, columns, complete }, this.#findings, signal);
        this.#checked.push(`rows: that every commit's rows are there, each offset once: ${proven} rows`);
        if (unproven > 0)
          this.#unchecked.push(`rows: ${unproven} of versions the history no longer has, but for offsets that are there twice`);
        this.#unchecked.push('rows: the values of other columns');
      } finally {
        await rows.dispose();
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#findings.add({ level: 'error', version: undefined, rule: 'file', text: error.message });
      this.#unchecked.push('rows: whether every source offset is there once: they cannot be read');
    } finally {
      await ranges.dispose();
    }
  }

  async *#ranges(snapshot: Snapshot, signal: AbortSignal | undefined): AsyncGenerator<ColumnBatch, void, undefined> {
    let pending: InputRow[] = [];
    for await (const link of this.#request.table.versions(snapshot, signal)) {
      const commit = this.#follow(link);
      if (commit !== undefined) pending.push(...rangeRows(commit));
      if (pending.length < rangesAtOnce) continue;
      yield buildBatch(rangeSchema, pending);
      pending = [];
    }
    if (pending.length > 0) yield buildBatch(rangeSchema, pending);
  }

  #report(snapshot: Snapshot): TableAudit {
    const ledger = this.#ledger.report();
    const complete = this.#complete;
    if (!complete)
      this.#unchecked.push(
        `versions before ${this.#first?.version ?? snapshot.version}, which the history no longer has (cleaned up or expired)`,
      );
    const findings = this.#findings;
    const isChanged = findings.count('warning') > 0 || ledger.foreignCount > 0;
    return {
      ...ledger,
      verdict: findings.count('error') > 0 ? 'broken' : isChanged ? 'changed' : 'sound',
      proven: { from: this.#first?.version, until: snapshot.version, complete },
      checked: this.#checked,
      unchecked: this.#unchecked,
      untoldFindings: findings.untold,
    };
  }
}

/** What is read of the replay topic has offsets of other ranges. */
function rangeRows({ version, rows, replayed, pipeline, ranges }: LedgerCommit): readonly InputRow[] {
  const ofRows = ranges.filter(({ replay }) => replay !== true);
  return ofRows.map(({ topic, partition, from, until, incarnation }) => ({
    version: BigInt(version),
    topic,
    part: BigInt(partition),
    lo: from,
    hi: until,
    expected: BigInt(rows),
    replayed: BigInt(replayed),
    incarnation,
    pipeline,
  }));
}

/** What the scan or the engine says of a damaged file that its beginning and end did not show. */
function isUnreadable(error: unknown): error is ServiceError {
  return isServiceError(error, 'corrupt') || isServiceError(error, 'not-found');
}

import type { Clock } from '../../base/clock.ts';
import type { AppliedKeys } from '../../table/keyed.ts';
import type { CompactionPlan, CompactionResult, CompactionRule } from '../../table/operations.ts';
import type { Snapshot } from '../../table/table.ts';

/** The files of a table as they are tidied. */
export interface TidiedTable {
  planCompaction(rule: CompactionRule, signal?: AbortSignal): Promise<CompactionPlan>;
  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult>;
}

export interface TidyLimits {
  /** Files of which at least this share of the rows is marked are due: no more rows are copied than were marked. */
  readonly markedShare: number;
  /** They are written anew once they are this share of the table: so often, and not at each commit. */
  readonly shareOfTable: number;
  /** Fewer rows than these, the marked ones among them, are nothing to readers. */
  readonly minRows: number;
  /** More than these is left to maintenance: other commits wait meanwhile. */
  readonly maxBytes: number;
  /** So many commits pass after an attempt that failed. */
  readonly restCommits: number;
}

const defaultLimits: TidyLimits = { markedShare: 0.5, shareOfTable: 0.3, minRows: 20_000, maxBytes: 64 * 1024 * 1024, restCommits: 20 };

/** What became of an attempt. */
export interface Tidied extends CompactionResult {
  readonly tookMs: number;
}

/**
 * Keeps a small keyed table, whose rows are replaced faster than maintenance comes by, readable at the speed of its rows: files of which most rows are
 * marked are written anew, without them, in a version of its own that changes no rows.
 */
export class MarkedFiles {
  readonly #table: TidiedTable;
  readonly #clock: Clock;
  readonly #limits: TidyLimits;
  /** Rows that were marked since files were looked at last. */
  #marked = 0;
  #resting = 0;

  constructor(table: TidiedTable, clock: Clock, limits: Partial<TidyLimits> = {}) {
    this.#table = table;
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /**
   * To be called after a commit, while no other one is made. `undefined`: there was nothing to do.
   *
   * @throws what planning and rewriting throw; nothing of the table is lost by it.
   */
  async tidy(applied: AppliedKeys | undefined, snapshot: Snapshot, signal?: AbortSignal): Promise<Tidied | undefined> {
    if (applied === undefined || applied.updatedRows + applied.deletedRows === 0) return undefined;
    const { markedShare, shareOfTable, minRows, maxBytes, restCommits } = this.#limits;
    this.#marked += applied.updatedRows + applied.deletedRows;
    // Planning looks at every file: not before there can be something to find.
    if (this.#marked < minRows * markedShare || snapshot.sizeBytes * shareOfTable > maxBytes) return undefined;
    if (this.#resting > 0) {
      this.#resting -= 1;
      return undefined;
    }
    this.#marked = 0;
    const startedMs = this.#clock.monotonicMs();
    const none = Number.MAX_SAFE_INTEGER;
    const rule: CompactionRule = {
      targetFileBytes: maxBytes,
      minInputFiles: none,
      maxGroups: none,
      maxDeletedShare: markedShare,
      onlyMuchDeleted: true,
    };
    const plan = await this.#table.planCompaction(rule, signal);
    const inputs = plan.groups.flatMap((group) => group.inputs);
    const bytes = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const rows = inputs.reduce((sum, { rowCount = 0 }) => sum + rowCount, 0);
    if (rows < minRows || bytes > maxBytes || bytes < shareOfTable * snapshot.sizeBytes) return undefined;
    this.#resting = restCommits;
    const result = await this.#table.compact(plan, signal);
    if (result.outcome === 'committed') this.#resting = 0;
    return { ...result, tookMs: this.#clock.monotonicMs() - startedMs };
  }
}

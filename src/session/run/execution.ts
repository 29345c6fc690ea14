import { throwIfAborted } from '../../base/abort.ts';
import type { Engine, HeldRelation } from '../../engine/engine.ts';
import type { StatementTime } from '../../expr/time-zone.ts';
import type { Relation } from '../../table/relation.ts';
import type { ScanStatistics } from '../../table/scan.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { Version } from '../../table/version.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import type { StreamRead } from '../plan/plan.ts';
import type { SubqueryForm } from '../plan/subquery-name.ts';
import { evaluationError } from './evaluation-error.ts';
import type { SessionRuntime } from './session-runtime.ts';

/** What one query looked at in one table. */
export interface TableRead extends ScanStatistics {
  readonly table: string;
  readonly version: Version;
}

/**
 * One evaluation of a plan: every table is read at one version however often it occurs, "now" is one instant, and what the engine holds
 * for it is let go at the end.
 */
export class Execution {
  readonly runtime: SessionRuntime;
  readonly signal: AbortSignal | undefined;
  readonly engine: Engine;
  readonly now: StatementTime;
  readonly #held: HeldRelation[] = [];
  readonly #newest = new Map<QueryableTable, Promise<Snapshot>>();
  readonly #reads: TableRead[] = [];
  readonly #subqueries = new Map<string, { readonly form: SubqueryForm; readonly query: Analyzed }>();
  readonly #batches = new Map<StreamRead, Relation>();
  #readsChanges = false;
  #lastNumber = 0;

  constructor(runtime: SessionRuntime, engine: Engine, signal: AbortSignal | undefined) {
    this.runtime = runtime;
    this.engine = engine;
    this.signal = signal;
    this.now = runtime.now();
  }

  get reads(): readonly TableRead[] {
    return this.#reads;
  }

  /** Whether change rows are read, whose files may be vacuumed. */
  get readsChanges(): boolean {
    return this.#readsChanges;
  }

  noteChanges(): void {
    this.#readsChanges = true;
  }

  /** Keeps a query that stands in an expression. Gives its name there. */
  addSubquery(form: SubqueryForm, query: Analyzed): string {
    const id = `subquery ${this.nextNumber()}`;
    this.#subqueries.set(id, { form, query });
    return id;
  }

  subquery(id: string): { readonly form: SubqueryForm; readonly query: Analyzed } | undefined {
    return this.#subqueries.get(id);
  }

  /** Makes the plan one over these rows of a stream. */
  readBatch(stream: StreamRead, batch: Relation): void {
    this.#batches.set(stream, batch);
  }

  /** What is read in place of a stream; `undefined`: the stream itself, which has columns and no rows. */
  batchOf(stream: StreamRead): Relation | undefined {
    return this.#batches.get(stream);
  }

  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  /** The newest version, the same for all of this execution. */
  newest(table: QueryableTable): Promise<Snapshot> {
    const known = this.#newest.get(table);
    if (known !== undefined) return known;
    const found = table.refresh(this.signal);
    this.#newest.set(table, found);
    return found;
  }

  /** Tables that are read at their newest version, by id. */
  async readVersions(): Promise<ReadonlyMap<string, Version>> {
    const snapshots = await Promise.all(this.#newest.values());
    return new Map(snapshots.map(({ tableId, version }) => [tableId, version]));
  }

  /** Disposes of the relation when the execution ends. */
  keep(relation: HeldRelation): HeldRelation {
    this.#held.push(relation);
    return relation;
  }

  report(read: TableRead): void {
    this.#reads.push(read);
  }

  async dispose(): Promise<void> {
    for (const relation of this.#held.toReversed()) await relation.dispose();
    this.#held.length = 0;
  }
}

/** An execution that the caller disposes of. @throws AnalysisException `SESSION_STOPPED`. */
export async function openExecution(runtime: SessionRuntime, signal: AbortSignal | undefined): Promise<Execution> {
  runtime.assertRunning();
  throwIfAborted(signal);
  return new Execution(runtime, await runtime.openEngine(), signal);
}

/** Runs `work` in an execution of its own, which ends with it. */
export async function withExecution<T>(
  runtime: SessionRuntime,
  signal: AbortSignal | undefined,
  work: (execution: Execution) => Promise<T>,
): Promise<T> {
  const execution = await openExecution(runtime, signal);
  try {
    return await work(execution);
  } catch (error) {
    throw evaluationError(error, execution.readsChanges);
  } finally {
    await execution.dispose();
  }
}

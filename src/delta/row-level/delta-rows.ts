import { present } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { HeldRelation, ScanOptions } from '../../engine/engine.ts';
import { type Expression, trueLiteral } from '../../expr/expression.ts';
import { type StatementTime, statementTime } from '../../expr/time-zone.ts';
import type { FilePlace } from '../../rows/change/file-groups.ts';
import type { DerivedColumn } from '../../rows/change/rewrite-sql.ts';
import { historyText, RowScope } from '../../rows/change/row-scope.ts';
import type { RowPositions } from '../../rows/change/touched-file.ts';
import type { KeyedRowTable } from '../../rows/keyed/keyed-row-table.ts';
import type { GivenRows, RowChange, RowTable } from '../../rows/row-table.ts';
import type { RowCommand } from '../../rows/row-target.ts';
import { RowWork } from '../../rows/row-work.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { CommitOutcome } from '../../table/commit.ts';
import { derivedImageKeys, type UpsertIntent } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import type { RowTrackingColumns, ScanFile } from '../../table/scan.ts';
import type { Version } from '../../table/version.ts';
import { type Action, type AddFile, type CdcFile, liveRows, type MetadataAction, physicalRows } from '../actions.ts';
import { appendOnlyError } from '../delta-committer.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkRows } from '../files/checked-rows.ts';
import { discardStaged, stageChanges, stageRows } from '../files/stage-rows.ts';
import { storedExpression } from '../files/stored-expression.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { movedRowColumns } from '../row-tracking-columns.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { partitionTextsOf } from '../scan/partition-columns.ts';
import { selectFiles } from '../scan/select-files.ts';
import { checkWritable } from '../table-features.ts';
import { commitTransaction, type Transaction } from '../transaction/commit-transaction.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import type { WriteTarget } from '../write/evolve-schema.ts';
import { actionsOf, type MarkedFile } from './file-changes.ts';
import { insertedRows } from './inserted-rows.ts';
import { markDeletedRows } from './mark-deleted-rows.ts';
import { mergeMetrics, rowMetrics } from './row-metrics.ts';
import { deltaRowTarget } from './row-target.ts';
import { upsertCommit } from './upsert-commit.ts';

/** A file that is written and not yet part of any version. */
interface Staged {
  readonly storedPath: string;
}

interface Opened {
  readonly command: RowCommand;
  readonly request: CommitOptions;
  readonly base: DeltaSnapshot;
  /** The base, or what a MERGE makes of its definition. */
  readonly target: WriteTarget;
  readonly work: RowWork;
  /** Wall clock, for the history. */
  readonly startedMs: number;
  /** Of an upsert: the files that it adds, and the marks. */
  readonly intent?: UpsertIntent | undefined;
}

/**
 * The newest version for one row operation; `undefined` when its mark says that it is done. `evolve`: the definition that it writes.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_APPEND_ONLY` (42809), and what `evolve` throws.
 */
export async function openDeltaRows(
  context: OperationContext,
  command: RowCommand,
  request: CommitOptions,
  evolve?: (snapshot: DeltaSnapshot) => WriteTarget,
): Promise<RowTable<AddFile> | undefined> {
  const { signal } = request;
  const startedMs = context.clock.now();
  const base = await context.refresh(signal);
  // A MERGE may add rows alone: what it takes out is known once it is committed.
  if (base.settings.appendOnly && command !== 'merge') throw appendOnlyError(context.name);
  if (isAlreadyWritten(base, request)) return undefined;
  const target = evolve?.(base) ?? { snapshot: base, actions: [] };
  const { name, clock } = context;
  const engine = await context.engine();
  const work = new RowWork({ target: deltaRowTarget(name), engine, signal, now: statementTime(context), clock });
  return new DeltaRows(context, { command, request, base, target, work, startedMs });
}

/**
 * A version under one upsert of staged files.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_APPEND_ONLY` (42809), `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`: files come as decoded, so the
 * table must ask for nothing more.
 */
export async function openDeltaUpsert(
  context: OperationContext,
  base: DeltaSnapshot,
  intent: UpsertIntent,
): Promise<KeyedRowTable<AddFile>> {
  const { name, clock } = context;
  if (base.settings.appendOnly) throw appendOnlyError(name);
  checkWritable(base.protocol, base.metadata, base.schema, name);
  const engine = await context.engine();
  const work = new RowWork({ target: deltaRowTarget(name), engine, signal: undefined, now: statementTime(context), clock });
  const target = { snapshot: base, actions: [] };
  return new DeltaRows(context, { command: 'merge', request: {}, base, target, work, startedMs: clock.now(), intent });
}

/** Deletes by vectors, where the table has them, and by rewriting files otherwise. */
class DeltaRows implements KeyedRowTable<AddFile> {
  readonly work: RowWork;
  readonly snapshotId = undefined;
  readonly schema: StructType;
  readonly writtenSchema: StructType;
  readonly marksRows: boolean;
  readonly recordsChanges: boolean;
  readonly partitionTexts: (file: AddFile, fields: readonly Field[]) => readonly (string | undefined)[] | undefined;
  readonly #context: OperationContext;
  readonly #opened: Opened;
  readonly #written: DeltaSnapshot;
  /** The table's definition after identity columns have counted on. */
  #metadata: MetadataAction;
  readonly #staged: Staged[] = [];
  readonly #added: AddFile[] = [];
  readonly #removed: AddFile[] = [];
  readonly #marked: MarkedFile[] = [];
  readonly #changeFiles: CdcFile[] = [];
  /** So many rows were written in place of the staged files of an upsert. */
  #replacedBy: number | undefined;

  constructor(context: OperationContext, opened: Opened) {
    const { base, target, command } = opened;
    const { settings, protocol } = base;
    this.#context = context;
    this.#opened = opened;
    this.#written = target.snapshot;
    this.#metadata = target.snapshot.metadata;
    this.work = opened.work;
    this.schema = base.schema;
    this.writtenSchema = target.snapshot.schema;
    this.marksRows = settings.deletionVectors && protocol.writerFeatures?.includes('deletionVectors') === true;
    // The rows that a vector deletes are seen by comparing it with the one before; files that are copied show rows that did not change.
    const derives = command === 'delete' || (opened.intent !== undefined && derivedImageKeys(base).length > 0);
    this.recordsChanges = settings.changeDataFeed && !(this.marksRows && derives);
    this.partitionTexts = partitionTextsOf(base, context.name);
  }

  derivedColumns(): readonly DerivedColumn[] {
    return derivedColumns(this.#context.name, this.writtenSchema, this.work.now);
  }

  trackedColumns(): RowTrackingColumns | undefined {
    return movedRowColumns(this.#written, this.#context.name);
  }

  filesFor(condition: Expression | undefined): Promise<readonly AddFile[]> {
    return Promise.resolve(selectFiles(this.#opened.base, condition));
  }

  placeOf({ storedPath, sizeBytes }: AddFile): FilePlace {
    return { path: storedPath, sizeBytes };
  }

  addedOrder({ modifiedMs }: AddFile): number {
    return modifiedMs;
  }

  liveRows(file: AddFile): number | undefined {
    return liveRows(file);
  }

  get tableId(): string {
    return this.#opened.base.tableId;
  }

  storedRows({ stats }: AddFile): number | undefined {
    return physicalRows(stats);
  }

  deletedRows(files: readonly AddFile[]): Promise<readonly ScanFile['deletedRows'][]> {
    return Promise.resolve(fileScanOf(this.#context, this.#opened.base, files).files.map(({ deletedRows }) => deletedRows));
  }

  scan(files: readonly AddFile[], options?: ScanOptions): Promise<HeldRelation> {
    return this.#scan(this.#opened.base, files, options);
  }

  scanToWrite(files: readonly AddFile[], options?: ScanOptions): Promise<HeldRelation> {
    return this.#scan(this.#written, files, options);
  }

  async insertedRows(clauses: readonly GivenRows[], rowCount: bigint): Promise<Relation> {
    const inserted = await insertedRows(this.#context, this.work, { snapshot: this.#written, clauses, rowCount });
    this.#metadata = inserted.metadata;
    return inserted.rows;
  }

  checkUpdated(rows: Relation): Promise<void> {
    return checkRows(this.#context, this.#written, rows, this.work.signal);
  }

  async write(rows: Relation): Promise<void> {
    const options = { dataChange: true, signal: this.work.signal };
    this.#added.push(...this.#staging(await stageRows(this.#context, this.#written, rows, options)));
  }

  async record(changes: Relation): Promise<void> {
    this.#changeFiles.push(...this.#staging(await stageChanges(this.#context, this.#written, changes, this.work.signal)));
  }

  async mark(rows: RowPositions<AddFile>): Promise<void> {
    const staged = (storedPath: string): unknown => this.#staged.push({ storedPath });
    const { marked, removed } = await markDeletedRows(this.#context, this, rows, staged);
    this.#marked.push(...marked);
    this.#removed.push(...removed);
  }

  end(files: readonly AddFile[]): void {
    this.#removed.push(...files);
  }

  commit(change: RowChange<AddFile>): Promise<Version> {
    const { base, request } = this.#opened;
    const { signal, idempotency, userMetadata } = request;
    return commitTransaction(this.#context, {
      ...this.#history(change),
      reads: this.#reads(change),
      base,
      userMetadata,
      idempotency,
      signal,
    });
  }

  stagedRows(): Promise<HeldRelation> {
    return this.#scan(this.#written, this.#adopted(), undefined);
  }

  async replaceStaged(rows: Relation, rowCount: number): Promise<void> {
    this.#replacedBy = rowCount;
    if (rowCount > 0) await this.write(rows);
  }

  tryCommit(): Promise<CommitOutcome> {
    const { base, intent: given } = this.#opened;
    const intent = present(given, 'an upsert has staged files');
    const { clock } = this.#context;
    const added = [...(this.#replacedBy === undefined ? this.#adopted() : []), ...this.#added];
    const changes = { added, removed: this.#removed, marked: this.#marked, changeFiles: this.#changeFiles };
    const { progress, userMetadata, stagedSinceMs, commitId } = intent;
    const rows = this.#replacedBy ?? intent.files.reduce((sum, file) => sum + file.rowCount, 0);
    const commit = upsertCommit(base, progress, { changes, rows });
    const actions = [...commit.actions, ...actionsOf(changes, clock.now())];
    return this.#context.tryCommit(base, { ...commit, actions, progress, userMetadata, stagedSinceMs }, commitId);
  }

  discard(): Promise<void> {
    return discardStaged(this.#context, this.#staged);
  }

  /** The staged files of an upsert, which are not this operation's to delete. */
  #adopted(): readonly AddFile[] {
    const { base, intent } = this.#opened;
    return (intent?.files ?? []).map((file) => this.#context.addOf(file, base, { dataChange: true }));
  }

  #scan(snapshot: DeltaSnapshot, files: readonly AddFile[], options: ScanOptions | undefined): Promise<HeldRelation> {
    return this.work.engine.scan(fileScanOf(this.#context, snapshot, files), options, this.work.signal);
  }

  /** Remembers files that must go when the operation fails. */
  #staging<File extends Staged>(written: readonly File[]): readonly File[] {
    this.#staged.push(...written);
    return written;
  }

  #history(change: RowChange<AddFile>): Pick<Transaction, 'operation' | 'operationParameters' | 'operationMetrics' | 'actions'> {
    const { command, startedMs } = this.#opened;
    const { clock } = this.#context;
    const changes = { added: this.#added, removed: this.#removed, marked: this.#marked, changeFiles: this.#changeFiles };
    const endedMs = clock.monotonicMs();
    const { condition, merge } = change;
    // A DELETE without a condition is one of all rows.
    const predicate = condition === undefined ? (command === 'delete' ? ['true'] : []) : [historyText(condition)];
    const metrics =
      merge === undefined
        ? rowMetrics(command, changes, { ...change, endedMs })
        : mergeMetrics(changes, { ...change, merge, endedMs, marksRows: this.marksRows });
    return {
      operation: command.toUpperCase(),
      operationParameters: merge?.operationParameters ?? { predicate: printJson(predicate) },
      operationMetrics: { ...metrics, executionTimeMs: String(clock.now() - startedMs) },
      actions: [...this.#definition(), ...actionsOf(changes, clock.now())],
    };
  }

  #reads({ condition, readFiles, merge }: RowChange<AddFile>): Transaction['reads'] {
    if (condition === undefined && merge === undefined) return { wholeTable: true, files: readFiles };
    return { conditions: [condition ?? trueLiteral], files: readFiles };
  }

  /** What changes of the table itself: new columns, and how far identity columns have counted. */
  #definition(): readonly Action[] {
    const { actions, snapshot } = this.#opened.target;
    if (this.#metadata === snapshot.metadata) return actions;
    return [...actions.filter((action) => action.kind !== 'metaData'), this.#metadata];
  }
}

/**
 * Generated columns of a table, to be computed again where what they come from changes.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_STORED_EXPRESSION` (unsupported).
 */
function derivedColumns(table: string, schema: StructType, now: StatementTime): readonly DerivedColumn[] {
  return schema.fields.flatMap((field): readonly DerivedColumn[] => {
    const text = field.metadata?.['delta.generationExpression'];
    if (typeof text !== 'string') return [];
    const operand = storedExpression(table, `generated column "${field.name}"`, text);
    const value: Expression = { kind: 'cast', operand, type: field.type, safe: false };
    const sql = (columnSql: (name: string) => string): string => {
      const scope = new RowScope([{ alias: undefined, schema, columnSql }], now);
      return scope.sql(scope.bind(value));
    };
    return [{ name: field.name, sql }];
  });
}

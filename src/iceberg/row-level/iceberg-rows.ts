import { present } from '../../base/assert.ts';
import type { HeldRelation, ScanOptions } from '../../engine/engine.ts';
import type { Expression } from '../../expr/expression.ts';
import { statementTime } from '../../expr/time-zone.ts';
import type { FilePlace } from '../../rows/change/file-groups.ts';
import { positionsByFile } from '../../rows/change/positions-by-file.ts';
import type { DerivedColumn } from '../../rows/change/rewrite-sql.ts';
import type { RowPositions } from '../../rows/change/touched-file.ts';
import type { KeyedRowTable } from '../../rows/keyed/keyed-row-table.ts';
import { unionOf } from '../../rows/merge/insert-values.ts';
import type { GivenRows, RowChange, RowTable } from '../../rows/row-table.ts';
import type { RowCommand } from '../../rows/row-target.ts';
import { RowWork } from '../../rows/row-work.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { CommitOutcome } from '../../table/commit.ts';
import type { UpsertIntent } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import type { RowTrackingColumns, ScanFile } from '../../table/scan.ts';
import type { Version } from '../../table/version.ts';
import { checkedRows } from '../files/checked-rows.ts';
import { discardFiles } from '../files/discard-files.ts';
import { requiredChecks } from '../files/required-checks.ts';
import { stageDataFiles } from '../files/stage-data-files.ts';
import { type DeletedPositions, stageDeletes } from '../files/stage-deletes.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { hasRowLineage } from '../metadata/format-features.ts';
import { stagedContent } from '../pipeline/staged-content.ts';
import { tryWithMarks } from '../pipeline/try-append.ts';
import { deletedRowsIn, fileScanOf } from '../scan/file-scan.ts';
import { lineageColumns } from '../scan/lineage-columns.ts';
import { type LiveFile, liveFiles, notYetLive } from '../scan/live-files.ts';
import { identityText } from '../scan/partition-values.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import type { EvolvedState } from './evolve-for-rows.ts';
import { marksRows, validationFor } from './row-modes.ts';
import { icebergRowTarget } from './row-target.ts';

interface Opened {
  readonly command: RowCommand;
  readonly request: CommitOptions;
  readonly state: SnapshotState;
  /** The state, or what a MERGE makes of its definition. */
  readonly evolved: EvolvedState;
  readonly work: RowWork;
  /** Of an upsert: the files that it adds, and the marks. */
  readonly intent?: UpsertIntent | undefined;
}

/** The newest snapshot for one row operation. `evolve`: the definition that it writes. @throws AnalysisException what `evolve` throws. */
export async function openIcebergRows(
  context: TableContext,
  command: RowCommand,
  request: CommitOptions,
  evolve?: (state: SnapshotState) => EvolvedState,
): Promise<RowTable<LiveFile>> {
  const { signal } = request;
  const state = await context.refresh(signal);
  const evolved = evolve?.(state) ?? { state, updates: [] };
  const engine = await context.engine();
  const work = new RowWork({ target: icebergRowTarget(context.name), engine, signal, now: statementTime(context), clock: context.clock });
  return new IcebergRows(context, { command, request, state, evolved, work });
}

/** A snapshot under one upsert of staged files. */
export async function openIcebergUpsert(
  context: TableContext,
  state: SnapshotState,
  intent: UpsertIntent,
): Promise<KeyedRowTable<LiveFile>> {
  const engine = await context.engine();
  const { name, clock } = context;
  const work = new RowWork({ target: icebergRowTarget(name), engine, signal: undefined, now: statementTime(context), clock });
  return new IcebergRows(context, { command: 'merge', request: {}, state, evolved: { state, updates: [] }, work, intent });
}

/** Copy-on-write, or merge-on-read: delete files over the old rows. */
class IcebergRows implements KeyedRowTable<LiveFile> {
  readonly work: RowWork;
  readonly snapshotId: bigint | undefined;
  readonly schema: StructType;
  readonly writtenSchema: StructType;
  readonly recordsChanges = false;
  readonly #context: TableContext;
  readonly #opened: Opened;
  readonly #added: ContentFile[] = [];
  readonly #removed: ContentFile[] = [];
  /** Data files with rows that are marked. */
  readonly #markedPaths: string[] = [];
  #endedFiles = false;
  /** The staged files of an upsert become part of the table. */
  #adopts = true;
  /** What was looked for last. */
  #looked: { readonly condition: Expression | undefined; readonly files: number } = { condition: undefined, files: 0 };

  constructor(context: TableContext, opened: Opened) {
    this.#context = context;
    this.#opened = opened;
    this.work = opened.work;
    this.snapshotId = opened.state.snapshotId;
    this.schema = opened.state.schema;
    this.writtenSchema = opened.evolved.state.schema;
  }

  get marksRows(): boolean {
    return marksRows(this.#opened.state, this.#opened.command);
  }

  derivedColumns(): readonly DerivedColumn[] {
    return [];
  }

  trackedColumns(): RowTrackingColumns | undefined {
    return hasRowLineage(this.#opened.state.metadata) ? lineageColumns : undefined;
  }

  async filesFor(condition: Expression | undefined): Promise<readonly LiveFile[]> {
    const { data } = await liveFiles(this.#context, this.#opened.state, condition, this.work.signal);
    this.#looked = { condition, files: data.length };
    return data;
  }

  placeOf({ entry }: LiveFile): FilePlace {
    return { path: entry.file.path, sizeBytes: entry.file.fileSizeBytes };
  }

  addedOrder({ entry }: LiveFile): number {
    return Number(entry.sequenceNumber);
  }

  liveRows({ entry, deletes }: LiveFile): number | undefined {
    return deletes.length === 0 ? entry.file.recordCount : undefined;
  }

  partitionTexts({ entry }: LiveFile, fields: readonly Field[]): readonly (string | undefined)[] | undefined {
    const { specId, partition } = entry.file;
    const spec = this.#opened.state.metadata.partitionSpecs.find((candidate) => candidate.specId === specId);
    const values: (string | undefined)[] = [];
    for (const { id, type } of fields) {
      const place = spec?.fields.findIndex(({ sourceId, transform }) => sourceId === id && transform.kind === 'identity') ?? -1;
      if (place < 0) return undefined;
      values.push(identityText(type, partition[place]));
    }
    return values;
  }

  get tableId(): string {
    return this.#opened.state.metadata.tableUuid;
  }

  storedRows({ entry }: LiveFile): number {
    return entry.file.recordCount;
  }

  deletedRows(files: readonly LiveFile[]): Promise<readonly ScanFile['deletedRows'][]> {
    return Promise.resolve(files.map(deletedRowsIn(this.#context, this.#opened.state, files)));
  }

  scan(files: readonly LiveFile[], options?: ScanOptions): Promise<HeldRelation> {
    return this.#scan(this.#opened.state, files, options);
  }

  scanToWrite(files: readonly LiveFile[], options?: ScanOptions): Promise<HeldRelation> {
    return this.#scan(this.#opened.evolved.state, files, options);
  }

  async insertedRows(clauses: readonly GivenRows[]): Promise<Relation> {
    const { work } = this;
    const { engine, signal } = work;
    const holding = (relation: Promise<HeldRelation>): Promise<HeldRelation> => work.holding(relation);
    const parts: Relation[] = [];
    for (const { rows, members } of clauses) {
      const tools = { context: this.#context, engine, signal, holding };
      parts.push(await checkedRows(tools, this.#opened.evolved.state, rows, { matchBy: 'name', members }));
    }
    return unionOf(parts, this.writtenSchema);
  }

  checkUpdated(rows: Relation): Promise<void> {
    const { engine, signal } = this.work;
    return refuseBrokenRows(engine, rows, requiredChecks(this.#context.name, this.writtenSchema), signal);
  }

  async write(rows: Relation): Promise<void> {
    const withRowTracking = rows.schema.fields.length > this.writtenSchema.fields.length;
    const { signal } = this.work;
    this.#added.push(...(await stageDataFiles(this.#context, this.#opened.evolved.state, rows, { withRowTracking }, signal)));
  }

  record(): Promise<void> {
    return Promise.resolve();
  }

  async mark(rows: RowPositions<LiveFile>): Promise<void> {
    const { added, removed } = await stageDeletes(this.#context, this.#opened.state, this.#deleted(rows), this.work.signal);
    this.#added.push(...added);
    this.#removed.push(...removed);
  }

  end(files: readonly LiveFile[]): void {
    this.#endedFiles = true;
    this.#removed.push(...files.flatMap(withItsDeletes));
  }

  async commit({ condition }: RowChange<LiveFile>): Promise<Version> {
    const { command, request, state, evolved } = this.#opened;
    const marked = !this.#endedFiles && this.marksRows;
    const validation = validationFor(state, command, { condition: condition ?? true, paths: this.#markedPaths, marked });
    const kind = this.#markedPaths.length > 0 ? 'row-delta' : 'overwrite';
    const files = { added: this.#added, removed: this.#removed };
    const change: SnapshotChange = { kind, ...files, validation, updates: evolved.updates, summary: request.summary ?? {} };
    const committed = await commitSnapshot(this.#context, state, change, request);
    return committed.version;
  }

  /** As Spark: a snapshot that changes nothing, but for a DELETE of which it is plain that it can find nothing. */
  async commitUnchanged(onlyAdds: boolean): Promise<Version | undefined> {
    const { command, request, state } = this.#opened;
    const { condition, files } = this.#looked;
    if (command === 'delete' && condition?.kind === 'literal' && condition.literal.type === 'boolean') return undefined;
    const operation = command === 'delete' && files === 0 ? 'delete' : 'overwrite';
    const change: SnapshotChange = {
      kind: onlyAdds ? 'append' : 'overwrite',
      added: [],
      removed: [],
      validation: { since: state.snapshot?.snapshotId },
      summary: { ...request.summary, operation: onlyAdds ? 'append' : operation },
    };
    return (await commitSnapshot(this.#context, state, change, request)).version;
  }

  stagedRows(): Promise<HeldRelation> {
    return this.#scan(this.#opened.state, this.#adopted().map(notYetLive), undefined);
  }

  async replaceStaged(rows: Relation, rowCount: number): Promise<void> {
    this.#adopts = false;
    if (rowCount > 0) await this.write(rows);
  }

  tryCommit(): Promise<CommitOutcome> {
    const { state, intent: given } = this.#opened;
    const intent = present(given, 'an upsert has staged files');
    const added = [...(this.#adopts ? this.#adopted() : []), ...this.#added];
    const kind = this.#markedPaths.length > 0 ? 'row-delta' : this.#endedFiles ? 'overwrite' : 'append';
    return tryWithMarks(this.#context, state, { intent, change: { kind, added, removed: this.#removed } });
  }

  discard(): Promise<void> {
    return discardFiles(this.#context, this.#added);
  }

  /** The staged files of an upsert, which are not this operation's to delete. */
  #adopted(): readonly ContentFile[] {
    const { state, intent } = this.#opened;
    return stagedContent(state, intent?.files ?? []);
  }

  async #scan(state: SnapshotState, files: readonly LiveFile[], options: ScanOptions | undefined): Promise<HeldRelation> {
    const { engine, signal } = this.work;
    return engine.scan(await fileScanOf(this.#context, state, files, {}, signal), options, signal);
  }

  async *#deleted({ files, positions: all }: RowPositions<LiveFile>): AsyncGenerator<DeletedPositions> {
    for await (const { index, positions } of positionsByFile(this.work, all)) {
      const file = present(files[index], 'a deleted position must be of one of the files');
      this.#markedPaths.push(file.entry.file.path);
      yield { file, positions };
    }
  }
}

/** A data file with the delete files that concern it alone: they end with it. */
function withItsDeletes({ entry, attached }: LiveFile): readonly ContentFile[] {
  const own = attached.own.filter(({ file }) => file.referencedDataFile === entry.file.path);
  return [entry.file, ...(attached.vector === undefined ? [] : [attached.vector.file]), ...own.map(({ file }) => file)];
}

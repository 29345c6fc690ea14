import type { Engine } from '../../engine/engine.ts';
import type { Expression } from '../../expr/expression.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Relation } from '../../table/relation.ts';
import type { WriteRequest, WriteResult } from '../../table/row-operations.ts';
import { type Action, type AddFile, type CdcFile, type MetadataAction, removeOf } from '../actions.ts';
import { physicalPartitionColumns, physicalSchema } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { rowChecksOf } from '../files/checked-rows.ts';
import { withMarksMoved } from '../files/identity-columns.ts';
import { type PreparedRows, prepareRows } from '../files/prepare-rows.ts';
import { discardStaged, stageChanges, stageRows } from '../files/stage-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { partitionKey } from '../operations/optimize/partition-key.ts';
import { commitTransaction, type TransactionReads } from '../transaction/commit-transaction.ts';
import { effectiveMetadata } from '../transaction/effective-definition.ts';
import type { WriteTarget } from './evolve-schema.ts';
import { optimizedFileBytes } from './optimized-write.ts';
import { dividedRows, replacedRows, replaceWhereCheck } from './replaced-rows.ts';
import type { StructRule } from './structs-by-place.ts';
import { bytesIn, rowsIn, writeMetrics, writeParameters } from './write-history.ts';

/** What a write that wrote nothing reports. */
export const nothingWritten: WriteResult = { version: undefined, rowCount: 0, fileCount: 0, sizeBytes: 0 };

/** What of the table goes, and what is written in its place besides the request's rows. */
interface Replacement {
  readonly reads: TransactionReads;
  readonly removed: readonly AddFile[];
  readonly copied: readonly AddFile[];
  readonly changes: readonly CdcFile[];
  readonly deletedRows?: number | undefined;
}

/** One write being worked out; `release` ends it. */
export class RowWrite {
  readonly #context: OperationContext;
  readonly #request: WriteRequest;
  readonly #base: DeltaSnapshot;
  readonly #engine: Engine;
  readonly #target: WriteTarget;
  readonly #byPlace: StructRule;
  readonly #staged: { readonly storedPath: string }[] = [];
  readonly #held: { dispose(): Promise<void> }[] = [];

  constructor(
    context: OperationContext,
    request: WriteRequest,
    parts: {
      readonly base: DeltaSnapshot;
      readonly target: WriteTarget;
      readonly byPlace: StructRule;
      readonly engine: Engine;
    },
  ) {
    this.#context = context;
    this.#request = request;
    this.#base = parts.base;
    this.#target = parts.target;
    this.#byPlace = parts.byPlace;
    this.#engine = parts.engine;
  }

  /** Stages and commits. @throws what `writeRows` throws; `discard` tells what to do then. */
  async run(): Promise<WriteResult> {
    const { rows, identities } = await this.#checkedRows();
    const added = await this.#keep(
      stageRows(this.#context, this.#target.snapshot, rows, {
        dataChange: true,
        targetFileBytes: optimizedFileBytes(this.#base, this.#request),
        signal: this.#request.signal,
      }),
    );
    const replacement = await this.#replacement(rows, added);
    const actions = this.#actions(added, replacement, identities);
    const request = this.#request;
    if (actions.length === 0 && request.idempotency === undefined) return nothingWritten;
    const { removed, copied, changes, deletedRows } = replacement;
    const version = await commitTransaction(this.#context, {
      base: this.#base,
      operation: request.operation ?? 'WRITE',
      operationParameters: writeParameters(request),
      operationMetrics: writeMetrics(request, { added, copied, removed, changeFiles: changes.length, deletedRows }),
      actions,
      reads: this.#readsItself() ? { ...replacement.reads, wholeTable: true } : replacement.reads,
      autoCompact: request.autoCompact,
      userMetadata: request.userMetadata,
      idempotency: request.idempotency,
      signal: request.signal,
    });
    return { version, rowCount: rowsIn(added), fileCount: added.length, sizeBytes: bytesIn(added) };
  }

  /** Rows that were computed from the table's own are right for the rows there were: such an append is not blind. */
  #readsItself(): boolean {
    return this.#request.readVersions?.has(this.#base.tableId) === true;
  }

  /** Deletes what was staged; only when it is certain that no version refers to it. */
  async discard(): Promise<void> {
    await discardStaged(this.#context, this.#staged);
  }

  async release(): Promise<void> {
    for (const held of this.#held.splice(0).reverse()) await held.dispose();
  }

  /** The rows as the table's, with everything it asks of them made sure. */
  async #checkedRows(): Promise<PreparedRows> {
    const { signal, mode } = this.#request;
    const condition = mode.kind === 'overwrite' ? mode.replaceWhere : undefined;
    const target = this.#target.snapshot;
    const prepare = (rows: Relation): PreparedRows =>
      prepareRows(this.#context, target, rows, {
        matchBy: this.#request.matchBy ?? 'name',
        rule: this.#request.storeAssignment === true ? 'cast' : 'fit',
        structsByPlace: this.#byPlace,
      });
    const checks = [
      ...rowChecksOf(this.#context, target),
      ...(condition === undefined ? [] : [replaceWhereCheck(this.#context, target, condition)]),
    ];
    const prepared = prepare(this.#request.rows);
    const readOnce = checks.length === 0 && prepared.checks.length === 0 && !this.#recordsChanges();
    if (readOnce) return prepared;
    // Read more than once, rows must be the same each time.
    const given = await this.#hold(this.#request.rows);
    const again = prepare(given);
    await refuseBrokenRows(this.#engine, again.source, again.checks, signal);
    const rows = again.identities.length === 0 ? again.rows : await this.#hold(again.rows);
    await refuseBrokenRows(this.#engine, rows, checks, signal);
    return { ...again, rows };
  }

  /** Whether inserted rows may have to be written a second time, as change rows. */
  #recordsChanges(): boolean {
    const { mode } = this.#request;
    return this.#target.snapshot.settings.changeDataFeed && mode.kind === 'overwrite' && mode.replaceWhere !== undefined;
  }

  async #replacement(rows: Relation, added: readonly AddFile[]): Promise<Replacement> {
    const { mode } = this.#request;
    const nothing = { copied: [], changes: [] };
    if (mode.kind === 'append') return { ...nothing, reads: {}, removed: [] };
    if (mode.kind === 'overwrite' && mode.replaceWhere !== undefined) return this.#replaceWhere(rows, mode.replaceWhere);
    if (mode.kind === 'overwrite' || this.#base.partitionColumns.length === 0) {
      // Nothing written replaces nothing where the written rows decide what is replaced.
      if (mode.kind === 'overwrite-partitions' && added.length === 0) return { ...nothing, reads: {}, removed: [] };
      return { ...nothing, reads: { wholeTable: true }, removed: [...this.#base.files()] };
    }
    const removed = filesOfPartitions(this.#base, added);
    return { ...nothing, reads: { partitions: added.map((file) => file.partitionValues), files: removed }, removed };
  }

  async #replaceWhere(rows: Relation, replaceWhere: Expression): Promise<Replacement> {
    const { signal } = this.#request;
    const target = this.#target.snapshot;
    const replaced = await replacedRows(this.#context, this.#base, replaceWhere, signal);
    const { condition, whole, partial, deletedRows } = replaced;
    const result = { reads: { conditions: [condition], files: replaced.read }, removed: [...whole, ...partial], deletedRows };
    const read = replaced.read === whole ? [] : result.removed;
    if (read.length === 0) return { ...result, copied: [], changes: [] };
    await using divided = await dividedRows(this.#engine, this.#context, target, { files: partial, condition, moved: true }, signal);
    const copied =
      partial.length === 0 ? [] : await this.#keep(stageRows(this.#context, target, divided.kept, { dataChange: true, signal }));
    if (!target.settings.changeDataFeed) return { ...result, copied, changes: [] };
    // A commit with change files is read by them alone: they hold the inserted rows too.
    await using all = await dividedRows(this.#engine, this.#context, target, { files: read, condition, moved: false }, signal);
    const changes = await this.#keep(stageChanges(this.#context, target, changeRows(all.replaced, rows), signal));
    return { ...result, copied, changes };
  }

  #actions(added: readonly AddFile[], replacement: Replacement, identities: PreparedRows['identities']): readonly Action[] {
    const { snapshot, actions } = this.#target;
    const metadata = withMarksMoved(effectiveMetadata(this.#base, actions), snapshot.schema, identities, rowsIn(added));
    const definition = metadata === this.#base.metadata ? [] : [...withoutMetadata(actions), metadata];
    const deletedMs = Math.max(this.#context.clock.now(), this.#base.committedAt);
    const removes = replacement.removed.map((file) => removeOf(file, { deletedMs, dataChange: true }));
    return [...definition, ...added, ...replacement.copied, ...removes, ...replacement.changes];
  }

  async #hold(rows: Relation): Promise<Relation> {
    const held = await this.#engine.materialize(rows, this.#request.signal);
    this.#held.push(held);
    return held;
  }

  async #keep<File extends { readonly storedPath: string }>(files: Promise<readonly File[]>): Promise<readonly File[]> {
    const written = await files;
    this.#staged.push(...written);
    return written;
  }
}

function withoutMetadata(actions: readonly Action[]): readonly Exclude<Action, MetadataAction>[] {
  return actions.filter((action): action is Exclude<Action, MetadataAction> => action.kind !== 'metaData');
}

/** Live files of the partitions that the added files lie in, by the meaning of the values. */
function filesOfPartitions(base: DeltaSnapshot, added: readonly AddFile[]): readonly AddFile[] {
  const columns = physicalPartitionColumns(base.schema, base.partitionColumns, base.mapping);
  const schema = physicalSchema(base.schema, base.mapping);
  const keyOf = (file: AddFile): string => partitionKey(file.partitionValues, columns, schema);
  const keys = new Set(added.map(keyOf));
  return [...base.files()].filter((file) => keys.has(keyOf(file)));
}

function changeRows(deleted: Relation, inserted: Relation): Relation {
  const changeType = { name: '_change_type', type: { kind: 'string' }, nullable: false } as const;
  return {
    sql: `SELECT *, 'delete' AS "_change_type" FROM (${deleted.sql}) UNION ALL SELECT *, 'insert' FROM (${inserted.sql})`,
    schema: { kind: 'struct', fields: [...inserted.schema.fields, changeType] },
  };
}

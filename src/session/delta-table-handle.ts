import { parseExpression } from '../expr/parse/parse-expression.ts';
import type { DefinitionChange } from '../table/definition-changes.ts';
import type { Assignment } from '../table/row-operations.ts';
import type { QueryableTable } from '../table/table.ts';
import { quotedName } from '../table/table-names.ts';
import { Column, namePath } from './column.ts';
import { resultFrame } from './commands/command-result.ts';
import { convertCommand } from './commands/convert-command.ts';
import { detailRows, detailSchema, historyRows, historySchema } from './commands/describe-commands.ts';
import { generateCommand, restoreCommand, vacuumCommand } from './commands/maintenance-commands.ts';
import { optimizeCommand } from './commands/optimize-command.ts';
import { type CommandTarget, commitOptionsOf, deleteCommand, updateCommand } from './commands/row-commands.ts';
import { DataFrame } from './data-frame.ts';
import { assignmentsOf, type ConditionInput, conditionOf, type SetInput } from './delta-inputs.ts';
import { DeltaMergeBuilder } from './delta-merge-builder.ts';
import { DeltaTableBuilder } from './delta-table-builder.ts';
import type { TableReference } from './plan/plan.ts';
import { timestampPoint } from './read/read-options.ts';
import type { SessionRuntime } from './run/session-runtime.ts';
import type { Session } from './session.ts';
import { invalidArgument, notADeltaTable } from './session-errors.ts';

interface DeltaTableParts {
  readonly runtime: SessionRuntime;
  readonly reference: TableReference;
  readonly table: QueryableTable;
  readonly alias?: string | undefined;
}

/** What operations of a table take. */
export interface DeltaOperationOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A Delta table as an object: row operations, maintenance, history. Operations are executed when they are called and answer with the rows
 * that the same SQL statement has. Immutable; it always means the newest version.
 */
export class DeltaTable {
  readonly #parts: DeltaTableParts;

  private constructor(parts: DeltaTableParts) {
    this.#parts = parts;
  }

  /** The table in a directory. @throws AnalysisException `DELTA_MISSING_DELTA_TABLE`. */
  static async forPath(session: Session, path: string): Promise<DeltaTable> {
    return DeltaTable.#open(session.runtime, { kind: 'path', format: 'delta', path });
  }

  /** The table of a name, such as `db.t` or `` delta.`/path` ``. @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`. */
  static async forName(session: Session, name: string): Promise<DeltaTable> {
    return DeltaTable.#open(session.runtime, session.runtime.tables.referenceOf(namePath(name)));
  }

  /** Whether there is a Delta table at a path, or of a name when it is no path. */
  static async isDeltaTable(session: Session, identifier: string): Promise<boolean> {
    const { tables } = session.runtime;
    const atPath = await tables.find({ kind: 'path', format: 'delta', path: identifier });
    return atPath !== undefined;
  }

  /** Builds a table that must not be there. */
  static create(session: Session): DeltaTableBuilder<DeltaTable> {
    return DeltaTable.#builder(session.runtime, 'create');
  }

  static createIfNotExists(session: Session): DeltaTableBuilder<DeltaTable> {
    return DeltaTable.#builder(session.runtime, 'create-if-absent');
  }

  /** Builds another definition for a table that must be there. */
  static replace(session: Session): DeltaTableBuilder<DeltaTable> {
    return DeltaTable.#builder(session.runtime, 'replace');
  }

  static createOrReplace(session: Session): DeltaTableBuilder<DeltaTable> {
    return DeltaTable.#builder(session.runtime, 'create-or-replace');
  }

  /**
   * Makes a directory of Parquet files a Delta table, in place.
   *
   * @param identifier `` parquet.`/path` ``.
   * @param partitionSchema names and types of the columns in directory names: `day DATE, region STRING`.
   */
  static async convertToDelta(session: Session, identifier: string, partitionSchema?: string): Promise<DeltaTable> {
    const path = await convertCommand(session.runtime, namePath(identifier), { partitionSchema, collectStatistics: true });
    return DeltaTable.forPath(session, path);
  }

  /** The rows of the newest version, whenever they are read. */
  toDF(): DataFrame {
    const { runtime, reference, alias } = this.#parts;
    const frame = new DataFrame(runtime, { kind: 'table', source: { reference } });
    return alias === undefined ? frame : frame.alias(alias);
  }

  /** The table under a name that conditions and values can qualify its columns with. */
  alias(name: string): DeltaTable {
    return new DeltaTable({ ...this.#parts, alias: name });
  }

  as(name: string): DeltaTable {
    return this.alias(name);
  }

  /** The versions, newest first, as DESCRIBE HISTORY has them. */
  history(limit?: number): DataFrame {
    const { table, runtime } = this.#parts;
    return new DataFrame(runtime, { kind: 'made', schema: historySchema, rows: (signal) => historyRows(table, limit, signal) });
  }

  /** One row about the table, as DESCRIBE DETAIL has it. */
  detail(): DataFrame {
    const { table, runtime, reference } = this.#parts;
    const name = runtime.tables.qualifiedName(reference);
    return new DataFrame(runtime, { kind: 'made', schema: detailSchema, rows: (signal) => detailRows(table, name, signal) });
  }

  /** Deletes the rows of the condition, or all. Gives `num_affected_rows`. */
  async delete(condition?: ConditionInput, options: DeltaOperationOptions = {}): Promise<DataFrame> {
    const request = { condition: condition === undefined ? undefined : conditionOf(condition), alias: this.#parts.alias };
    return this.#frame(await deleteCommand(this.#target(options), request));
  }

  /**
   * Sets columns: `update({ condition, set })`, `update(condition, set)`, or `update(set)` for all rows. Values are SQL text or columns.
   * Gives `num_affected_rows`.
   */
  async update(...args: UpdateArguments): Promise<DataFrame> {
    const { condition, set } = updateArguments(args);
    const assignments: readonly Assignment[] = assignmentsOf(set);
    if (assignments.length === 0) throw invalidArgument('update() needs columns to set');
    const request = { condition: condition === undefined ? undefined : conditionOf(condition), assignments, alias: this.#parts.alias };
    return this.#frame(await updateCommand(this.#target({}), request));
  }

  /** Begins a merge of other rows into this table; nothing happens before `execute()`. */
  merge(source: DataFrame, condition: ConditionInput): DeltaMergeBuilder {
    return new DeltaMergeBuilder({
      target: this.#target({}),
      alias: this.#parts.alias,
      source: source.plan,
      condition: conditionOf(condition),
    });
  }

  /** Deletes files that no version of the last `retentionHours` (default: the table's own, 7 days) needs. */
  async vacuum(
    retentionHours?: number,
    options: DeltaOperationOptions & { readonly dryRun?: boolean | undefined } = {},
  ): Promise<DataFrame> {
    return this.#frame(await vacuumCommand(this.#target(options), { retentionHours, dryRun: options.dryRun === true }));
  }

  /** `optimize().executeCompaction()`, `optimize().where("day = '2024-02-29'").executeZOrderBy('id')`. */
  optimize(): DeltaOptimizeBuilder {
    return new DeltaOptimizeBuilder(this.#target({}), []);
  }

  /** Makes an earlier version the newest one. Gives the numbers of files and bytes. */
  async restoreToVersion(version: number): Promise<DataFrame> {
    return this.#frame(await restoreCommand(this.#target({}), { kind: 'version', version: BigInt(version) }));
  }

  /** @param timestamp `yyyy-MM-dd[ HH:mm:ss[.ffffff]][zone]`, the session's time without zone. */
  async restoreToTimestamp(timestamp: string): Promise<DataFrame> {
    return this.#frame(await restoreCommand(this.#target({}), timestampPoint(timestamp, this.#parts.runtime.conf.zone?.rule)));
  }

  /** Writes manifests for engines that cannot read the log. @param mode `symlink_format_manifest`. */
  async generate(mode: string): Promise<void> {
    await generateCommand(this.#target({}), mode);
  }

  async upgradeTableProtocol(minReaderVersion: number, minWriterVersion: number): Promise<void> {
    await this.#alter({ kind: 'upgrade-protocol', minReaderVersion, minWriterVersion });
  }

  async addFeatureSupport(feature: string): Promise<void> {
    await this.#alter({ kind: 'add-feature', feature });
  }

  async dropFeatureSupport(feature: string): Promise<void> {
    await this.#alter({ kind: 'drop-feature', feature });
  }

  static async #open(runtime: SessionRuntime, reference: TableReference): Promise<DeltaTable> {
    runtime.assertRunning();
    const table = reference.kind === 'path' ? await runtime.tables.find(reference) : await runtime.tables.load(reference);
    if (table?.format !== 'delta') throw notADeltaTable(reference.kind === 'path' ? `\`${reference.path}\`` : quotedName(reference.parts));
    return new DeltaTable({ runtime, reference, table });
  }

  static #builder(
    runtime: SessionRuntime,
    mode: 'create' | 'create-if-absent' | 'replace' | 'create-or-replace',
  ): DeltaTableBuilder<DeltaTable> {
    return new DeltaTableBuilder({ runtime, mode, open: (reference) => DeltaTable.#open(runtime, reference) });
  }

  async #alter(change: DefinitionChange): Promise<void> {
    await this.#parts.table.operations.alter(change, commitOptionsOf(this.#target({})));
  }

  #target({ signal }: DeltaOperationOptions): CommandTarget {
    const { runtime, table } = this.#parts;
    runtime.assertRunning();
    return { runtime, table, signal };
  }

  #frame(result: Parameters<typeof resultFrame>[1]): DataFrame {
    return resultFrame(this.#parts.runtime, result);
  }
}

/** Which files are rewritten, then how. Immutable. */
export class DeltaOptimizeBuilder {
  readonly #target: CommandTarget;
  readonly #conditions: readonly string[];

  constructor(target: CommandTarget, conditions: readonly string[]) {
    this.#target = target;
    this.#conditions = conditions;
  }

  /** A condition over partition columns; several must all hold. */
  where(condition: string): DeltaOptimizeBuilder {
    return new DeltaOptimizeBuilder(this.#target, [...this.#conditions, condition]);
  }

  /** Small files of a partition become few large ones. Gives path and metrics. */
  executeCompaction(): Promise<DataFrame> {
    return this.#execute([]);
  }

  /** Rows that are near one another in these columns come into the same files. */
  executeZOrderBy(...columns: readonly (string | readonly string[])[]): Promise<DataFrame> {
    return this.#execute(columns.flat());
  }

  async #execute(zOrderBy: readonly string[]): Promise<DataFrame> {
    const where = this.#conditions.length === 0 ? undefined : parseExpression(this.#conditions.map((each) => `(${each})`).join(' AND '));
    return resultFrame(this.#target.runtime, await optimizeCommand(this.#target, { where, zOrderBy }));
  }
}

type UpdateArguments =
  | readonly [{ readonly condition?: ConditionInput | undefined; readonly set: SetInput }]
  | readonly [SetInput]
  | readonly [ConditionInput, SetInput];

function updateArguments(args: UpdateArguments): { readonly condition?: ConditionInput | undefined; readonly set: SetInput } {
  const [first, second] = args;
  if (typeof first === 'string' || first instanceof Column) return { condition: first, set: second ?? {} };
  return isRequest(first) ? first : { set: first };
}

/** Columns may be called `set` too, but their values are never objects without being columns. */
function isRequest(
  input: SetInput | { readonly condition?: ConditionInput | undefined; readonly set: SetInput },
): input is { readonly condition?: ConditionInput | undefined; readonly set: SetInput } {
  const set: unknown = input['set'];
  return typeof set === 'object' && set !== null && !(set instanceof Column);
}

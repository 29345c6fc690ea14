import { conjunction } from '../expr/expression.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { schemaTree } from '../schema/schema-tree.ts';
import { simpleTypeName } from '../schema/simple-type.ts';
import type { StructType } from '../schema/types.ts';
import { Column, type ColumnOrName, columnOf, expressionFrom, namePath } from './column.ts';
import {
  countOf,
  type DropNullOptions,
  droppedColumn,
  expressionOfColumn,
  fillLiteral,
  fractionOf,
  type PlainValue,
  unpivoted,
  wholeNumber,
} from './data-frame-arguments.ts';
import { describedColumns, describePlan } from './describe-frame.ts';
import { GroupedData } from './grouped-data.ts';
import { joinKind } from './plan/join-names.ts';
import type { Plan, SetOperation, Subtotals } from './plan/plan.ts';
import { rowsOfBatch } from './rows/read-rows.ts';
import type { Row } from './rows/row.ts';
import {
  arrowBytes,
  batchesOfPlan,
  collectRows,
  countRows,
  type Explanation,
  explainPlan,
  schemaOfPlan,
  shownRows,
} from './run/actions.ts';
import { keepRows, releaseRows } from './run/keep-rows.ts';
import type { SessionRuntime } from './run/session-runtime.ts';
import { parseSelectItem } from './select-item.ts';
import { explanationText } from './show/explanation-text.ts';
import { DataStreamWriter } from './streaming/data-stream-writer.ts';
import { keepView } from './temp-view-names.ts';
import { sortKeyOf } from './window.ts';
import { DataFrameWriter } from './write/data-frame-writer.ts';
import { DataFrameWriterV2 } from './write/data-frame-writer-v2.ts';

/** What every action takes. */
export interface ActionOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Functions about missing values. */
export interface NullFunctions {
  readonly fill: (...given: Parameters<DataFrame['fillna']>) => DataFrame;
  readonly drop: (...given: Parameters<DataFrame['dropna']>) => DataFrame;
}

const defaultShownRows = 20;
const defaultShownWidth = 20;

/**
 * Rows that are not computed yet: a query over tables, files or given rows. Immutable; every transformation gives another DataFrame.
 * Nothing is looked up or read until an action (`collect`, `count`, `show`, `schema` …) is awaited; each action reads the newest version
 * of the tables it touches, and one version of each.
 */
export class DataFrame {
  readonly #runtime: SessionRuntime;
  readonly #frame: string;
  readonly #plan: Plan;

  constructor(runtime: SessionRuntime, plan: Plan) {
    this.#runtime = runtime;
    this.#frame = runtime.nextFrame();
    this.#plan = { kind: 'frame', frame: this.#frame, input: plan };
  }

  /** @internal What it computes; for other parts of the session. */
  get plan(): Plan {
    return this.#plan;
  }

  // Transformations.

  /** A column of this DataFrame, which stays clear in joins with others. */
  col(name: string): Column {
    return columnOf({ kind: 'column', path: [this.#frame, ...namePath(name)] });
  }

  select(...columns: readonly ColumnOrName[]): DataFrame {
    return this.#with({ kind: 'select', columns: columns.map(expressionOfColumn), input: this.#plan });
  }

  /** Columns as SQL text. @throws ParseException. */
  selectExpr(...texts: readonly string[]): DataFrame {
    return this.#with({ kind: 'select', columns: texts.map(parseSelectItem), input: this.#plan });
  }

  where(condition: ColumnOrName): DataFrame {
    return this.#with({ kind: 'filter', condition: expressionFrom(condition), input: this.#plan });
  }

  filter(condition: ColumnOrName): DataFrame {
    return this.where(condition);
  }

  withColumn(name: string, value: Column): DataFrame {
    return this.withColumns({ [name]: value });
  }

  withColumns(columns: Readonly<Record<string, Column>>): DataFrame {
    const named = Object.entries(columns).map(([name, value]) => ({ name, value: value.expression }));
    return this.#with({ kind: 'with-columns', columns: named, input: this.#plan });
  }

  withColumnRenamed(from: string, to: string): DataFrame {
    return this.withColumnsRenamed({ [from]: to });
  }

  withColumnsRenamed(names: Readonly<Record<string, string>>): DataFrame {
    return this.#with({ kind: 'rename', names: new Map(Object.entries(names)), input: this.#plan });
  }

  drop(...columns: readonly ColumnOrName[]): DataFrame {
    return this.#with({ kind: 'drop', columns: columns.map(droppedColumn), input: this.#plan });
  }

  /** All columns by new names, in order. */
  toDF(...names: readonly string[]): DataFrame {
    return names.length === 0 ? this : this.#with({ kind: 'to-names', names, input: this.#plan });
  }

  orderBy(...columns: readonly ColumnOrName[]): DataFrame {
    return this.#with({ kind: 'sort', keys: columns.map(sortKeyOf), input: this.#plan });
  }

  sort(...columns: readonly ColumnOrName[]): DataFrame {
    return this.orderBy(...columns);
  }

  /** @throws AnalysisException `INVALID_ARGUMENT` for a number that is not whole or negative. */
  limit(count: number): DataFrame {
    return this.#with({ kind: 'limit', count: countOf(count, 'LIMIT'), input: this.#plan });
  }

  offset(count: number): DataFrame {
    return this.#with({ kind: 'limit', offset: countOf(count, 'OFFSET'), input: this.#plan });
  }

  /** About that fraction (0 to 1) of the rows, the same ones for the same seed and rows. */
  sample(fraction: number, seed: number = 0): DataFrame {
    return this.#with({ kind: 'sample', fraction: fractionOf(fraction), seed: wholeNumber(seed, 'seed'), input: this.#plan });
  }

  groupBy(...columns: readonly ColumnOrName[]): GroupedData<DataFrame> {
    return this.#grouped(columns);
  }

  /** Groups, and their subtotals: also by all columns but the last one, and so on to all rows. Keys that a row is not grouped by are null. */
  rollup(...columns: readonly ColumnOrName[]): GroupedData<DataFrame> {
    return this.#grouped(columns, { kind: 'rollup' });
  }

  /** Groups by each choice among the columns. Keys that a row is not grouped by are null. */
  cube(...columns: readonly ColumnOrName[]): GroupedData<DataFrame> {
    return this.#grouped(columns, { kind: 'cube' });
  }

  /**
   * Groups by each of the sets, which are made of the columns: `groupingSets([['a', 'b'], ['a'], []], 'a', 'b')`.
   *
   * @throws AnalysisException `MISSING_AGGREGATION` when a set has a column beside them.
   */
  groupingSets(sets: readonly (readonly ColumnOrName[])[], ...columns: readonly ColumnOrName[]): GroupedData<DataFrame> {
    return this.#grouped(columns, { kind: 'grouping-sets', sets: sets.map((set) => set.map(expressionOfColumn)) });
  }

  /** Aggregates over all rows. */
  agg(...aggregates: readonly [Readonly<Record<string, string>>] | readonly Column[]): DataFrame {
    return this.groupBy().agg(...aggregates);
  }

  /**
   * @param on names that both sides have, or a condition; without it every row meets every row.
   * @param how inner (default), left, right, outer, semi, anti, cross; Spark's longer names too.
   * @throws AnalysisException `INVALID_ARGUMENT` for another `how`.
   */
  join(other: DataFrame, on?: string | readonly string[] | Column | readonly Column[], how: string = 'inner'): DataFrame {
    const join = joinKind(how);
    const parts = on === undefined ? [] : typeof on === 'string' || on instanceof Column ? [on] : on;
    const using = parts.filter((part) => typeof part === 'string');
    const condition = conjunction(parts.flatMap((part) => (part instanceof Column ? [part.expression] : [])));
    return this.#with({ kind: 'join', join, using, condition, left: this.#plan, right: other.plan });
  }

  crossJoin(other: DataFrame): DataFrame {
    return this.join(other, undefined, 'cross');
  }

  /** All rows of both, duplicates included, columns by place. */
  union(other: DataFrame): DataFrame {
    return this.#set('union', other);
  }

  unionAll(other: DataFrame): DataFrame {
    return this.union(other);
  }

  unionByName(other: DataFrame, options: { readonly allowMissingColumns?: boolean | undefined } = {}): DataFrame {
    const missingAllowed = options.allowMissingColumns === true;
    return this.#with({ kind: 'union-by-name', missingAllowed, left: this.#plan, right: other.plan });
  }

  intersect(other: DataFrame): DataFrame {
    return this.#set('intersect', other);
  }

  intersectAll(other: DataFrame): DataFrame {
    return this.#set('intersect-all', other);
  }

  /** Distinct rows of this one that the other lacks. */
  except(other: DataFrame): DataFrame {
    return this.#set('except', other);
  }

  subtract(other: DataFrame): DataFrame {
    return this.except(other);
  }

  exceptAll(other: DataFrame): DataFrame {
    return this.#set('except-all', other);
  }

  distinct(): DataFrame {
    return this.#with({ kind: 'distinct', input: this.#plan });
  }

  /** One row of each set of rows that agree on the columns (default: all columns). */
  dropDuplicates(columns?: readonly string[]): DataFrame {
    return this.#with({ kind: 'distinct', columns, input: this.#plan });
  }

  /** A name by which columns may be qualified: `col('a.id')`. */
  alias(name: string): DataFrame {
    return this.#with({ kind: 'alias', name, input: this.#plan });
  }

  /** Nulls and NaN replaced where the value fits the column's type; with an object, by column name. */
  fillna(value: PlainValue | Readonly<Record<string, PlainValue>>, columns?: readonly string[]): DataFrame {
    const given = typeof value === 'object' ? Object.entries(value) : [[undefined, value] as const];
    const values = given.map(([column, each]) => ({ column, value: fillLiteral(each) }));
    return this.#with({ kind: 'fill', values, columns, input: this.#plan });
  }

  /** Without the rows that have null or NaN in any (default) or all of the columns, or fewer than `thresh` values. */
  dropna({ how = 'any', thresh, subset }: DropNullOptions = {}): DataFrame {
    return this.#with({ kind: 'drop-nulls', how, threshold: thresh, columns: subset, input: this.#plan });
  }

  /** `na.fill` and `na.drop`: other names of `fillna` and `dropna`. */
  get na(): NullFunctions {
    return {
      fill: (value, columns) => this.fillna(value, columns),
      drop: (options) => this.dropna(options),
    };
  }

  /** Passes this DataFrame to a function, for chains. */
  transform<T>(change: (frame: DataFrame) => T): T {
    return change(this);
  }

  // Actions.

  /** The columns. Reads no rows. */
  get schema(): Promise<StructType> {
    return schemaOfPlan(this.#runtime, this.#plan);
  }

  get columns(): Promise<readonly string[]> {
    return this.schema.then((schema) => schema.fields.map((field) => field.name));
  }

  /** Name and type (`bigint`, `array<string>`) of each column. */
  get dtypes(): Promise<readonly (readonly [string, string])[]> {
    return this.schema.then((schema) => schema.fields.map((field) => [field.name, simpleTypeName(field.type)] as const));
  }

  /** Count, mean, standard deviation, least and greatest value of the columns (default: all numbers and texts), as text. */
  async describe(...columns: readonly string[]): Promise<DataFrame> {
    return this.#with(describePlan(this.#plan, columns.length > 0 ? columns : describedColumns(await this.schema)));
  }

  /** All rows in memory. For large results iterate over `batches()`. */
  collect(options: ActionOptions = {}): Promise<Row[]> {
    return collectRows(this.#runtime, this.#plan, options.signal);
  }

  take(count: number, options: ActionOptions = {}): Promise<Row[]> {
    return this.limit(count).collect(options);
  }

  /** The first row, or `undefined` when there is none. */
  async first(options: ActionOptions = {}): Promise<Row | undefined> {
    return (await this.take(1, options))[0];
  }

  /** As `first` without a number, as `take` with one. */
  head(): Promise<Row | undefined>;
  head(count: number): Promise<Row[]>;
  head(count?: number): Promise<Row[] | Row | undefined> {
    return count === undefined ? this.first() : this.take(count);
  }

  count(options: ActionOptions = {}): Promise<number> {
    return countRows(this.#runtime, this.#plan, options.signal);
  }

  async isEmpty(options: ActionOptions = {}): Promise<boolean> {
    return (await this.limit(1).count(options)) === 0;
  }

  /** Rows in arrays of at most 2,048, in order, with back-pressure: memory stays bounded whatever the number of rows. */
  async *batches(options: ActionOptions = {}): AsyncGenerator<Row[], void, undefined> {
    for await (const batch of this.columnBatches(options)) yield rowsOfBatch(batch);
  }

  /** As `batches`, in columns. */
  columnBatches(options: ActionOptions = {}): AsyncGenerator<ColumnBatch, void, undefined> {
    return batchesOfPlan(this.#runtime, this.#plan, options.signal);
  }

  /** Rows one by one, in bounded memory. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const rows of this.batches()) yield* rows;
  }

  /** All rows as an Arrow IPC stream: `tableFromIPC(await df.toArrow())` of apache-arrow reads it. */
  toArrow(options: ActionOptions = {}): Promise<Uint8Array> {
    return arrowBytes(this.#runtime, this.#plan, options.signal);
  }

  /** Prints the first rows as a table. `truncate`: longest cell (true: 20, false or 0: no limit). */
  async show(rows: number = defaultShownRows, truncate: number | boolean = true, vertical: boolean = false): Promise<void> {
    this.#runtime.print(await this.showString(rows, truncate, vertical));
  }

  /** What `show` prints, without the line break at its end. */
  showString(rows: number = defaultShownRows, truncate: number | boolean = true, vertical: boolean = false): Promise<string> {
    const width = truncate === true ? defaultShownWidth : truncate === false ? 0 : truncate;
    return shownRows(this.#runtime, this.#plan, { rows: wholeNumber(rows, 'rows'), truncate: width, vertical });
  }

  /** Prints the columns as a tree. */
  async printSchema(): Promise<void> {
    this.#runtime.print(schemaTree(await this.schema));
  }

  /** Prints the engine's plan and, for each table, the files and bytes considered, pruned and read. `extended`: the analyzed plan before it. */
  async explain(extended: boolean = false): Promise<void> {
    this.#runtime.print(explanationText(await this.explanation(), { extended }));
  }

  /** What `explain` prints, as data. */
  explanation(options: ActionOptions = {}): Promise<Explanation> {
    return explainPlan(this.#runtime, this.#plan, options.signal);
  }

  /**
   * Computes the rows once and keeps them in the engine (in memory, spilling to disk) until `unpersist` or the session's end. Use the
   * DataFrame it gives: this one stays a query.
   */
  async cache(options: ActionOptions = {}): Promise<DataFrame> {
    return this.#with({ kind: 'kept', relation: await keepRows(this.#runtime, this.#plan, options.signal) });
  }

  persist(options: ActionOptions = {}): Promise<DataFrame> {
    return this.cache(options);
  }

  /** Lets the rows go that `cache` kept. Without effect on other DataFrames. */
  async unpersist(): Promise<DataFrame> {
    await releaseRows(this.#runtime, this.#plan);
    return this;
  }

  /** Names the query for `session.table` and SQL of this session; replaces a view of that name. */
  createOrReplaceTempView(name: string): void {
    keepView(this.#runtime.views, name, this.#plan, { replace: true });
  }

  /** @throws AnalysisException `TEMP_TABLE_OR_VIEW_ALREADY_EXISTS`. */
  createTempView(name: string): void {
    keepView(this.#runtime.views, name, this.#plan);
  }

  /** As `createOrReplaceTempView`, under `global_temp.name`. */
  createOrReplaceGlobalTempView(name: string): void {
    keepView(this.#runtime.views, name, this.#plan, { global: true, replace: true });
  }

  /** As `createTempView`, under `global_temp.name`. @throws AnalysisException `TEMP_TABLE_OR_VIEW_ALREADY_EXISTS`. */
  createGlobalTempView(name: string): void {
    keepView(this.#runtime.views, name, this.#plan, { global: true });
  }

  /** Writes the rows to a path or a table. */
  get write(): DataFrameWriter {
    return new DataFrameWriter(this.#runtime, this.#plan);
  }

  /** Starts a streaming query over a DataFrame of `session.readStream`. */
  get writeStream(): DataStreamWriter<DataFrame> {
    return new DataStreamWriter(this.#runtime, this.#plan, (plan) => new DataFrame(this.#runtime, plan));
  }

  /** Writes the rows to a table, the newer way: create, replace, append, overwrite. */
  writeTo(table: string): DataFrameWriterV2 {
    return new DataFrameWriterV2(this.#runtime, this.#plan, table);
  }

  /**
   * A row for each of the value columns (default: all that are no ids), its name and value beside the ids; nulls come out too.
   * @throws AnalysisException `UNPIVOT_VALUE_DATA_TYPE_MISMATCH` for values without a common type.
   */
  unpivot(ids: readonly ColumnOrName[], values: readonly ColumnOrName[] | undefined, nameColumn: string, valueColumn: string): DataFrame {
    return this.#with(unpivoted(this.#plan, { ids, values, nameColumn, valueColumn }));
  }

  #grouped(columns: readonly ColumnOrName[], subtotals?: Subtotals): GroupedData<DataFrame> {
    const groups = columns.map(expressionOfColumn);
    return new GroupedData({ groups, subtotals, input: this.#plan, frameOf: (plan) => this.#with(plan) });
  }

  #with(plan: Plan): DataFrame {
    return new DataFrame(this.#runtime, plan);
  }

  #set(operation: SetOperation, other: DataFrame): DataFrame {
    return this.#with({ kind: 'set', operation, left: this.#plan, right: other.plan });
  }
}

import { defaultTableFormat } from '../../table/formats.ts';
import type { WriteResult } from '../../table/row-operations.ts';
import { namePath } from '../column.ts';
import type { Plan } from '../plan/plan.ts';
import { withRelation } from '../run/actions.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { invalidArgument } from '../session-errors.ts';
import { isPartitioned } from './is-partitioned.ts';
import { saveFiles } from './save-files.ts';
import { saveRows } from './save-rows.ts';
import { formatOf, tableFormatOf } from './table-format-of.ts';
import { type SaveMode, saveModeOf, WriteOptions } from './write-options.ts';

interface Settings {
  readonly format: string | undefined;
  readonly mode: SaveMode;
  readonly options: ReadonlyMap<string, string>;
  readonly partitionBy: readonly string[] | undefined;
  readonly clusterBy: readonly string[] | undefined;
}

const unset: Settings = { format: undefined, mode: 'errorifexists', options: new Map(), partitionBy: undefined, clusterBy: undefined };

/** What every write takes. */
export interface WriteActionOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the rows of a DataFrame: `df.write.format('delta').mode('append').save(path)`. Immutable, each setting gives another writer.
 * The format is `delta` unless it is set, or `spark.sql.sources.default` says otherwise.
 */
export class DataFrameWriter {
  readonly #runtime: SessionRuntime;
  readonly #plan: Plan;
  readonly #settings: Settings;

  constructor(runtime: SessionRuntime, plan: Plan, settings: Settings = unset) {
    this.#runtime = runtime;
    this.#plan = plan;
    this.#settings = settings;
  }

  /** `delta`, or `parquet` for plain files. */
  format(name: string): DataFrameWriter {
    return this.#with({ format: name.toLowerCase() });
  }

  /** `append`, `overwrite`, `ignore`, `error` (the default). @throws AnalysisException for another. */
  mode(mode: string): DataFrameWriter {
    return this.#with({ mode: saveModeOf(mode) });
  }

  option(name: string, value: string | number | bigint | boolean): DataFrameWriter {
    return this.#with({ options: new Map([...this.#settings.options, [name, String(value)]]) });
  }

  options(values: Readonly<Record<string, string | number | bigint | boolean>>): DataFrameWriter {
    return Object.entries(values).reduce<DataFrameWriter>((writer, [name, value]) => writer.option(name, value), this);
  }

  partitionBy(...columns: readonly string[]): DataFrameWriter {
    return this.#with({ partitionBy: columns });
  }

  /** Columns that OPTIMIZE clusters a table by that this write creates. */
  clusterBy(...columns: readonly string[]): DataFrameWriter {
    return this.#with({ clusterBy: columns });
  }

  /**
   * Writes to a directory: a table of the format, made when there is none, or plain Parquet files.
   *
   * @throws AnalysisException `DELTA_PATH_EXISTS`, `UNKNOWN_OPTION`, `DELTA_METADATA_MISMATCH` for rows of another schema …
   */
  async save(path?: string, options: WriteActionOptions = {}): Promise<WriteResult | undefined> {
    const writeOptions = new WriteOptions(this.#settings.options);
    const target = path ?? writeOptions.path;
    if (target === undefined) throw invalidArgument('save() needs a path');
    const format = this.#format();
    if (format === 'parquet') return this.#saveFiles(target, writeOptions, options);
    const reference = this.#runtime.tables.givenReference(format, target);
    return saveRows({ ...this.#request(writeOptions, options), format: tableFormatOf(format), reference });
  }

  parquet(path: string, options: WriteActionOptions = {}): Promise<WriteResult | undefined> {
    return this.format('parquet').save(path, options);
  }

  /** Writes to a table of the catalog, made when there is none. Columns are matched by name. */
  async saveAsTable(name: string, options: WriteActionOptions = {}): Promise<WriteResult | undefined> {
    const writeOptions = new WriteOptions(this.#settings.options);
    const reference = this.#runtime.tables.referenceOf(namePath(name));
    const format = formatOf(this.#runtime, reference, this.#settings.format);
    return saveRows({ ...this.#request(writeOptions, options), format, reference, asTable: true });
  }

  /** Appends to (or with mode `overwrite`: replaces the rows of) a table that is there. Columns are matched by place. */
  async insertInto(name: string, options: WriteActionOptions = {}): Promise<WriteResult> {
    const runtime = this.#runtime;
    const writeOptions = new WriteOptions(this.#settings.options);
    const table = writeOptions.branchOf(await runtime.tables.load(runtime.tables.referenceOf(namePath(name)), options.signal));
    const partitioned = isPartitioned(await table.refresh(options.signal));
    const mode = writeOptions.writeMode(this.#settings.mode, runtime.conf, partitioned);
    return withRelation(
      runtime,
      this.#plan,
      async (rows, execution) =>
        table.operations.write({
          ...writeOptions.commitOptions(runtime.conf),
          ...writeOptions.tableOptions(runtime.conf),
          rows,
          readVersions: await execution.readVersions(),
          mode,
          matchBy: 'position',
          storeAssignment: true,
          signal: options.signal,
        }),
      options.signal,
    );
  }

  #request(options: WriteOptions, { signal }: WriteActionOptions) {
    const { mode, partitionBy, clusterBy } = this.#settings;
    return { runtime: this.#runtime, plan: this.#plan, mode, options, partitionBy, clusterBy, signal };
  }

  async #saveFiles(path: string, options: WriteOptions, { signal }: WriteActionOptions): Promise<undefined> {
    const { mode, partitionBy = [] } = this.#settings;
    await saveFiles({ runtime: this.#runtime, plan: this.#plan, path, mode, partitionBy, compression: options.compression, signal });
    return undefined;
  }

  #format(): string {
    return this.#settings.format ?? this.#runtime.conf.find('spark.sql.sources.default')?.toLowerCase() ?? defaultTableFormat;
  }

  #with(change: Partial<Settings>): DataFrameWriter {
    return new DataFrameWriter(this.#runtime, this.#plan, { ...this.#settings, ...change });
  }
}

import { parseExpression } from '../../expr/parse/parse-expression.ts';
import type { PartitionFieldDefinition } from '../../table/partitioning/transform.ts';
import type { WriteMode, WriteResult } from '../../table/row-operations.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import { type Column, namePath } from '../column.ts';
import { partitionedAs } from '../commands/partitioned-as.ts';
import { partitionOf } from '../execute/partitioning.ts';
import type { Plan } from '../plan/plan.ts';
import { withRelation } from '../run/actions.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { pathExists, pathNotFound } from '../session-errors.ts';
import type { WriteActionOptions } from './data-frame-writer.ts';
import { isPartitioned } from './is-partitioned.ts';
import { formatOf } from './table-format-of.ts';
import { defaultProperties, WriteOptions } from './write-options.ts';

interface Settings {
  readonly provider: string | undefined;
  readonly options: ReadonlyMap<string, string>;
  readonly properties: Readonly<Record<string, string>>;
  readonly partitionedBy: readonly PartitionFieldDefinition[];
  readonly clusterBy: readonly string[] | undefined;
}

const unset: Settings = { provider: undefined, options: new Map(), properties: {}, partitionedBy: [], clusterBy: undefined };

/** Writes the rows of a DataFrame to a table by name: `df.writeTo('db.t').using('delta').createOrReplace()`. Immutable. */
export class DataFrameWriterV2 {
  readonly #runtime: SessionRuntime;
  readonly #plan: Plan;
  readonly #name: string;
  readonly #settings: Settings;

  constructor(runtime: SessionRuntime, plan: Plan, name: string, settings: Settings = unset) {
    this.#runtime = runtime;
    this.#plan = plan;
    this.#name = name;
    this.#settings = settings;
  }

  using(provider: string): DataFrameWriterV2 {
    return this.#with({ provider });
  }

  option(name: string, value: string | number | bigint | boolean): DataFrameWriterV2 {
    return this.#with({ options: new Map([...this.#settings.options, [name, String(value)]]) });
  }

  options(values: Readonly<Record<string, string | number | bigint | boolean>>): DataFrameWriterV2 {
    return Object.entries(values).reduce<DataFrameWriterV2>((writer, [name, value]) => writer.option(name, value), this);
  }

  tableProperty(name: string, value: string): DataFrameWriterV2 {
    return this.#with({ properties: { ...this.#settings.properties, [name]: value } });
  }

  /** Columns by name, or transforms of them where the table's format has them: `bucket(16, col('id'))`, `days(col('ts'))`. */
  partitionedBy(...columns: readonly (Column | string)[]): DataFrameWriterV2 {
    return this.#with({
      partitionedBy: columns.map((column) =>
        typeof column === 'string' ? { source: [column], transform: { kind: 'identity' } } : partitionOf(column.expression),
      ),
    });
  }

  clusterBy(...columns: readonly string[]): DataFrameWriterV2 {
    return this.#with({ clusterBy: columns });
  }

  /** @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS`. */
  create(options: WriteActionOptions = {}): Promise<void> {
    return this.#create('create', options);
  }

  /** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`. */
  replace(options: WriteActionOptions = {}): Promise<void> {
    return this.#create('replace', options);
  }

  createOrReplace(options: WriteActionOptions = {}): Promise<void> {
    return this.#create('create-or-replace', options);
  }

  append(options: WriteActionOptions = {}): Promise<WriteResult> {
    return this.#write({ kind: 'append' }, options);
  }

  /** Replaces the rows for which the condition holds. */
  overwrite(condition: Column | string, options: WriteActionOptions = {}): Promise<WriteResult> {
    const replaceWhere = typeof condition === 'string' ? parseExpression(condition) : condition.expression;
    return this.#write({ kind: 'overwrite', replaceWhere }, options);
  }

  /** Replaces the partitions that the rows have; in a table without partitions all rows. */
  async overwritePartitions(options: WriteActionOptions = {}): Promise<WriteResult> {
    const table = await this.#runtime.tables.load(this.#reference(), options.signal);
    const partitioned = isPartitioned(await table.refresh(options.signal));
    return this.#write(partitioned ? { kind: 'overwrite-partitions' } : { kind: 'overwrite' }, options);
  }

  async #write(mode: WriteMode, { signal }: WriteActionOptions): Promise<WriteResult> {
    const runtime = this.#runtime;
    const options = new WriteOptions(this.#settings.options);
    const table = options.branchOf(await runtime.tables.load(this.#reference(), signal));
    return withRelation(
      runtime,
      this.#plan,
      async (rows, execution) =>
        table.operations.write({
          ...options.commitOptions(runtime.conf),
          ...options.tableOptions(runtime.conf),
          rows,
          readVersions: await execution.readVersions(),
          mode,
          matchBy: 'name',
          signal,
        }),
      signal,
    );
  }

  async #create(mode: CreateRequest['mode'], { signal }: WriteActionOptions): Promise<void> {
    const runtime = this.#runtime;
    const { provider, partitionedBy, clusterBy } = this.#settings;
    const options = new WriteOptions(this.#settings.options);
    const reference = this.#reference();
    const format = formatOf(runtime, reference, provider);
    await withRelation(
      runtime,
      this.#plan,
      async (rows) => {
        const request = {
          ...options.commitOptions(runtime.conf),
          ...options.fileOptions(runtime.conf),
          definition: {
            schema: { ...rows.schema, fields: rows.schema.fields.map((field) => ({ ...field, nullable: true })) },
            ...partitionedAs(format, partitionedBy, rows.schema),
            properties: { ...defaultProperties(runtime.conf), ...options.properties, ...this.#settings.properties },
          },
          clusterBy: clusterBy?.map((name) => [name]),
          mode,
          rows,
          signal,
        };
        if (reference.kind === 'name') {
          const { catalog, ident } = runtime.tables.resolve(reference.parts);
          const location = options.path === undefined ? undefined : runtime.tables.absolutePath(options.path);
          await catalog.create(ident, { ...request, format, location });
          return;
        }
        const location = runtime.tables.absolutePath(reference.path);
        const existing = await runtime.tables.find(reference, signal);
        if (existing !== undefined && mode === 'create') throw pathExists(location);
        if (existing === undefined && mode === 'replace') throw pathNotFound(location);
        await runtime.tables.driver(format).createTable({ ...request, name: location, location });
        runtime.tables.forget(location);
      },
      signal,
    );
  }

  #reference() {
    return this.#runtime.tables.referenceOf(namePath(this.#name));
  }

  #with(change: Partial<Settings>): DataFrameWriterV2 {
    return new DataFrameWriterV2(this.#runtime, this.#plan, this.#name, { ...this.#settings, ...change });
  }
}

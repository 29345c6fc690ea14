import { parseDataType, parseSchema } from '../expr/parse/parse-type.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import type { CreateRequest } from '../table/table-formats.ts';
import { namePath } from './column.ts';
import { createTableCommand } from './commands/create-command.ts';
import type { TableReference } from './plan/plan.ts';
import type { SessionRuntime } from './run/session-runtime.ts';
import { invalidArgument } from './session-errors.ts';

interface BuilderParts<T> {
  readonly runtime: SessionRuntime;
  readonly mode: CreateRequest['mode'];
  readonly open: (reference: TableReference) => Promise<T>;
  readonly name?: string | undefined;
  readonly location?: string | undefined;
  readonly comment?: string | undefined;
  readonly fields?: readonly Field[] | undefined;
  readonly partitionColumns?: readonly string[] | undefined;
  readonly clusterColumns?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

/** What a column has beside name and type. */
export interface ColumnOptions {
  readonly nullable?: boolean | undefined;
  readonly comment?: string | undefined;
  /** SQL text: the value is computed from other columns. */
  readonly generatedAlwaysAs?: string | undefined;
  /** SQL text: the value where none is given. */
  readonly default?: string | undefined;
}

/** The definition of a Delta table, built step by step; `execute()` makes it. Immutable. */
export class DeltaTableBuilder<T> {
  readonly #parts: BuilderParts<T>;

  constructor(parts: BuilderParts<T>) {
    this.#parts = parts;
  }

  tableName(name: string): DeltaTableBuilder<T> {
    return this.#with({ name });
  }

  location(path: string): DeltaTableBuilder<T> {
    return this.#with({ location: path });
  }

  comment(comment: string): DeltaTableBuilder<T> {
    return this.#with({ comment });
  }

  addColumn(name: string, type: DataType | string, options: ColumnOptions = {}): DeltaTableBuilder<T> {
    const metadata = {
      ...(options.comment === undefined ? {} : { comment: options.comment }),
      ...(options.generatedAlwaysAs === undefined ? {} : { 'delta.generationExpression': options.generatedAlwaysAs }),
      ...(options.default === undefined ? {} : { CURRENT_DEFAULT: options.default }),
    };
    const field: Field = {
      name,
      type: typeof type === 'string' ? parseDataType(type) : type,
      nullable: options.nullable !== false,
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
    return this.#with({ fields: [...(this.#parts.fields ?? []), field] });
  }

  /** Several columns: a type, or text such as `id BIGINT NOT NULL, name STRING`. */
  addColumns(columns: StructType | string): DeltaTableBuilder<T> {
    const schema = typeof columns === 'string' ? parseSchema(columns) : columns;
    return this.#with({ fields: [...(this.#parts.fields ?? []), ...schema.fields] });
  }

  partitionedBy(...columns: readonly string[]): DeltaTableBuilder<T> {
    return this.#with({ partitionColumns: [...(this.#parts.partitionColumns ?? []), ...columns] });
  }

  clusterBy(...columns: readonly string[]): DeltaTableBuilder<T> {
    return this.#with({ clusterColumns: columns });
  }

  property(key: string, value: string): DeltaTableBuilder<T> {
    return this.#with({ properties: { ...this.#parts.properties, [key]: value } });
  }

  /** Makes the table and opens it. @throws AnalysisException as CREATE TABLE does. */
  async execute(): Promise<T> {
    const {
      runtime,
      mode,
      name,
      location,
      comment,
      fields = [],
      partitionColumns = [],
      clusterColumns = [],
      properties = {},
    } = this.#parts;
    runtime.assertRunning();
    if (name === undefined && location === undefined) throw invalidArgument('a table needs a name or a location');
    const reference: TableReference =
      name === undefined ? { kind: 'path', format: 'delta', path: location ?? '' } : runtime.tables.referenceOf(namePath(name));
    await createTableCommand(runtime, {
      reference,
      mode,
      format: 'delta',
      location,
      comment,
      schema: { kind: 'struct', fields },
      partitioning: partitionColumns.map((name) => ({ source: [name], transform: { kind: 'identity' } })),
      clusterBy: clusterColumns.map((column) => namePath(column)),
      properties,
    });
    return this.#parts.open(reference);
  }

  #with(change: Partial<BuilderParts<T>>): DeltaTableBuilder<T> {
    return new DeltaTableBuilder({ ...this.#parts, ...change });
  }
}

import type { Field, StructType } from '../../schema/types.ts';
import type { TableFormat } from '../../table/formats.ts';
import type { PartitionFieldDefinition } from '../../table/partitioning/transform.ts';
import type { WriteResult } from '../../table/row-operations.ts';
import type { QueryableTable, TableDefinition } from '../../table/table.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import { tableExists } from '../../table/table-names.ts';
import { partitionedAs } from '../commands/partitioned-as.ts';
import type { Plan, TableReference } from '../plan/plan.ts';
import { withRelation } from '../run/actions.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { pathExists } from '../session-errors.ts';
import { isPartitioned } from './is-partitioned.ts';
import { defaultProperties, type SaveMode, type WriteOptions } from './write-options.ts';

/** What is saved where, and how. */
export interface SaveRequest {
  readonly runtime: SessionRuntime;
  readonly plan: Plan;
  readonly reference: TableReference;
  readonly format: TableFormat;
  readonly mode: SaveMode;
  /** By `saveAsTable`: an overwrite may replace the table whole. */
  readonly asTable?: boolean | undefined;
  readonly options: WriteOptions;
  readonly partitionBy: readonly string[] | undefined;
  readonly clusterBy?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

const savedAs = {
  append: 'Append',
  overwrite: 'Overwrite',
  ignore: 'Ignore',
  error: 'ErrorIfExists',
  errorifexists: 'ErrorIfExists',
} as const;

/**
 * Rows to a path or a name: a table that is there is written to as the mode says, otherwise it is created with the rows in its first
 * version. `undefined`: mode `ignore` found a table.
 *
 * @throws AnalysisException `DELTA_PATH_EXISTS`, `TABLE_OR_VIEW_ALREADY_EXISTS`, and what the table's own write throws.
 */
export async function saveRows(request: SaveRequest): Promise<WriteResult | undefined> {
  const { runtime, reference, mode, signal } = request;
  runtime.assertRunning();
  const existing = await runtime.tables.find(reference, signal);
  if (existing === undefined) return createWithRows(request, 'create');
  if (mode === 'ignore') return undefined;
  if (mode === 'overwrite' && request.asTable === true && existing.capabilities.overwriteReplaces === true) {
    return createWithRows(request, 'create-or-replace');
  }
  if (mode === 'error' || mode === 'errorifexists') {
    throw reference.kind === 'path' ? pathExists(existing.location) : tableExists(reference.parts);
  }
  return writeInto(request, request.options.branchOf(existing));
}

async function writeInto(request: SaveRequest, table: QueryableTable): Promise<WriteResult> {
  const { runtime, plan, mode, options, partitionBy, signal } = request;
  const partitioned = isPartitioned(await table.refresh(signal));
  const writeMode = options.writeMode(mode, runtime.conf, partitioned);
  return withRelation(
    runtime,
    plan,
    async (rows, execution) =>
      table.operations.write({
        ...options.commitOptions(runtime.conf),
        ...options.tableOptions(runtime.conf),
        rows,
        readVersions: await execution.readVersions(),
        mode: writeMode,
        matchBy: 'name',
        partitionBy,
        signal,
      }),
    signal,
  );
}

async function createWithRows(request: SaveRequest, createMode: CreateRequest['mode']): Promise<WriteResult | undefined> {
  const { runtime, plan, reference, format, mode, options, signal } = request;
  return withRelation(
    runtime,
    plan,
    async (rows) => {
      const common = {
        ...options.commitOptions(runtime.conf),
        ...options.fileOptions(runtime.conf),
        definition: definitionFor(request, rows.schema),
        clusterBy: request.clusterBy?.map((name) => [name]),
        rows,
        signal,
        mode: createMode,
      };
      if (reference.kind === 'path') {
        const location = runtime.tables.absolutePath(reference.path);
        const driver = runtime.tables.driver(format);
        const created = await driver.createTable({ ...common, name: location, location, savedAs: savedAs[mode] });
        runtime.tables.forget(location);
        return created.written;
      }
      const { catalog, ident } = runtime.tables.resolve(reference.parts);
      const location = options.path === undefined ? undefined : runtime.tables.absolutePath(options.path);
      const created = await catalog.create(ident, { ...common, format, location });
      return created.written;
    },
    signal,
  );
}

/** A table made from rows: all columns nullable, as every writer makes them. */
function definitionFor(request: SaveRequest, schema: StructType): TableDefinition {
  return {
    schema: { kind: 'struct', fields: schema.fields.map(asNullable) },
    ...partitionedAs(request.format, (request.partitionBy ?? []).map(identity), schema),
    properties: { ...defaultProperties(request.runtime.conf), ...request.options.properties },
  };
}

function asNullable(field: Field): Field {
  return { ...field, nullable: true };
}

function identity(name: string): PartitionFieldDefinition {
  return { source: [name], transform: { kind: 'identity' } };
}

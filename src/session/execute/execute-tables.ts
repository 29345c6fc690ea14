import { unsupported } from '../../base/unsupported-feature.ts';
import type { StructType } from '../../schema/types.ts';
import { tableNotFound } from '../../table/table-names.ts';
import { toVersion } from '../../table/version.ts';
import { snapshotFor } from '../analyze/read-point.ts';
import { namePath } from '../column.ts';
import { type CommandResult, noResult, resultSchema } from '../commands/command-result.ts';
import { type CreateTableRequest, createTableCommand } from '../commands/create-command.ts';
import { propertiesLike, schemaLike } from '../commands/definition-like.ts';
import { commitOptionsOf, rowCommitOptionsOf } from '../commands/row-commands.ts';
import { refuseDuplicateNames } from '../rows/duplicate-names.ts';
import { withRelation } from '../run/actions.ts';
import { withExecution } from '../run/execution.ts';
import { pathExists, wrongCommand } from '../session-errors.ts';
import type { CloneTableStatement, CreateTableStatement, Statement } from '../statements/statement.ts';
import { viewKeyOf } from '../temp-view-names.ts';
import { formatOf, tableFormatOf } from '../write/table-format-of.ts';
import { requireThere } from './execute-cache.ts';
import { partitioningOf } from './partitioning.ts';
import { queryPlan, type StatementContext, targetOf } from './statement-context.ts';
import { readPointFor } from './time-travel.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

/** CREATE and REPLACE TABLE, with or without a query. */
export async function createTable(context: StatementContext, statement: CreateTableStatement): Promise<CommandResult> {
  const { runtime, signal } = context;
  const { fields: partitioning, declared } = partitioningOf(statement.partitionedBy);
  const constraints = statement.constraints.map(
    ({ name, text }, index) => [`delta.constraints.${name ?? `check_${index + 1}`}`, text] as const,
  );
  const { path, ...options } = statement.options;
  const reference = runtime.tables.referenceOf(statement.name.parts);
  const request: Omit<CreateTableRequest, 'schema'> = {
    reference,
    mode: statement.mode,
    format: formatOf(runtime, reference, statement.provider),
    location: statement.location ?? path,
    comment: statement.comment,
    partitioning,
    clusterBy: statement.clusterBy,
    properties: { ...options, ...statement.properties, ...Object.fromEntries(constraints) },
    byStatement: true,
    signal,
  };
  const columns = [...(statement.columns ?? []), ...declared];
  if (statement.mode === 'create-if-absent' && (await runtime.tables.find(reference, signal)) !== undefined) return noResult;
  if (statement.query === undefined) {
    await createTableCommand(runtime, { ...request, schema: { kind: 'struct', fields: columns } });
    return noResult;
  }
  await withRelation(
    runtime,
    queryPlan(context, statement.query),
    async (rows) => {
      refuseDuplicateNames(rows.schema);
      await createTableCommand(runtime, { ...request, schema: allNullable(rows.schema), rows });
    },
    signal,
  );
  return noResult;
}

/** CREATE TABLE … LIKE: columns, partitions, clusters and properties of another table. */
export async function createTableLike(context: StatementContext, statement: Kind<'create-table-like'>): Promise<CommandResult> {
  const { runtime, signal } = context;
  const { table: source } = await targetOf(context, statement.source);
  const { schema, partitionColumns } = await source.refresh(signal);
  const detail = await source.detail(signal);
  await createTableCommand(runtime, {
    reference: runtime.tables.referenceOf(statement.name.parts),
    mode: statement.mode,
    format: tableFormatOf(statement.provider ?? source.format),
    location: statement.location,
    comment: detail.description,
    byStatement: true,
    partitioning: partitionColumns.map((name) => ({ source: [name], transform: { kind: 'identity' } })),
    clusterBy: detail.clusteringColumns.map(namePath),
    properties: { ...propertiesLike(detail.properties), ...statement.properties },
    schema: schemaLike(schema),
    signal,
  });
  return noResult;
}

const cloneSchema = resultSchema({
  source_table_size: 'long',
  source_num_of_files: 'long',
  num_removed_files: 'long',
  num_copied_files: 'long',
  removed_files_size: 'long',
  copied_files_size: 'long',
});

/** CREATE TABLE … SHALLOW CLONE: sizes in one row. */
export async function cloneTable(context: StatementContext, statement: CloneTableStatement): Promise<CommandResult> {
  const { runtime, signal } = context;
  if (!statement.shallow) throw unsupported('DEEP CLONE', 'write SHALLOW CLONE, or CREATE TABLE … AS SELECT for a copy of the rows');
  const { table: source } = await targetOf(context, statement.source);
  const point = await readPointFor(context, statement.source.asOf);
  const snapshot = await withExecution(runtime, signal, (execution) => snapshotFor(execution, source, point));
  const request = {
    ...commitOptionsOf(context),
    source,
    version: toVersion(snapshot.version),
    mode: statement.mode,
    properties: statement.properties,
  };
  const reference = runtime.tables.referenceOf(statement.name.parts);
  if (reference.kind === 'name') {
    const { catalog, ident } = runtime.tables.resolve(reference.parts);
    const location = statement.location === undefined ? undefined : runtime.tables.absolutePath(statement.location);
    await catalog.clone(ident, { ...request, location });
  } else {
    const location = runtime.tables.absolutePath(reference.path);
    if (statement.mode === 'create' && (await runtime.tables.find(reference, signal)) !== undefined) throw pathExists(location);
    await runtime.tables.driver(source.format).clone({ ...request, target: { name: location, location } });
    runtime.tables.forget(location);
  }
  const row = {
    source_table_size: snapshot.sizeBytes,
    source_num_of_files: snapshot.fileCount,
    num_removed_files: 0,
    num_copied_files: 0,
    removed_files_size: 0,
    copied_files_size: 0,
  };
  return { schema: cloneSchema, rows: [row] };
}

/** DROP TABLE: forgets the name; files go with it where the catalog chose their place. A temporary view of the name goes first, as in Spark. */
export async function dropTable({ runtime, signal }: StatementContext, statement: Kind<'drop-table'>): Promise<CommandResult> {
  const key = viewKeyOf(statement.name.parts);
  if (key !== undefined && runtime.views.delete(key)) return noResult;
  const reference = runtime.tables.referenceOf(statement.name.parts);
  if (reference.kind === 'path') throw unsupported('DROP TABLE of a path', 'delete the directory');
  const { catalog, ident } = runtime.tables.resolve(reference.parts);
  const table = await catalog.load(ident, signal);
  const dropped = await catalog.drop(ident, { purge: statement.purge }, signal);
  if (!dropped && !statement.ifExists) {
    const isView = (await catalog.views?.load(ident, signal)) !== undefined;
    throw isView ? wrongCommand('DROP TABLE', reference.parts, { isTable: false }) : tableNotFound(reference.parts);
  }
  if (table !== undefined) runtime.tables.forget(table.location);
  return noResult;
}

/** TRUNCATE TABLE: deletes all rows. */
export async function truncateTable(context: StatementContext, statement: Kind<'truncate-table'>): Promise<CommandResult> {
  const target = await targetOf(context, statement.name, 'TRUNCATE TABLE');
  await target.table.operations.truncate(rowCommitOptionsOf(target));
  return noResult;
}

/** REFRESH TABLE: looks whether the table is there; queries look for new versions anyway. */
export async function refreshTable(context: StatementContext, statement: Kind<'refresh-table'>): Promise<CommandResult> {
  await requireThere(context, statement.name);
  return noResult;
}

function allNullable(schema: StructType): StructType {
  return { kind: 'struct', fields: schema.fields.map((field) => ({ ...field, nullable: true })) };
}

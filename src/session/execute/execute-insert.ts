import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { conjunction, type Expression, nullExpression } from '../../expr/expression.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { columnExists } from '../../schema/column-exists.ts';
import type { StructType } from '../../schema/types.ts';
import { type TableFormat, traitsOf } from '../../table/formats.ts';
import type { WriteMode } from '../../table/row-operations.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import { fixedNow, rowCommitOptionsOf } from '../commands/row-commands.ts';
import type { Plan } from '../plan/plan.ts';
import { schemaOfPlan, withRelation } from '../run/actions.ts';
import type { InsertStatement } from '../statements/statement.ts';
import { isPartitioned } from '../write/is-partitioned.ts';
import { WriteOptions } from '../write/write-options.ts';
import { queryPlan, type StatementContext, shownName, targetOf } from './statement-context.ts';

/**
 * INSERT INTO and INSERT OVERWRITE. Values are cast to the columns' types as SQL's store assignment does; columns by place, by the list
 * given, or by name.
 *
 * @throws AnalysisException `INSERT_COLUMN_ARITY_MISMATCH.…`, and what the table's write throws.
 */
export async function insertRows(context: StatementContext, statement: InsertStatement): Promise<CommandResult> {
  const target = await targetOf(context, statement.name, 'INSERT');
  const { runtime, table, signal } = target;
  const snapshot = await table.refresh(signal);
  const { plan, matchBy } = await insertedRows(context, statement, { table, snapshot });
  const mode = modeOf(context, statement, isPartitioned(snapshot));
  const options = new WriteOptions([]).tableOptions(runtime.conf);
  await withRelation(
    runtime,
    plan,
    async (rows, execution) =>
      table.operations.write({
        ...options,
        ...(statement.schemaEvolution === true ? { mergeSchema: true } : {}),
        ...rowCommitOptionsOf(target),
        rows,
        readVersions: await execution.readVersions(),
        mode,
        matchBy,
        storeAssignment: true,
        structs: structsOf(statement),
      }),
    signal,
  );
  return noResult;
}

/** One after the other, each a version of its own: those that were done stay where a later one is refused. */
export async function insertInTurn(context: StatementContext, inserts: readonly InsertStatement[]): Promise<CommandResult> {
  for (const { name } of inserts) await targetOf(context, name, 'INSERT');
  for (const insert of inserts) await insertRows(context, insert);
  return noResult;
}

/** The rows that would be inserted. @throws AnalysisException as `insertRows`, for the statement itself. */
export async function insertedPlan(context: StatementContext, statement: InsertStatement): Promise<Plan> {
  const { table, signal } = await targetOf(context, statement.name, 'INSERT');
  const { plan } = await insertedRows(context, statement, { table, snapshot: await table.refresh(signal) });
  return plan;
}

/** A list of columns says nothing of members. Rows that replace those of named partitions are by name. */
function structsOf({ columns, mode, partition }: InsertStatement): 'listed' | 'by-name' | undefined {
  if (columns !== undefined) return 'listed';
  return mode === 'overwrite' && partition.length > 0 ? 'by-name' : undefined;
}

interface Target {
  readonly table: QueryableTable;
  readonly snapshot: Snapshot;
}

/** The query's rows with the names of the columns they are for. */
async function insertedRows(
  context: StatementContext,
  statement: InsertStatement,
  target: Target,
): Promise<{ readonly plan: Plan; readonly matchBy: 'name' | 'position' }> {
  const fixed = statement.partition.flatMap(({ column, value }) =>
    value === undefined ? [] : [{ name: column, value: fixedNow(context, value) }],
  );
  const taken = new Set(fixed.map(({ name }) => name.toLowerCase()));
  const { snapshot } = target;
  const { schema } = snapshot;
  refuseListed(statement, schema);
  refusePartition(statement, snapshot);
  const free = schema.fields.map((field) => field.name).filter((name) => !taken.has(name.toLowerCase()));
  const columns = statement.columns ?? free;
  if (statement.columns !== undefined) requireColumns(statement, target, [...columns, ...taken]);
  const query = { ...queryPlan(context, statement.query), defaults: statement.byName ? undefined : defaultsOf(snapshot, columns) };
  if (statement.byName && fixed.length === 0) {
    const { fields } = await schemaOfPlan(context.runtime, query, context.signal);
    requireColumns(
      statement,
      target,
      fields.map(({ name }) => name),
    );
    return { plan: query, matchBy: 'name' };
  }
  if (statement.columns === undefined && fixed.length === 0) return { plan: query, matchBy: 'position' };
  const { fields } = await schemaOfPlan(context.runtime, query, context.signal);
  const given = fields.length;
  if (!statement.byName && given !== columns.length) throw arityMismatch(statement, columns, given);
  const named: Plan = statement.byName ? query : { kind: 'to-names', names: columns, input: query };
  return { plan: fixed.length === 0 ? named : { kind: 'with-columns', columns: fixed, input: named }, matchBy: 'name' };
}

/** Columns that are never null get a value from the rows, unless the table has one for them. */
function requireColumns({ name }: InsertStatement, { table, snapshot }: Target, given: readonly string[]): void {
  const { schema, columnDefaults } = snapshot;
  const known = new Set(given.map((column) => column.toLowerCase()));
  const ownValue = ['CURRENT_DEFAULT', 'delta.generationExpression', 'delta.identity.start'];
  const lacking = schema.fields.find(
    (field) =>
      !field.nullable &&
      !known.has(field.name.toLowerCase()) &&
      !columnDefaults?.has(field.name) &&
      ownValue.every((key) => field.metadata?.[key] === undefined),
  );
  if (lacking !== undefined) throw notGiven(shownName(name), lacking.name, table.format);
}

/** A list names columns of the table, each once. */
function refuseListed({ columns = [] }: InsertStatement, schema: StructType): void {
  for (const [index, column] of columns.entries()) {
    const name = column.toLowerCase();
    if (columns.findIndex((other) => other.toLowerCase() === name) < index) throw columnExists(name);
    if (!schema.fields.some((field) => field.name.toLowerCase() === name)) throw unresolvedColumn([column], [{ schema }]);
  }
}

/** PARTITION names columns that the table is partitioned by; one that has a value there is not listed too. */
function refusePartition({ partition, columns = [] }: InsertStatement, { partitionColumns }: Snapshot): void {
  const same = (name: string) => (other: string) => other.toLowerCase() === name.toLowerCase();
  for (const { column, value } of partition) {
    if (!partitionColumns.some(same(column))) throw nonPartitionColumn(column);
    if (value !== undefined && columns.some(same(column))) throw staticPartitionListed(column);
  }
}

/** What the word DEFAULT stands for in each of the columns; null where a column has no default. */
function defaultsOf({ schema, columnDefaults }: Snapshot, columns: readonly string[]): readonly Expression[] {
  return columns.map((column) => {
    const field = schema.fields.find(({ name }) => name.toLowerCase() === column.toLowerCase());
    const literal = columnDefaults?.get(field?.name ?? '');
    if (literal !== undefined) return { kind: 'literal', literal };
    const text = field?.metadata?.['CURRENT_DEFAULT'];
    return typeof text === 'string' ? parseExpression(text) : nullExpression;
  });
}

function modeOf(context: StatementContext, statement: InsertStatement, partitioned: boolean): WriteMode {
  if (statement.replaceWhere !== undefined) return { kind: 'overwrite', replaceWhere: fixedNow(context, statement.replaceWhere) };
  if (statement.mode === 'append') return { kind: 'append' };
  const asked = context.runtime.conf.find('spark.sql.sources.partitionOverwriteMode')?.toLowerCase();
  if (asked === 'dynamic' && partitioned) return { kind: 'overwrite-partitions' };
  const fixed = statement.partition.flatMap(({ column, value }): readonly Expression[] =>
    value === undefined ? [] : [{ kind: 'binary', operator: '<=>', left: { kind: 'column', path: [column] }, right: value }],
  );
  return { kind: 'overwrite', replaceWhere: conjunction(fixed) };
}

function nonPartitionColumn(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'NON_PARTITION_COLUMN',
    message: `PARTITION clause cannot contain the non-partition column: \`${name}\`.`,
    parameters: { columnName: `\`${name}\`` },
    hint: 'give the column a value in the query, or replace its rows: INSERT INTO … REPLACE WHERE',
  });
}

function staticPartitionListed(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST',
    message: `Static partition column \`${name}\` is also specified in the column list.`,
    parameters: { staticName: `\`${name}\`` },
  });
}

function notGiven(tableName: string, columnName: string, format: TableFormat): AnalysisException {
  if (traitsOf[format].ownErrorClasses) {
    return new AnalysisException({
      errorClass: 'DELTA_INSERT_COLUMN_MISMATCH',
      message: `Column ${columnName} is not specified in INSERT`,
      parameters: { columnName },
    });
  }
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA',
    message: `Cannot write incompatible data for the table ${tableName}: Cannot find data for the output column \`${columnName}\`.`,
    parameters: { tableName, colName: `\`${columnName}\`` },
  });
}

function arityMismatch(statement: InsertStatement, columns: readonly string[], given: number): AnalysisException {
  const few = given < columns.length;
  const reason = few ? 'not enough data columns' : 'too many data columns';
  return new AnalysisException({
    errorClass: `INSERT_COLUMN_ARITY_MISMATCH.${few ? 'NOT_ENOUGH_DATA_COLUMNS' : 'TOO_MANY_DATA_COLUMNS'}`,
    message: `Cannot write to ${shownName(statement.name)}, the reason is ${reason}: Table columns: ${columns.map((name) => `\`${name}\``).join(', ')}. Data columns: ${given} of them.`,
    parameters: { tableName: shownName(statement.name), tableColumns: columns.join(', ') },
  });
}

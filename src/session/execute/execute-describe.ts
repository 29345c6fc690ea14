import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { simpleTypeName } from '../../schema/simple-type.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import { detailRows, detailSchema, historyRows, historySchema } from '../commands/describe-commands.ts';
import { schemaOfPlan } from '../run/actions.ts';
import { expectTable } from '../session-errors.ts';
import type { Statement } from '../statements/statement.ts';
import { describedProperties, shownLocation, shownParts } from './execute-show.ts';
import { catalogViewNamed, describedView } from './show-view.ts';
import { quoted } from './sql-text.ts';
import { queryPlan, referenceIn, type StatementContext, shownName, tableOf, targetOf, viewNamed } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

const describeSchema = resultSchema({ col_name: 'string', data_type: 'string', comment: 'string' });

interface DescribeRow {
  readonly [column: string]: string | undefined;
  readonly col_name: string;
  readonly data_type: string;
  readonly comment: string | undefined;
}

/** DESCRIBE TABLE: columns, partition columns and, extended, what else is known. A temporary view has its columns. */
export async function describeTable(context: StatementContext, statement: Kind<'describe-table'>): Promise<CommandResult> {
  const view = viewNamed(context, statement.name);
  if (view !== undefined) return columnsResult(await schemaOfPlan(context.runtime, view, context.signal));
  const kept = await catalogViewNamed(context, statement.name);
  if (kept !== undefined) {
    return statement.column === undefined
      ? { schema: describeSchema, rows: describedView(kept, statement.extended) }
      : describeColumn(kept.schema, statement.column);
  }
  const { table } = await targetOf(context, statement.name);
  const { schema, partitionColumns } = await table.refresh(context.signal);
  if (statement.column !== undefined) return describeColumn(schema, statement.column);
  const detail = await table.detail(context.signal);
  const rows = [...schema.fields.map(columnRow), ...partitioningRows(schema, detail.partitioning ?? partitionColumns)];
  if (!statement.extended) return { schema: describeSchema, rows };
  const properties = describedProperties(detail).map(([key, value]) => `${key}=${value}`);
  const extra = [
    row('', ''),
    row('# Detailed Table Information', ''),
    row('Name', shownParts(context, statement.name, detail).join('.')),
    row('Location', shownLocation(detail)),
    row('Provider', detail.format),
    ...(detail.description === undefined ? [] : [row('Comment', detail.description)]),
    row('Table Properties', `[${properties.join(',')}]`),
  ];
  return { schema: describeSchema, rows: [...rows, ...extra] };
}

/** DESCRIBE QUERY: the columns it would have. */
export async function describeQuery(context: StatementContext, statement: Kind<'describe-query'>): Promise<CommandResult> {
  return columnsResult(await schemaOfPlan(context.runtime, queryPlan(context, statement.query), context.signal));
}

export async function describeHistory(context: StatementContext, statement: Kind<'describe-history'>): Promise<CommandResult> {
  if (viewNamed(context, statement.name) !== undefined) throw expectTable(shownName(statement.name), 'DESCRIBE HISTORY');
  const table = await tableOf(context, statement.name, 'DESCRIBE HISTORY');
  return { schema: historySchema, rows: await historyRows(table, statement.limit, context.signal) };
}

export async function describeDetail(context: StatementContext, statement: Kind<'describe-detail'>): Promise<CommandResult> {
  const table = await tableOf(context, statement.name, 'DESCRIBE DETAIL');
  return {
    schema: detailSchema,
    rows: await detailRows(table, context.runtime.tables.qualifiedName(referenceIn(context, statement.name)), context.signal),
  };
}

function columnsResult(schema: StructType): CommandResult {
  return { schema: describeSchema, rows: schema.fields.map(columnRow) };
}

function describeColumn(schema: StructType, path: readonly string[]): CommandResult {
  const field = schema.fields.find((candidate) => candidate.name.toLowerCase() === path[0]?.toLowerCase());
  if (field === undefined || path.length > 1) throw unresolvedColumn(path, [{ schema }]);
  const rows = [
    { info_name: 'col_name', info_value: field.name },
    { info_name: 'data_type', info_value: simpleTypeName(field.type) },
    { info_name: 'comment', info_value: commentOf(field) ?? 'NULL' },
  ];
  return { schema: resultSchema({ info_name: 'string', info_value: 'string' }), rows };
}

/** The partition columns, or, where one is computed, what the rows are partitioned by in turn. */
function partitioningRows(schema: StructType, partitioning: readonly string[]): readonly DescribeRow[] {
  if (partitioning.length === 0) return [];
  const fields = partitioning.flatMap((name) => schema.fields.filter((field) => field.name === name || quoted(field.name) === name));
  if (fields.length < partitioning.length) {
    return [row('', ''), row('# Partitioning', ''), ...partitioning.map((text, index) => row(`Part ${index}`, text))];
  }
  const header = { col_name: '# col_name', data_type: 'data_type', comment: 'comment' };
  return [row('# Partition Information', ''), header, ...fields.map(columnRow)];
}

function columnRow(field: Field): DescribeRow {
  return { col_name: field.name, data_type: simpleTypeName(field.type), comment: commentOf(field) };
}

function commentOf(field: Field): string | undefined {
  const comment = field.metadata?.['comment'];
  return typeof comment === 'string' ? comment : undefined;
}

function row(name: string, value: string): DescribeRow {
  return { col_name: name, data_type: value, comment: '' };
}

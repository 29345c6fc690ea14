import { AnalysisException } from '../../base/analysis-exception.ts';
import { maskInResults, shownValue } from '../../base/redaction.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { Field } from '../../schema/types.ts';
import type { TableDetail } from '../../table/definition-changes.ts';
import { traitsOf } from '../../table/formats.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import { locationText } from '../commands/optimize-command.ts';
import type { SessionTables } from '../names/session-tables.ts';
import type { Plan } from '../plan/plan.ts';
import type { ObjectName, Statement } from '../statements/statement.ts';
import { isGlobalNamespace, shownViews } from '../temp-view-names.ts';
import { likePattern } from './like-pattern.ts';
import { catalogViewNamed, createViewText, viewProperties } from './show-view.ts';
import { quoted, textLiteral } from './sql-text.ts';
import { type StatementContext, targetOf } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export async function showTables({ runtime, signal }: StatementContext, statement: Kind<'show-tables'>): Promise<CommandResult> {
  const matches = likePattern(statement.like);
  const named = (await namedTables(runtime.tables, statement.in?.parts, signal)).filter(({ name }) => matches(name));
  const views = shownViews(runtime.views, statement.in?.parts).filter(({ name }) => matches(name));
  const rows = [
    ...named.map(({ namespace, name }) => ({ namespace: namespace.join('.'), tableName: name, isTemporary: false })),
    ...views.map(({ namespace, name }) => ({ namespace, tableName: name, isTemporary: true })),
  ];
  return { schema: resultSchema({ namespace: 'string', tableName: 'string', isTemporary: 'boolean' }), rows };
}

function namedTables(tables: SessionTables, place: readonly string[] | undefined, signal?: AbortSignal): Promise<readonly TableIdent[]> {
  if (place === undefined) return tables.currentCatalog.tables(tables.currentNamespace, signal);
  if (isGlobalNamespace(place)) return Promise.resolve([]);
  const { catalog, namespace } = tables.namespace(place);
  return catalog.tables(namespace, signal);
}

/** The views of a catalog's namespace, and temporary ones. */
export async function showViews({ runtime, signal }: StatementContext, statement: Kind<'show-views'>): Promise<CommandResult> {
  const matches = likePattern(statement.like);
  const kept = (await namedViews(runtime.tables, statement.in?.parts, signal)).filter(({ name }) => matches(name));
  const views = shownViews(runtime.views, statement.in?.parts).filter(({ name }) => matches(name));
  const rows = [
    ...kept.map(({ namespace, name }) => ({ namespace: namespace.join('.'), viewName: name, isTemporary: false })),
    ...views.map(({ namespace, name }) => ({ namespace, viewName: name, isTemporary: true })),
  ];
  return { schema: resultSchema({ namespace: 'string', viewName: 'string', isTemporary: 'boolean' }), rows };
}

/** A catalog is given a namespace to list: those of the top level have no views. */
async function namedViews(
  tables: SessionTables,
  place: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly TableIdent[]> {
  if (place !== undefined && isGlobalNamespace(place)) return [];
  const { catalog, namespace } =
    place === undefined ? { catalog: tables.currentCatalog, namespace: tables.currentNamespace } : tables.namespace(place);
  return namespace.length === 0 || catalog.views === undefined ? [] : await catalog.views.list(namespace, signal);
}

export async function showTableProperties(context: StatementContext, statement: Kind<'show-table-properties'>): Promise<CommandResult> {
  const view = await catalogViewNamed(context, statement.name);
  if (view !== undefined) return propertyRows(viewProperties(view), statement.key, `View ${view.parts.join('.')}`);
  const { table } = await targetOf(context, statement.name);
  const reference = context.runtime.tables.referenceOf(statement.name.parts);
  const name = reference.kind === 'path' ? `spark_catalog.${reference.format}.${quoted(reference.path)}` : table.name;
  return propertyRows(propertiesOf(await table.detail(context.signal)), statement.key, `Table ${name}`);
}

function propertyRows(all: readonly (readonly [string, string])[], key: string | undefined, owner: string): CommandResult {
  const rows =
    key === undefined
      ? all.map(([name, value]) => ({ key: name, value }))
      : [{ key, value: all.find(([name]) => name === key)?.[1] ?? `${owner} does not have property: ${key}` }];
  return { schema: resultSchema({ key: 'string', value: 'string' }), rows };
}

export async function showColumns(context: StatementContext, statement: Kind<'show-columns'>): Promise<CommandResult> {
  const view = await catalogViewNamed(context, statement.name);
  const { schema } = view ?? (await (await targetOf(context, statement.name)).table.refresh(context.signal));
  return { schema: resultSchema({ col_name: 'string' }), rows: schema.fields.map((field) => ({ col_name: field.name })) };
}

/** The partitions as rows of the partition columns. @throws AnalysisException `UNSUPPORTED_FEATURE` for a table without. */
export async function showPartitions(context: StatementContext, statement: Kind<'show-partitions'>): Promise<Plan> {
  const { table } = await targetOf(context, statement.name);
  const { partitionColumns } = await table.refresh(context.signal);
  if (partitionColumns.length === 0) throw unsupported(`SHOW PARTITIONS of ${table.name}, which is not partitioned,`);
  const reference = context.runtime.tables.referenceOf(statement.name.parts);
  const columns = partitionColumns.map((name) => ({ kind: 'column', path: [name] }) as const);
  const all: Plan = { kind: 'table', source: { reference } };
  const condition = partitionCondition(statement, partitionColumns);
  const rows: Plan = condition === undefined ? all : { kind: 'filter', condition, input: all };
  const distinct: Plan = { kind: 'distinct', input: { kind: 'select', columns, input: rows } };
  return { kind: 'sort', keys: columns.map((expression) => ({ expression, descending: false })), input: distinct };
}

function partitionCondition({ values = [] }: Kind<'show-partitions'>, partitionColumns: readonly string[]): Expression | undefined {
  const known = new Set(partitionColumns.map((name) => name.toLowerCase()));
  return conjunction(
    values.map(({ column, value }): Expression => {
      if (!known.has(column.toLowerCase())) throw noPartitionColumn(column);
      return { kind: 'binary', operator: '<=>', left: { kind: 'column', path: [column] }, right: value };
    }),
  );
}

function noPartitionColumn(column: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN',
    message: `Non-partitioning column(s) [${column}] are specified for SHOW PARTITIONS`,
    parameters: { badCols: `[${column}]` },
  });
}

export async function showCreateTable(context: StatementContext, statement: Kind<'show-create-table'>): Promise<CommandResult> {
  const view = await catalogViewNamed(context, statement.name);
  if (view !== undefined) return createText(createViewText(view));
  const { table } = await targetOf(context, statement.name);
  const detail = await table.detail(context.signal);
  const { schema } = await table.refresh(context.signal);
  const list = (names: readonly string[]): string => names.map(quoted).join(', ');
  const name = shownParts(context, statement.name, detail).map(quoted).join('.');
  const partitioning = detail.partitioning ?? detail.partitionColumns.map(quoted);
  const clauses = [
    `CREATE TABLE ${name} (\n  ${schema.fields.map(columnText).join(',\n  ')})`,
    `USING ${detail.format}`,
    ...(partitioning.length === 0 ? [] : [`PARTITIONED BY (${partitioning.join(', ')})`]),
    ...(detail.clusteringColumns.length === 0 ? [] : [`CLUSTER BY (${list(detail.clusteringColumns)})`]),
    ...(detail.description === undefined ? [] : [`COMMENT ${textLiteral(detail.description)}`]),
    `LOCATION ${textLiteral(shownLocation(detail))}`,
    `TBLPROPERTIES (\n  ${describedProperties(detail)
      .map(([key, value]) => `${textLiteral(key)} = ${textLiteral(value)}`)
      .join(',\n  ')})`,
  ];
  return createText(`${clauses.join('\n')}\n`);
}

function createText(text: string): CommandResult {
  return { schema: resultSchema({ createtab_stmt: 'string' }), rows: [{ createtab_stmt: text }] };
}

/** Stored properties with the protocol's numbers and features, by key, as Delta shows them; what is secret among them masked. */
export function propertiesOf(detail: TableDetail): readonly (readonly [string, string])[] {
  const { minReaderVersion, minWriterVersion, tableFeatures } = detail;
  const features = minWriterVersion !== undefined && minWriterVersion >= 7 ? tableFeatures : [];
  const entries = [
    ...Object.entries(detail.properties),
    ...Object.entries(detail.shownProperties ?? {}),
    ...features.map((feature) => [`delta.feature.${feature}`, 'supported'] as const),
    ...(minReaderVersion === undefined ? [] : [['delta.minReaderVersion', String(minReaderVersion)] as const]),
    ...(minWriterVersion === undefined ? [] : [['delta.minWriterVersion', String(minWriterVersion)] as const]),
  ];
  return [...new Map(entries)]
    .map(([key, value]) => [key, shownValue(key, value, maskInResults)] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** The properties where the comment has a place of its own. */
export function describedProperties(detail: TableDetail): readonly (readonly [string, string])[] {
  return propertiesOf(detail).filter(([key]) => !traitsOf[detail.format].describedByCatalog || key !== 'comment');
}

/** The parts of a table's name: with the catalog where other catalogs may have the same name. */
export function shownParts({ runtime }: StatementContext, name: ObjectName, detail: TableDetail): readonly string[] {
  if (!traitsOf[detail.format].describedByCatalog || runtime.tables.referenceOf(name.parts).kind === 'path') return name.parts;
  const { catalog, ident } = runtime.tables.resolve(name.parts);
  return [catalog.name, ...ident.namespace, ident.name];
}

/** A table's place: as its metadata has it, or as a URI. */
export function shownLocation({ format, location }: TableDetail): string {
  return traitsOf[format].describedByCatalog ? location : locationText(location);
}

function columnText(field: Field): string {
  const generated = field.metadata?.['delta.generationExpression'];
  const fallback = field.metadata?.['CURRENT_DEFAULT'];
  const comment = field.metadata?.['comment'];
  return [
    `${quoted(field.name)} ${sqlTypeName(field.type)}`,
    ...(field.nullable ? [] : ['NOT NULL']),
    ...(typeof generated === 'string' ? [`GENERATED ALWAYS AS (${generated})`] : []),
    ...(typeof fallback === 'string' ? [`DEFAULT ${fallback}`] : []),
    ...(typeof comment === 'string' ? [`COMMENT ${textLiteral(comment)}`] : []),
  ].join(' ');
}

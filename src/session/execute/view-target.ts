import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapChildren } from '../../expr/expression-tree.ts';
import type { StructType } from '../../schema/types.ts';
import { traitsOf } from '../../table/formats.ts';
import type { QueryableTable } from '../../table/table.ts';
import { quotedName } from '../../table/table-names.ts';
import { analyzePlan } from '../analyze/analyze.ts';
import { type Analyzed, schemaOf } from '../plan/analyzed.ts';
import { withExecution } from '../run/execution.ts';
import type { ObjectName } from '../statements/statement.ts';
import { type StatementContext, viewNamed } from './statement-context.ts';

export type RowVerb = 'DELETE' | 'UPDATE' | 'MERGE';

/** A temporary view whose rows are those of a table, one by one. */
export interface ViewTarget {
  readonly table: QueryableTable;
  /** What the view shows. */
  readonly schema: StructType;
  /** Whether it shows every column of the table, each under its own name. */
  readonly whole: boolean;
  /** A column path as a statement about the view has it (without qualifier), as one of the table. @throws AnalysisException `UNRESOLVED_COLUMN.…`. */
  column(path: readonly string[]): readonly string[];
}

/**
 * The table behind the temporary view that a statement names; `undefined`: the name is of no view.
 *
 * @throws AnalysisException `DELTA_UNEXPECTED_PARTIAL_SCAN` (KD00A) for a view that leaves rows out, `DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION`
 * (KD002) of an earlier version, `DELTA_UNSUPPORTED_SOURCE` (0AKDD) of anything but columns of one table, `DELTA_CANNOT_RESOLVE_COLUMN` for
 * columns that the table does not have, `UNSUPPORTED_FEATURE.TABLE_OPERATION` for tables of other formats.
 */
export async function viewTarget(context: StatementContext, name: ObjectName, verb: RowVerb): Promise<ViewTarget | undefined> {
  const view = viewNamed(context, name);
  if (view === undefined) return undefined;
  return withExecution(context.runtime, context.signal, async (execution) => {
    const analyzed = await analyzePlan(execution, view);
    const source = sourceOf(analyzed, verb);
    const schema = schemaOf(analyzed.attributes);
    if (!traitsOf[source.table.format].changedThroughViews) return { table: source.table, schema, whole: true, column: (path) => path };
    if (verb === 'MERGE' && schema.fields.length !== source.snapshot.schema.fields.length) throw otherColumns(source.table);
    const paths = new Map(
      analyzed.attributes.map(({ id, field }) => [field.name.toLowerCase(), tableColumn(source, { id, name: field.name })]),
    );
    const shown = source.snapshot.schema.fields.every(({ name: column }) => paths.get(column.toLowerCase()) === column);
    return { table: source.table, schema, whole: shown, column: (path) => columnOf(path, paths, schema) };
  });
}

type TableNode = Extract<Analyzed, { readonly kind: 'table' }>;

/** The table that is read, and which of its columns each attribute is. */
interface Source extends Pick<TableNode, 'table' | 'snapshot'> {
  readonly names: ReadonlyMap<string, string>;
}

/** Projections may stand between a view and its table. */
function sourceOf(node: Analyzed, verb: RowVerb): Source {
  const table = onlyTable(node);
  if (table === undefined) throw unsupportedOperation('`unknown`', verb);
  const found = below(node);
  if (!traitsOf[table.format].changedThroughViews && (typeof found !== 'object' || !isPlain(node)))
    throw unsupportedOperation(quotedName([table.name]), verb);
  if (found === 'filtered') throw partialScan();
  if (found === undefined) throw unsupportedSource(verb);
  return found;
}

function below(node: Analyzed): Source | 'filtered' | undefined {
  switch (node.kind) {
    case 'table': {
      if (node.at !== undefined || node.appendedAfter !== undefined) throw historical(node.table);
      const names = new Map(node.attributes.map(({ id, field }) => [id, field.name]));
      return { table: node.table, snapshot: node.snapshot, names };
    }
    case 'filter':
      return below(node.input) === undefined ? undefined : 'filtered';
    case 'project': {
      const input = below(node.input);
      if (typeof input !== 'object' || node.outputs.some(({ value }) => looksAtRows(value)))
        return typeof input === 'object' ? undefined : input;
      const names = node.outputs.flatMap(({ attribute, value }): readonly [string, string][] => {
        const [id = '', ...members] = value.kind === 'column' ? value.path : [];
        const name = members.length === 0 ? input.names.get(id) : undefined;
        return name === undefined ? [] : [[attribute.id, name]];
      });
      return { ...input, names: new Map(names) };
    }
    default:
      return undefined;
  }
}

/** Whether no column is computed or renamed on the way. */
function isPlain(node: Analyzed): boolean {
  const source = below(node);
  return typeof source === 'object' && node.attributes.every(({ id, field }) => source.names.get(id) === field.name);
}

/** The first table that is read, wherever it stands. */
function onlyTable(node: Analyzed): QueryableTable | undefined {
  switch (node.kind) {
    case 'table':
    case 'changes':
      return node.table;
    case 'mention':
      return onlyTable(node.definition);
    case 'join':
    case 'set':
    case 'recursion':
      return onlyTable(node.left) ?? onlyTable(node.right);
    default:
      return 'input' in node ? onlyTable(node.input) : undefined;
  }
}

function looksAtRows(value: Expression): boolean {
  let found = false;
  const look = (node: Expression): Expression => {
    if (node.kind === 'call' && node.over !== undefined) found = true;
    return mapChildren(node, look);
  };
  look(value);
  return found;
}

function tableColumn({ snapshot, names }: Source, shown: { readonly id: string; readonly name: string }): string {
  const column = names.get(shown.id);
  const named = snapshot.schema.fields.some(({ name }) => name.toLowerCase() === shown.name.toLowerCase());
  if (column !== undefined && named) return column;
  throw new AnalysisException({
    errorClass: 'DELTA_CANNOT_RESOLVE_COLUMN',
    message: `Can't resolve column ${shown.name} in root`,
    parameters: { columnName: shown.name, schema: 'root' },
    hint: 'the view shows a column that the table does not have; change the table itself',
  });
}

function columnOf(path: readonly string[], paths: ReadonlyMap<string, string>, schema: StructType): readonly string[] {
  const [name = '', ...members] = path;
  const column = paths.get(name.toLowerCase());
  if (column === undefined) throw unresolvedColumn(path, [{ schema }]);
  return [column, ...members];
}

/** An expression over the view's columns as one over those of the table, without qualifiers. */
export function overTable(expression: Expression, view: ViewTarget, qualifier: string | undefined): Expression {
  const rewrite = (node: Expression, own: ReadonlySet<string>): Expression => {
    if (node.kind === 'lambda') {
      const inner = new Set([...own, ...node.parameters.map((name) => name.toLowerCase())]);
      return mapChildren(node, (child) => rewrite(child, inner));
    }
    if (node.kind !== 'column') return mapChildren(node, (child) => rewrite(child, own));
    const [first = '', ...rest] = node.path;
    if (own.has(first.toLowerCase())) return node;
    const qualified = rest.length > 0 && first.toLowerCase() === qualifier?.toLowerCase();
    return { ...node, path: view.column(qualified ? rest : node.path) };
  };
  return rewrite(expression, new Set());
}

/** A MERGE finds the columns of the table by those of the view. @throws AnalysisException `DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS` (KD007). */
export function requireWhole({ whole, table }: ViewTarget): void {
  if (!whole) throw otherColumns(table);
}

function otherColumns(table: QueryableTable): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS',
    message: `The view does not show the columns of table ${table.name} as they are, so that rows cannot be merged through it.`,
    hint: 'merge into the table, or into a view of all its columns',
  });
}

function unsupportedOperation(tableName: string, verb: RowVerb): AnalysisException {
  const operation = { DELETE: 'DELETE', UPDATE: 'UPDATE TABLE', MERGE: 'MERGE INTO TABLE' }[verb];
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TABLE_OPERATION',
    kind: 'unsupported',
    message: `The feature is not supported: Table ${tableName} does not support ${operation} through a view.`,
    parameters: { tableName, operation },
    hint: 'name the table itself',
  });
}

/** Rows of Iceberg tables are changed by the table's own name; all of them may be deleted by a view's. */
export function refuseForeign(view: ViewTarget, verb: RowVerb, everyRow: boolean): void {
  if (traitsOf[view.table.format].changedThroughViews || everyRow) return;
  if (verb !== 'DELETE') throw unsupportedOperation(quotedName([view.table.name]), verb);
  throw new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_1110',
    kind: 'unsupported',
    message: `Cannot delete from table ${view.table.name} through a view by a condition.`,
    hint: 'name the table itself',
  });
}

function unsupportedSource(operation: RowVerb): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_SOURCE',
    kind: 'unsupported',
    message: `${operation} destination only supports Delta sources.`,
    parameters: { operation, plan: '' },
    hint: 'a view whose rows are changed shows columns of one table, and nothing else',
  });
}

function partialScan(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNEXPECTED_PARTIAL_SCAN',
    message: 'Expect a full scan of Delta sources, but found a partial scan.',
    hint: 'the view leaves rows out: put its condition into the statement, and name the table',
  });
}

function historical(table: QueryableTable): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION',
    message: `Expect a full scan of the latest version of the Delta source, but found a historical scan of ${table.name}.`,
    hint: 'the view shows an earlier version: name the table',
  });
}

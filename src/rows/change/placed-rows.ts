import { present } from '../../base/assert.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { Assignment, FindPlaces } from '../../table/row-operations.ts';
import { countTouched } from '../merge/merge-touched-rows.ts';
import type { RowChange, RowTable } from '../row-table.ts';
import { assignedValues } from './assigned-values.ts';
import { assignedColumns } from './assignment-targets.ts';
import { type HiddenNames, hiddenNames } from './hidden-names.ts';
import { rewriteFiles } from './rewrite-files.ts';
import { type RowClause, touchedColumn } from './rewrite-sql.ts';
import { RowScope } from './row-scope.ts';

interface Placed {
  readonly command: 'delete' | 'update';
  readonly places: FindPlaces;
  /** Their values are not looked at: the places bring them. */
  readonly assignments: readonly Assignment[];
}

/**
 * A DELETE or UPDATE of rows that a query chose, which may have asked other tables. What it asked cannot be told as a condition on rows:
 * any row that others add meanwhile might have mattered.
 *
 * @throws AnalysisException `refusalOfQueries` of the table, and what assignments throw.
 */
export async function planPlaced<File>(
  table: RowTable<File>,
  { command, places, assignments }: Placed,
): Promise<RowChange<File> | undefined> {
  const { work, schema } = table;
  const refusal = work.target.refusalOfQueries?.(command);
  if (refusal !== undefined) throw refusal;
  const startedMs = work.clock.monotonicMs();
  const hidden = hiddenNames([schema]);
  const found = await hold(table, await places(table.snapshotId), hidden);
  const clause: RowClause = command === 'delete' ? { kind: 'delete' } : await updateClause(table, found, { assignments, hidden });
  const paths = await work.engine.rows(`SELECT DISTINCT ${quoteName(hidden.file)} FROM (${found.sql})`, work.signal);
  if (paths.length === 0) return undefined;
  const named = new Set(paths.map(([path]) => path));
  const files = (await table.filesFor(undefined)).filter((file) => named.has(table.placeOf(file).path));
  const carried = found.schema.fields.slice(2).map(({ name }) => name);
  const clauses = [clause];
  const rows = byIndex(
    found,
    files.map((file) => table.placeOf(file).path),
    hidden,
  );
  const touched = present(await countTouched(work, { rows, files, hidden, clauses, carried }), 'files that are named have rows');
  const scannedMs = work.clock.monotonicMs();
  await rewriteFiles(table, {
    shape: { hidden, clauses, derived: table.derivedColumns() },
    files: touched.files,
    withPositions: true,
    touched: (scan, group) => touched.among(scan, group),
    positions: () => touched.positions(),
  });
  const changed = touched.rowsByClause[0] ?? 0n;
  return {
    condition: undefined,
    readFiles: touched.files.map(({ file }) => file),
    updatedRows: command === 'update' ? changed : 0n,
    deletedRows: command === 'delete' ? changed : 0n,
    insertedRows: 0n,
    copiedRows: 0n,
    startedMs,
    scannedMs,
  };
}

/** The places under names that no column of the table has: file, position, values. */
function hold<File>({ work }: RowTable<File>, places: Relation, hidden: HiddenNames): Promise<Relation> {
  const names = [hidden.file, hidden.position, ...places.schema.fields.slice(2).map((_, index) => hidden.source(index))];
  const fields = places.schema.fields.map((field, index) => ({ ...field, name: names[index] ?? field.name }));
  const sql = `SELECT * FROM (${places.sql}) p(${names.map(quoteName).join(', ')})`;
  return work.holding(work.engine.materialize({ sql, schema: { kind: 'struct', fields } }, work.signal));
}

/** The places with the files' numbers in place of their paths, and the clause. */
function byIndex(found: Relation, paths: readonly string[], hidden: HiddenNames): Relation {
  const [file, ...others] = found.schema.fields;
  const position = present(others[0], 'places have a file and a position');
  const long = { type: { kind: 'long' as const }, nullable: true };
  const clause = { name: hidden.clause, type: { kind: 'integer' as const }, nullable: true };
  const fields = [{ name: present(file, 'places have a file').name, ...long }, position, clause, ...others.slice(1)];
  const values = others.slice(1).map(({ name }) => `p.${quoteName(name)}`);
  const listed = paths.map((path, index) => `(${sqlText(path)}, ${index}::BIGINT)`).join(', ');
  const columns = [`f.i AS ${quoteName(hidden.file)}`, `p.${quoteName(hidden.position)}`, `0 AS ${quoteName(hidden.clause)}`, ...values];
  const sql = `SELECT ${columns.join(', ')} FROM (${found.sql}) p JOIN (VALUES ${listed}) f(path, i) ON f.path = p.${quoteName(hidden.file)}`;
  return { sql, schema: { kind: 'struct', fields } };
}

async function updateClause<File>(
  { work, schema }: RowTable<File>,
  found: Relation,
  { assignments, hidden }: { readonly assignments: readonly Assignment[]; readonly hidden: HiddenNames },
): Promise<RowClause> {
  const given: StructType = { kind: 'struct', fields: found.schema.fields.slice(2) };
  const scope = new RowScope([{ alias: undefined, schema: given, columnSql: touchedColumn }], work.now);
  const placed = assignments.map(({ target }, index): Assignment => ({ target, value: { kind: 'column', path: [hidden.source(index)] } }));
  const assigned = assignedColumns(work.target, schema, { assignments: placed, unknown: (path) => unresolvedColumn(path, [{ schema }]) });
  return { kind: 'update', ...(await assignedValues(work, assigned, { scope, current: touchedColumn })) };
}

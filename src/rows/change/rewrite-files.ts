import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowTrackingColumns } from '../../table/scan.ts';
import type { RowTable } from '../row-table.ts';
import { refuseBrokenRows } from '../values/row-checks.ts';
import { fileGroups } from './file-groups.ts';
import { changeTypeField, type RewriteQueries, type RewriteShape, rewriteQueries } from './rewrite-sql.ts';
import { rowTrackingFields } from './row-tracking-fields.ts';
import { withScan } from './target-scan.ts';
import type { RowPositions, TouchedFile } from './touched-file.ts';

/** Rows of files that change, and rows that come new. */
interface Rewrite<File> {
  readonly shape: Omit<RewriteShape, 'schema' | 'tracked'>;
  readonly files: readonly TouchedFile<File>[];
  /** Touched rows are joined by their place. */
  readonly withPositions?: boolean | undefined;
  /** The rows of a scan of `files`, with the clause of each as `hidden.clause`. */
  touched(scan: Relation, files: readonly File[]): string;
  /** The touched rows by file and position, ordered by both; asked for where rows are marked. */
  positions(): RowPositions<File>;
  /** Checked rows of the written columns. */
  readonly inserted?: Relation | undefined;
  /** Whoever asks records the changes: `recordChanges`. */
  readonly recordsApart?: boolean | undefined;
}

/**
 * Writes what becomes of the touched rows: files without their touched rows or with them updated; where rows are marked, marks over the old
 * rows and files of the updated ones alone. Files that are not touched stay as they are.
 *
 * @throws AnalysisException when an updated row breaks what the table asks of it.
 */
export async function rewriteFiles<File>(table: RowTable<File>, rewrite: Rewrite<File>): Promise<void> {
  const { files } = rewrite;
  let { inserted } = rewrite;
  if (table.marksRows && files.length > 0) await table.mark(rewrite.positions());
  const recorded = table.recordsChanges && files.length > 0 && rewrite.recordsApart !== true;
  for (const group of groupsOf(table, files, recorded)) {
    if (group.written.length > 0) {
      await rewriteGroup(table, rewrite, { files: group.written, inserted });
      inserted = undefined;
    }
    if (recorded) await withQueries(table, rewrite, { files: group.all }, ({ changes }) => table.record(changes));
  }
  if (inserted !== undefined) await table.write(inserted);
  if (recorded && rewrite.inserted !== undefined) await table.record(insertsOf(rewrite.inserted));
  if (!table.marksRows) table.end(files.map(({ file }) => file));
}

/** Writes the images of touched rows alone. */
export async function recordChanges<File>(table: RowTable<File>, rewrite: Rewrite<File>): Promise<void> {
  const files = rewrite.files.map(({ file }) => file);
  for (const group of fileGroups(files, (file) => table.placeOf(file)))
    await withQueries(table, rewrite, { files: group }, ({ changes }) => table.record(changes));
}

interface Group<File> {
  readonly all: readonly File[];
  /** Files with rows to write. */
  readonly written: readonly File[];
}

function groupsOf<File>(table: RowTable<File>, files: readonly TouchedFile<File>[], recorded: boolean): readonly Group<File>[] {
  const hasRows = ({ wholly, updatedRows }: TouchedFile<File>): boolean => (table.marksRows ? updatedRows > 0n : !wholly);
  const written = new Set(files.filter(hasRows).map(({ file }) => file));
  const looked = files.map(({ file }) => file).filter((file) => recorded || written.has(file));
  return fileGroups(looked, (file) => table.placeOf(file)).map((all) => ({ all, written: all.filter((file) => written.has(file)) }));
}

function rewriteGroup<File>(
  table: RowTable<File>,
  rewrite: Rewrite<File>,
  { files, inserted }: { readonly files: readonly File[]; readonly inserted: Relation | undefined },
): Promise<void> {
  const { engine, signal } = table.work;
  const tracked = table.trackedColumns();
  return withQueries(table, rewrite, { files, tracked }, async (queries) => {
    for (const { rows, checks } of queries.unchecked) await refuseBrokenRows(engine, rows, checks, signal);
    if (queries.updated !== undefined) await table.checkUpdated(queries.updated);
    const { sql, schema } = table.marksRows ? (queries.updated ?? queries.kept) : queries.kept;
    await table.write({ sql: inserted === undefined ? sql : `${sql} UNION ALL ${untracked(inserted, tracked)}`, schema });
  });
}

/** Inserted rows beside moved ones: their ids follow from the file they come into. */
function untracked(rows: Relation, tracked: RowTrackingColumns | undefined): string {
  if (tracked === undefined) return rows.sql;
  const columns = rowTrackingFields(tracked).map(({ name }) => `CAST(NULL AS BIGINT) AS ${quoteName(name)}`);
  return `SELECT *, ${columns.join(', ')} FROM (${rows.sql})`;
}

function insertsOf(rows: Relation): Relation {
  const sql = `SELECT *, ${sqlText('insert')} AS ${changeTypeField.name} FROM (${rows.sql})`;
  return { sql, schema: { kind: 'struct', fields: [...rows.schema.fields, changeTypeField] } };
}

function withQueries<File>(
  table: RowTable<File>,
  rewrite: Rewrite<File>,
  { files, tracked }: { readonly files: readonly File[]; readonly tracked?: RowTrackingColumns | undefined },
  use: (queries: RewriteQueries) => Promise<void>,
): Promise<void> {
  const scanning = table.scanToWrite(files, { withPositions: rewrite.withPositions, withRowTracking: tracked !== undefined });
  const shape: RewriteShape = { ...rewrite.shape, schema: table.writtenSchema, tracked };
  return withScan(scanning, (scan) => use(rewriteQueries(rewrite.touched(scan, files), shape)));
}

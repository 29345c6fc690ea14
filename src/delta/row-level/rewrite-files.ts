import type { ScanOptions } from '../../engine/engine.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import { fileGroups } from '../../rows/change/file-groups.ts';
import { changeTypeField, type RewriteQueries, type RewriteShape, rewriteQueries } from '../../rows/change/rewrite-sql.ts';
import { rowTrackingFields } from '../../rows/change/row-tracking-fields.ts';
import type { RowPositions, TouchedFile } from '../../rows/change/touched-file.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowTrackingColumns } from '../../table/scan.ts';
import type { AddFile, CdcFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkRows } from '../files/checked-rows.ts';
import { stageChanges, stageRows } from '../files/stage-rows.ts';
import { movedRowColumns } from '../row-tracking-columns.ts';
import type { FileChanges } from './file-changes.ts';
import { markDeletedRows } from './mark-deleted-rows.ts';
import type { DeltaRowWork } from './row-work.ts';
import { withTarget } from './target-scan.ts';

/** Rows of files that change, and rows that come new. */
export interface Rewrite {
  /** The version whose definition the written files follow: the one that is read, or that with more columns. */
  readonly snapshot: DeltaSnapshot;
  readonly shape: RewriteShape;
  readonly files: readonly TouchedFile<AddFile>[];
  readonly scanOptions?: ScanOptions | undefined;
  /** The rows of a scan of `files`, with the clause of each as `hidden.clause`. */
  touched(scan: Relation, files: readonly AddFile[]): string;
  /** The touched rows by file and position, ordered by both; asked for where the table has deletion vectors. */
  positions(): RowPositions<AddFile>;
  /** Checked rows of the snapshot's schema. */
  readonly inserted?: Relation | undefined;
  /** Whether change rows are written when the table has a feed. */
  readonly changesRecorded: boolean;
}

/** Whether row operations delete by vectors instead of rewriting files. */
export function deletesByVectors(snapshot: DeltaSnapshot): boolean {
  return snapshot.settings.deletionVectors && snapshot.protocol.writerFeatures?.includes('deletionVectors') === true;
}

/**
 * Writes what becomes of the touched rows: copy-on-write, files without their touched rows or with them updated; with deletion vectors,
 * vectors over the old rows and files of the updated ones alone. Files that are not touched stay as they are.
 *
 * @throws AnalysisException when an updated row breaks a constraint.
 */
export async function rewriteFiles(work: DeltaRowWork, rewrite: Rewrite): Promise<FileChanges> {
  const byVectors = deletesByVectors(work.snapshot);
  const marks = byVectors && rewrite.files.length > 0 ? await markDeletedRows(work, rewrite.positions()) : undefined;
  const recorded = rewrite.changesRecorded && work.snapshot.settings.changeDataFeed && rewrite.files.length > 0;
  const added: AddFile[] = [];
  const changeFiles: CdcFile[] = [];
  let inserted = rewrite.inserted;
  for (const group of groupsOf(rewrite, { byVectors, recorded })) {
    if (group.rows.length > 0) {
      added.push(...(await rewriteGroup(work, rewrite, { files: group.rows, byVectors, inserted })));
      inserted = undefined;
    }
    if (recorded) changeFiles.push(...(await recordGroup(work, rewrite, group.all)));
  }
  if (inserted !== undefined) added.push(...(await stage(work, rewrite.snapshot, inserted)));
  if (recorded && rewrite.inserted !== undefined) changeFiles.push(...(await recordInserted(work, rewrite.snapshot, rewrite.inserted)));
  return { added, changeFiles, marked: marks?.marked ?? [], removed: marks?.removed ?? rewrite.files.map(({ file }) => file) };
}

interface Group {
  /** Files whose change rows are recorded. */
  readonly all: readonly AddFile[];
  /** Files with rows to write. */
  readonly rows: readonly AddFile[];
}

function groupsOf(rewrite: Rewrite, mode: { readonly byVectors: boolean; readonly recorded: boolean }): readonly Group[] {
  const hasRows = ({ wholly, updatedRows }: TouchedFile<AddFile>): boolean => (mode.byVectors ? updatedRows > 0n : !wholly);
  const written = new Set(rewrite.files.filter(hasRows).map(({ file }) => file));
  const looked = rewrite.files.map(({ file }) => file).filter((file) => mode.recorded || written.has(file));
  return fileGroups(looked, ({ storedPath, sizeBytes }) => ({ path: storedPath, sizeBytes })).map((all) => ({
    all,
    rows: all.filter((file) => written.has(file)),
  }));
}

interface GroupRewrite {
  readonly files: readonly AddFile[];
  readonly byVectors: boolean;
  readonly inserted: Relation | undefined;
}

function rewriteGroup(work: DeltaRowWork, rewrite: Rewrite, group: GroupRewrite): Promise<readonly AddFile[]> {
  const tracked = movedRowColumns(rewrite.snapshot, work.context.name);
  return withQueries(work, rewrite, { files: group.files, tracked }, async (queries) => {
    for (const { rows, checks } of queries.unchecked) await refuseBrokenRows(work.engine, rows, checks, work.signal);
    if (queries.updated !== undefined) await checkRows(work.context, rewrite.snapshot, queries.updated, work.signal);
    const rows = group.byVectors ? (queries.updated ?? queries.kept) : queries.kept;
    if (group.inserted === undefined) return stage(work, rewrite.snapshot, rows);
    const sql = `${rows.sql} UNION ALL ${untracked(group.inserted, tracked)}`;
    return stage(work, rewrite.snapshot, { sql, schema: rows.schema });
  });
}

/** Inserted rows beside moved ones: their ids follow from the file they come into. */
function untracked(rows: Relation, tracked: RowTrackingColumns | undefined): string {
  if (tracked === undefined) return rows.sql;
  const columns = rowTrackingFields(tracked).map(({ name }) => `CAST(NULL AS BIGINT) AS ${quoteName(name)}`);
  return `SELECT *, ${columns.join(', ')} FROM (${rows.sql})`;
}

function recordGroup(work: DeltaRowWork, rewrite: Rewrite, files: readonly AddFile[]): Promise<readonly CdcFile[]> {
  return withQueries(work, rewrite, { files, tracked: undefined }, ({ changes }) =>
    work.staging(stageChanges(work.context, rewrite.snapshot, changes, work.signal)),
  );
}

function recordInserted(work: DeltaRowWork, snapshot: DeltaSnapshot, rows: Relation): Promise<readonly CdcFile[]> {
  const schema = { kind: 'struct' as const, fields: [...rows.schema.fields, changeTypeField] };
  const changes = { sql: `SELECT *, ${sqlText('insert')} AS _change_type FROM (${rows.sql})`, schema };
  return work.staging(stageChanges(work.context, snapshot, changes, work.signal));
}

function stage(work: DeltaRowWork, snapshot: DeltaSnapshot, rows: Relation): Promise<readonly AddFile[]> {
  return work.staging(stageRows(work.context, snapshot, rows, { dataChange: true, signal: work.signal }));
}

function withQueries<Result>(
  work: DeltaRowWork,
  rewrite: Rewrite,
  group: { readonly files: readonly AddFile[]; readonly tracked: RowTrackingColumns | undefined },
  use: (queries: RewriteQueries) => Promise<Result>,
): Promise<Result> {
  const { snapshot, scanOptions, shape } = rewrite;
  const { files, tracked } = group;
  return withTarget(work, { snapshot, files, options: { ...scanOptions, withRowTracking: tracked !== undefined } }, (scan) =>
    use(rewriteQueries(rewrite.touched(scan, files), { ...shape, tracked })),
  );
}

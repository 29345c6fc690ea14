import { quoteName } from '../../expr/sql/engine-sql.ts';
import { fileGroups } from '../../rows/change/file-groups.ts';
import { positionsByFile } from '../../rows/change/positions-by-file.ts';
import { type RewriteQueries, type RewriteShape, rewriteQueries } from '../../rows/change/rewrite-sql.ts';
import { rowTrackingFields } from '../../rows/change/row-tracking-fields.ts';
import { withScan } from '../../rows/change/target-scan.ts';
import type { RowPositions, TouchedFile } from '../../rows/change/touched-file.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowTrackingColumns } from '../../table/scan.ts';
import { requiredChecks } from '../files/required-checks.ts';
import { stageDataFiles } from '../files/stage-data-files.ts';
import { type DeletedPositions, stageDeletes } from '../files/stage-deletes.ts';
import { lineageColumns } from '../scan/lineage-columns.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { ContentFile } from '../spec/content-file.ts';
import { hasRowLineage } from '../spec/format-features.ts';
import type { IcebergRowWork } from './row-work.ts';

/** Rows of files that change, and rows that come new. */
export interface Rewrite {
  readonly shape: RewriteShape;
  readonly files: readonly TouchedFile<LiveFile>[];
  /** Touched rows are joined by their place. */
  readonly withPositions?: boolean | undefined;
  /** Rows are marked as deleted where they are, in place of rewriting their files. */
  readonly marked: boolean;
  /** The rows of a scan of `files`, with the clause of each as `hidden.clause`. */
  touched(scan: Relation, files: readonly LiveFile[]): string;
  /** The touched rows by file and position; asked for where rows are marked. */
  positions(): RowPositions<LiveFile>;
  /** Checked rows in the table's schema. */
  readonly inserted?: Relation | undefined;
}

/** What a row operation does to the files of a table. */
export interface FileChanges {
  readonly added: readonly ContentFile[];
  readonly removed: readonly ContentFile[];
}

/**
 * Writes what becomes of the touched rows: copy-on-write, files without their touched rows or with them updated; merge-on-read, delete files
 * over the old rows and files of the updated ones alone. Files that are not touched stay as they are.
 *
 * @throws AnalysisException when an updated row lacks a required value.
 */
export async function rewriteFiles(work: IcebergRowWork, rewrite: Rewrite): Promise<FileChanges> {
  const added: ContentFile[] = [];
  const removed: ContentFile[] = [];
  if (rewrite.marked && rewrite.files.length > 0) {
    const staged = await markRows(work, rewrite.positions());
    added.push(...staged.added);
    removed.push(...staged.removed);
  }
  let { inserted } = rewrite;
  const written = rewrite.files.filter(({ wholly, updatedRows }) => (rewrite.marked ? updatedRows > 0n : !wholly)).map(({ file }) => file);
  for (const files of fileGroups(written, ({ entry }) => ({ path: entry.file.path, sizeBytes: entry.file.fileSizeBytes }))) {
    added.push(...(await rewriteGroup(work, rewrite, { files, inserted })));
    inserted = undefined;
  }
  if (inserted !== undefined) added.push(...(await stage(work, inserted)));
  if (!rewrite.marked) removed.push(...rewrite.files.flatMap(({ file }) => withItsDeletes(file)));
  return { added, removed };
}

/** A data file with the delete files that concern it alone: they end with it. */
export function withItsDeletes({ entry, attached }: LiveFile): readonly ContentFile[] {
  const own = attached.own.filter(({ file }) => file.referencedDataFile === entry.file.path);
  return [entry.file, ...(attached.vector === undefined ? [] : [attached.vector.file]), ...own.map(({ file }) => file)];
}

async function markRows(work: IcebergRowWork, deleted: RowPositions<LiveFile>): Promise<FileChanges> {
  const marked = async function* (): AsyncGenerator<DeletedPositions> {
    for await (const { index, positions } of positionsByFile(work, deleted.positions)) {
      const file = deleted.files[index];
      if (file !== undefined) yield { file, positions };
    }
  };
  const staged = await stageDeletes(work.context, work.view, marked(), work.signal);
  await work.staging(Promise.resolve(staged.added));
  return staged;
}

function rewriteGroup(
  work: IcebergRowWork,
  rewrite: Rewrite,
  group: { readonly files: readonly LiveFile[]; readonly inserted: Relation | undefined },
): Promise<readonly ContentFile[]> {
  const tracked = hasRowLineage(work.view.metadata) ? lineageColumns : undefined;
  return withQueries(work, rewrite, { files: group.files, tracked }, async (queries) => {
    for (const { rows, checks } of queries.unchecked) await refuseBrokenRows(work.engine, rows, checks, work.signal);
    if (queries.updated !== undefined) {
      await refuseBrokenRows(work.engine, queries.updated, requiredChecks(work.context.name, work.view.schema), work.signal);
    }
    const rows = rewrite.marked ? (queries.updated ?? queries.kept) : queries.kept;
    if (group.inserted === undefined) return stage(work, rows, tracked);
    return stage(work, { sql: `${rows.sql} UNION ALL ${untracked(group.inserted, tracked)}`, schema: rows.schema }, tracked);
  });
}

/** Inserted rows beside moved ones: their ids follow from the file they come into. */
function untracked(rows: Relation, tracked: RowTrackingColumns | undefined): string {
  if (tracked === undefined) return rows.sql;
  const columns = rowTrackingFields(tracked).map(({ name }) => `CAST(NULL AS BIGINT) AS ${quoteName(name)}`);
  return `SELECT *, ${columns.join(', ')} FROM (${rows.sql})`;
}

function stage(work: IcebergRowWork, rows: Relation, tracked?: RowTrackingColumns): Promise<readonly ContentFile[]> {
  return work.staging(stageDataFiles(work.context, work.view, rows, { withRowTracking: tracked !== undefined }, work.signal));
}

function withQueries<Result>(
  work: IcebergRowWork,
  rewrite: Rewrite,
  group: { readonly files: readonly LiveFile[]; readonly tracked: RowTrackingColumns | undefined },
  use: (queries: RewriteQueries) => Promise<Result>,
): Promise<Result> {
  const { files, tracked } = group;
  const options = { withPositions: rewrite.withPositions, withRowTracking: tracked !== undefined };
  return withScan(work.scan(files, options), (scan) => use(rewriteQueries(rewrite.touched(scan, files), { ...rewrite.shape, tracked })));
}

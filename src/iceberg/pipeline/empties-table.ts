import type { Engine } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Relation } from '../../table/relation.ts';
import type { ManifestFile } from '../metadata/content-file.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import { liveFiles } from '../scan/live-files.ts';
import { manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';

/** Whether the state has data files, as far as its manifests say: a version that leaves none takes away all rows. */
export async function holdsData(context: TableContext, state: SnapshotState, signal: AbortSignal | undefined): Promise<boolean> {
  const manifests = await manifestsOf(context, state.metadata, state.snapshot, signal);
  return manifests.some(({ content, addedFiles, existingFiles }) => content === 'data' && (addedFiles !== 0 || existingFiles !== 0));
}

/**
 * Whether a snapshot that adds rows too takes away every row that the table had: none of its data files was there before, and its changes are deletes, with all rows of the
 * new files as inserts. Rows that were written again as they were, or that are updates by the identifier, were not taken away.
 *
 * @param changes of the snapshot, as changelogs tell them.
 */
export async function emptiesTable(
  work: { readonly context: TableContext; readonly engine: Engine },
  { state, snapshot }: { readonly state: SnapshotState; readonly snapshot: IcebergSnapshot },
  changes: Relation,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { context, engine } = work;
  const manifests = await manifestsOf(context, state.metadata, snapshot, signal);
  const holdsOlder = ({ content, addedSnapshotId, addedFiles, existingFiles }: ManifestFile): boolean =>
    content === 'data' && (existingFiles !== 0 || (addedFiles !== 0 && addedSnapshotId !== snapshot.snapshotId));
  // Most snapshots end here, by what the list says.
  if (manifests.some(holdsOlder)) return false;
  const { data } = await liveFiles(context, state, undefined, signal);
  if (data.some(({ entry, deletes }) => entry.snapshotId !== snapshot.snapshotId || deletes.length > 0)) return false;
  const rows = data.reduce((sum, { entry }) => sum + entry.file.recordCount, 0);
  const countOf = (word: string): string => `count(*) FILTER (WHERE ${quoteName('_change_type')} = '${word}')`;
  const words = ['DELETE', 'INSERT', 'UPDATE_BEFORE'].map(countOf).join(', ');
  const [counts = []] = await engine.rows(`SELECT ${words} FROM (${changes.sql})`, signal);
  const [deletes, inserts, updates] = counts.map(Number);
  return deletes !== undefined && deletes > 0 && inserts === rows && updates === 0;
}

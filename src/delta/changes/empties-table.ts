import type { ChangeFile } from '../../table/changes.ts';
import type { Action } from '../actions.ts';

/**
 * Whether a commit takes away every row that the table had, as an overwrite does: whole files, and all of them. Commits that record their
 * changes row by row do not, whatever is left.
 *
 * @param liveFiles how many files the table has behind the commit.
 */
export function emptiesTable(actions: readonly Action[], files: readonly ChangeFile[], liveFiles: number): boolean {
  const removes = files.filter(({ kind }) => kind === 'delete');
  if (removes.length === 0 || files.some(({ kind, onlyRows }) => kind === 'recorded' || onlyRows !== undefined)) return false;
  const [adds, removed] = [actions.filter((action) => action.kind === 'add'), actions.filter((action) => action.kind === 'remove')];
  const removedPaths = new Set(removed.map(({ storedPath }) => storedPath));
  // What only moves rows, or keeps a file with other rows deleted, leaves rows of the table where they were.
  const isNew = adds.every(({ dataChange, storedPath }) => dataChange && !removedPaths.has(storedPath));
  return isNew && removed.every(({ dataChange }) => dataChange) && liveFiles === adds.length;
}

import { comparePaths } from '../../storage/path.ts';
import type { AddFile } from '../actions.ts';

/** Files rewritten together have at most about this many bytes, so that one rewrite is a bounded piece of work and its outputs stay prunable. */
export const maxGroupBytes: number = 256 * 1024 * 1024;

/** Nor are there more files than this in a group: their list becomes part of a query. */
export const maxGroupFiles = 2_000;

/** Divides files into groups that are rewritten one after the other: by path, so that files of one partition come together. */
export function fileGroups(files: readonly AddFile[]): readonly (readonly AddFile[])[] {
  const groups: AddFile[][] = [];
  let group: AddFile[] = [];
  let groupBytes = 0;
  for (const file of [...files].sort((a, b) => comparePaths(a.storedPath, b.storedPath))) {
    if (group.length > 0 && (group.length === maxGroupFiles || groupBytes + file.sizeBytes > maxGroupBytes)) {
      groups.push(group);
      group = [];
      groupBytes = 0;
    }
    group.push(file);
    groupBytes += file.sizeBytes;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

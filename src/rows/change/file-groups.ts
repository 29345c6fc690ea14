import { comparePaths } from '../../storage/path.ts';
import { fillBins } from '../files/pack-files.ts';

/** Files rewritten together have at most about this many bytes, so that one rewrite is a bounded piece of work and its outputs stay prunable. */
export const maxGroupBytes: number = 256 * 1024 * 1024;

/** Nor are there more files than this in a group: their list becomes part of a query. */
export const maxGroupFiles = 2_000;

/** Where a file is and how large. */
export interface FilePlace {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Divides files into groups that are rewritten one after the other: by path, so that files of one partition come together. */
export function fileGroups<File>(files: readonly File[], place: (file: File) => FilePlace): readonly (readonly File[])[] {
  const placed = files.map((file) => ({ file, ...place(file) })).sort((a, b) => comparePaths(a.path, b.path));
  const bins = fillBins(placed, { maxBytes: maxGroupBytes, maxFiles: maxGroupFiles });
  return bins.map((bin) => bin.files.map(({ file }) => file));
}

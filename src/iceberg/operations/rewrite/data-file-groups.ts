import { groupBy } from '../../../base/group-by.ts';
import type { Packable } from '../../../rows/files/pack-files.ts';
import { deletedRowsOf, type LiveFile } from '../../scan/live-files.ts';
import { partitionKey } from '../../scan/partition-key.ts';
import type { DataRewriteSettings } from './data-settings.ts';
import { groupsBySize } from './rewrite-options.ts';

/** Files of one partition that are rewritten together. */
export interface DataFileGroup {
  readonly files: readonly LiveFile[];
  readonly bytes: number;
  /** Its files are of the spec that the new ones get, and of one partition of it. */
  readonly samePartition: boolean;
}

/**
 * The files that are worth a rewrite, in groups: too small or too large ones and those with many deleted rows, of one partition; files of
 * other specs than the output's together, for their rows may belong to several partitions of it. Pure.
 */
export function dataFileGroups(files: readonly LiveFile[], outputSpecId: number, settings: DataRewriteSettings): readonly DataFileGroup[] {
  const candidates = files.filter((file) => settings.rewriteAll || isCandidate(file, settings));
  const partitions = groupBy(candidates, ({ entry: { file } }) =>
    file.specId === outputSpecId ? partitionKey(file.specId, file.partition) : '',
  );
  const groups = [...partitions].flatMap(([key, members]) =>
    groupsBySize(members.map(packable), settings, ({ file }) => isMuchDeleted(file, settings)).map((packed) => {
      const group = packed.map(({ file }) => file);
      return { files: group, bytes: totalBytes(group), samePartition: key !== '' };
    }),
  );
  return limited(ordered(groups, settings.jobOrder), settings.maxFiles);
}

function isCandidate(file: LiveFile, settings: DataRewriteSettings): boolean {
  const bytes = sizeOf(file);
  return bytes < settings.minFileBytes || bytes > settings.maxFileBytes || isMuchDeleted(file, settings);
}

function isMuchDeleted(file: LiveFile, { deleteFileThreshold, deleteRatio }: DataRewriteSettings): boolean {
  if (file.deletes.length >= deleteFileThreshold) return true;
  const deleted = deletedRowsOf(file);
  return deleted > 0 && deleted / file.entry.file.recordCount >= deleteRatio;
}

function ordered(groups: readonly DataFileGroup[], order: DataRewriteSettings['jobOrder']): readonly DataFileGroup[] {
  switch (order) {
    case 'bytes-asc':
      return groups.toSorted((a, b) => a.bytes - b.bytes);
    case 'bytes-desc':
      return groups.toSorted((a, b) => b.bytes - a.bytes);
    case 'files-asc':
      return groups.toSorted((a, b) => a.files.length - b.files.length);
    case 'files-desc':
      return groups.toSorted((a, b) => b.files.length - a.files.length);
    default:
      return groups;
  }
}

/** Whole groups for as long as they stay within the limit; the last one is cut. */
function limited(groups: readonly DataFileGroup[], maxFiles: number): readonly DataFileGroup[] {
  let left = maxFiles;
  const kept: DataFileGroup[] = [];
  for (const group of groups) {
    if (left <= 0) break;
    const files = group.files.slice(0, left);
    kept.push({ ...group, files, bytes: totalBytes(files) });
    left -= files.length;
  }
  return kept;
}

function packable(file: LiveFile): Packable & { readonly file: LiveFile } {
  return { path: file.entry.file.path, sizeBytes: sizeOf(file), file };
}

function sizeOf({ entry }: LiveFile): number {
  return entry.file.fileSizeBytes;
}

function totalBytes(files: readonly LiveFile[]): number {
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

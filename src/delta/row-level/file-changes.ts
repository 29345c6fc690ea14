import { type Action, type AddFile, type CdcFile, removeOf } from '../actions.ts';

/** What a row operation does to the files of a table. */
export interface FileChanges {
  /** New files. */
  readonly added: readonly AddFile[];
  /** Files that end. */
  readonly removed: readonly AddFile[];
  /** Files that stay, with another deletion vector. */
  readonly marked: readonly MarkedFile[];
  readonly changeFiles: readonly CdcFile[];
}

export interface MarkedFile {
  readonly before: AddFile;
  readonly after: AddFile;
}

/** The actions of a commit that makes the changes. */
export function actionsOf(changes: FileChanges, deletedMs: number): readonly Action[] {
  const ending = [...changes.removed, ...changes.marked.map((file) => file.before)];
  return [
    ...changes.added,
    ...changes.marked.map((file) => file.after),
    ...changes.changeFiles,
    ...ending.map((file) => removeOf(file, { deletedMs, dataChange: true })),
  ];
}

/** Numbers of files for the history; deletion vectors that only grow count as added, removed and updated, as other engines count them. */
interface FileCounts {
  readonly filesAdded: number;
  readonly bytesAdded: number;
  readonly filesRemoved: number;
  readonly bytesRemoved: number;
  readonly changeFilesAdded: number;
  readonly vectorsAdded: number;
  readonly vectorsRemoved: number;
  readonly vectorsUpdated: number;
}

export function fileCounts(changes: FileChanges): FileCounts {
  const updated = changes.marked.filter((file) => file.before.deletionVector !== undefined).length;
  return {
    filesAdded: changes.added.length,
    bytesAdded: bytesOf(changes.added),
    filesRemoved: changes.removed.length,
    bytesRemoved: bytesOf(changes.removed),
    changeFilesAdded: changes.changeFiles.length,
    vectorsAdded: changes.marked.length,
    vectorsRemoved: updated + changes.removed.filter((file) => file.deletionVector !== undefined).length,
    vectorsUpdated: updated,
  };
}

function bytesOf(files: readonly AddFile[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}

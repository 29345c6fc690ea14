import type { FileSizeMetrics } from '../../../table/row-operations.ts';

interface Sized {
  readonly sizeBytes: number;
  readonly deletionVector?: unknown;
}

/** `operationMetrics` of OPTIMIZE and REORG as the format's history shows them: all values are text, sizes are those of the added files. */
export function rewriteMetrics(removed: readonly Sized[], added: readonly Sized[]): Readonly<Record<string, string>> {
  const ascending = added.map((file) => file.sizeBytes).sort((a, b) => a - b);
  const at = (fraction: number): string => String(ascending[Math.min(ascending.length - 1, Math.floor(fraction * ascending.length))] ?? 0);
  return {
    numRemovedFiles: String(removed.length),
    numRemovedBytes: String(totalBytes(removed)),
    numAddedFiles: String(added.length),
    numAddedBytes: String(totalBytes(added)),
    minFileSize: at(0),
    p25FileSize: at(0.25),
    p50FileSize: at(0.5),
    p75FileSize: at(0.75),
    maxFileSize: at(1),
    numDeletionVectorsRemoved: String(deletionVectors(removed)),
  };
}

/** Sizes of one side of a rewrite, as the result row shows them. */
export function fileSizeMetrics(files: readonly Sized[]): FileSizeMetrics {
  const totalSize = totalBytes(files);
  const extreme = (pick: (...sizes: readonly number[]) => number): number | undefined =>
    files.length === 0 ? undefined : files.reduce((found, file) => pick(found, file.sizeBytes), files[0]?.sizeBytes ?? 0);
  return {
    min: extreme(Math.min),
    max: extreme(Math.max),
    avg: files.length === 0 ? 0 : totalSize / files.length,
    totalFiles: files.length,
    totalSize,
  };
}

export function totalBytes(files: readonly Sized[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}

export function deletionVectors(files: readonly Sized[]): number {
  return files.filter((file) => file.deletionVector !== undefined).length;
}

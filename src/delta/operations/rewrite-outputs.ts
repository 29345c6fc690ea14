import type { RewriteGroup } from '../../table/operations.ts';
import type { WriteSpec } from '../../table/staged-file.ts';

/** Where a group's output goes: beside its inputs, under a name nobody has used. */
export function outputPathOf(group: RewriteGroup, spec: WriteSpec, file: { readonly number: number; readonly id: string }): string {
  const beside = group.inputs[0]?.path ?? '';
  const folder = beside.slice(0, beside.lastIndexOf('/') + 1);
  const codec = spec.compression === 'uncompressed' ? '' : `.${spec.compression}`;
  return `${folder}part-${String(file.number).padStart(5, '0')}-${file.id}.c000${codec}.parquet`;
}

/** `operationMetrics` of an OPTIMIZE as the format's history shows them: all values are text, sizes are those of the added files. */
export function optimizeMetrics(removedBytes: readonly number[], addedBytes: readonly number[]): Readonly<Record<string, string>> {
  const ascending = [...addedBytes].sort((a, b) => a - b);
  const at = (fraction: number): string => String(ascending[Math.min(ascending.length - 1, Math.floor(fraction * ascending.length))] ?? 0);
  return {
    numRemovedFiles: String(removedBytes.length),
    numRemovedBytes: String(sum(removedBytes)),
    numAddedFiles: String(addedBytes.length),
    numAddedBytes: String(sum(addedBytes)),
    minFileSize: at(0),
    p25FileSize: at(0.25),
    p50FileSize: at(0.5),
    p75FileSize: at(0.75),
    maxFileSize: at(1),
    numDeletionVectorsRemoved: '0',
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

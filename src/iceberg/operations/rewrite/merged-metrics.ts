import { compareOrdered } from '../../../expr/pruning/ordered-values.ts';
import type { ContentFile } from '../../metadata/content-file.ts';
import { fieldById } from '../../metadata/schema-fields.ts';
import type { IcebergSchema } from '../../metadata/table-metadata.ts';
import { boundOf } from '../../scan/bound-value.ts';

type Counts = ReadonlyMap<number, number> | undefined;
type Bounds = ReadonlyMap<number, Uint8Array> | undefined;
/** Metrics as manifests have them. */
type Metrics = Pick<ContentFile, 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'>;

/** Metrics of the rows of several files together; what one of the files does not say is left out. */
export function mergedMetrics(schema: IcebergSchema, files: readonly ContentFile[]): Metrics {
  return {
    columnSizes: sums(files.map(({ columnSizes }) => columnSizes)),
    valueCounts: sums(files.map(({ valueCounts }) => valueCounts)),
    nullValueCounts: sums(files.map(({ nullValueCounts }) => nullValueCounts)),
    nanValueCounts: sums(files.map(({ nanValueCounts }) => nanValueCounts)),
    lowerBounds: outermost(schema, files, (file) => file.lowerBounds, -1),
    upperBounds: outermost(schema, files, (file) => file.upperBounds, 1),
  };
}

function sums(all: readonly Counts[]): Counts {
  const [first] = all;
  if (first === undefined) return undefined;
  const merged = new Map<number, number>();
  for (const id of first.keys()) {
    const counts = all.map((counts) => counts?.get(id));
    const sum = counts.reduce((total, count) => (total === undefined || count === undefined ? undefined : total + count), 0);
    if (sum !== undefined) merged.set(id, sum);
  }
  return merged;
}

function outermost(schema: IcebergSchema, files: readonly ContentFile[], boundsOf: (file: ContentFile) => Bounds, side: -1 | 1): Bounds {
  const ids = new Set(files.flatMap((file) => [...(boundsOf(file)?.keys() ?? [])]));
  const merged = new Map<number, Uint8Array>();
  for (const id of ids) {
    const type = fieldById(schema, id)?.type;
    if (type === undefined) continue;
    let best: Uint8Array | undefined;
    let known = true;
    for (const file of files) {
      const bound = boundsOf(file)?.get(id);
      // A file without a value of the column has no bounds of it; of any other nothing is known.
      if (bound === undefined) known &&= isEmptyOf(file, id);
      else if (best === undefined) best = bound;
      else {
        const [left, right] = [boundOf(type, bound), boundOf(type, best)];
        if (left === undefined || right === undefined) known = false;
        else if (compareOrdered(left, right) * side > 0) best = bound;
      }
    }
    if (known && best !== undefined) merged.set(id, best);
  }
  return merged;
}

/** Whether all values of a column are null or NaN, as far as the counts say. */
function isEmptyOf({ valueCounts, nullValueCounts }: ContentFile, id: number): boolean {
  const values = valueCounts?.get(id);
  return values !== undefined && nullValueCounts?.get(id) === values;
}

import { planConcatenation } from '../../../rows/files/plan-concatenation.ts';
import { refuseLinksOut } from '../../../storage/allowed-locations.ts';
import { writeFileParts } from '../../../storage/local-file-parts.ts';
import type { ObjectInfo } from '../../../storage/object-store.ts';
import { partitionDirectory } from '../../../table/partition-directory.ts';
import type { PartitionValues } from '../../../table/staged-file.ts';
import type { AddFile } from '../../actions.ts';
import { physicalPartitionColumns, physicalSchema } from '../../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { mergeStatsTexts } from '../../files/merge-stats-texts.ts';
import { discardStaged } from '../../files/stage-rows.ts';
import { statisticsRule } from '../../files/statistics-rule.ts';
import { encodePath } from '../../paths.ts';
import { absolutePathOf } from '../../scan/file-location.ts';
import type { OperationContext } from '../operation-context.ts';
import type { Bin } from './rewrite-bins.ts';

/**
 * The bin as one file with the row groups of its files, byte for byte and in order: rows are neither decoded nor encoded. `undefined` when
 * that is not possible, or when it would leave a file that is bad to read; nothing is written then.
 *
 * It is possible when the files are local, no file has a deletion vector, all have the same Parquet schema and writer (see `RowGroupConcatenation`), and their
 * statistics in the log say everything that the whole's must.
 */
export async function concatenateBin(
  context: OperationContext,
  base: DeltaSnapshot,
  bin: Bin,
  options: { readonly number: number; readonly partitionValues: PartitionValues; readonly signal?: AbortSignal | undefined },
): Promise<AddFile | undefined> {
  if (bin.length < 2 || bin.some((file) => file.deletionVector !== undefined)) return undefined;
  const { place } = context;
  // Elsewhere the bytes would travel twice all the same, and encoding them anew costs little beside that.
  const inputs = bin.map((file) => absolutePathOf(file, place, context.name));
  if (!place.isLocal || !inputs.every((path) => path.startsWith('/'))) return undefined;
  await refuseLinksOut(inputs, place.within);
  const planned = await planConcatenation(
    bin.map((file, index) => ({ path: inputs[index] ?? '', sizeBytes: file.sizeBytes })),
    options.signal,
  );
  if (planned === undefined) return undefined;
  const { schema, mapping } = base;
  const partitionColumns = physicalPartitionColumns(schema, base.partitionColumns, mapping);
  const stored = schema.fields.filter((field) => !base.partitionColumns.includes(field.name));
  const stats = mergeStatsTexts({
    texts: bin.map((file) => file.stats),
    rowCounts: planned.rowCounts,
    storedSchema: physicalSchema({ kind: 'struct', fields: stored }, mapping),
    partitionColumns,
    rule: statisticsRule(base),
  });
  if (stats === undefined) return undefined;
  const partitionValues = Object.fromEntries(partitionColumns.map((column) => [column, options.partitionValues[column]]));
  const name = `part-${String(options.number).padStart(5, '0')}-${context.ids.uuid()}.c000.parquet`;
  const storedPath = `${partitionDirectory(partitionColumns, partitionValues)}${name}`;
  const { signal } = options;
  const sizeBytes = await writeFileParts(`${place.root}/${storedPath}`, planned.parts, { ids: context.ids, signal });
  if (sizeBytes === undefined) return undefined;
  const found = await storedFile(context, storedPath, signal);
  if (found?.sizeBytes !== sizeBytes) {
    await discardStaged(context, [{ storedPath }]);
    return undefined;
  }
  const modifiedMs = Math.trunc(found.modifiedMs);
  return { kind: 'add', path: encodePath(storedPath), storedPath, partitionValues, sizeBytes, modifiedMs, dataChange: false, stats };
}

async function storedFile(context: OperationContext, storedPath: string, signal: AbortSignal | undefined): Promise<ObjectInfo | undefined> {
  try {
    return await context.store.head(storedPath, signal);
  } catch (error) {
    await discardStaged(context, [{ storedPath }]);
    throw error;
  }
}

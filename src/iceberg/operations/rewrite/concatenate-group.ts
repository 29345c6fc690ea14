import { planConcatenation } from '../../../rows/files/plan-concatenation.ts';
import { writeFileParts } from '../../../storage/local-file-parts.ts';
import { discardFiles } from '../../files/discard-files.ts';
import { contentFile, fileNames } from '../../files/staging.ts';
import type { ContentFile } from '../../metadata/content-file.ts';
import { hasRowLineage } from '../../metadata/format-features.ts';
import { specById } from '../../metadata/partition-type.ts';
import type { LiveFile } from '../../scan/live-files.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { mergedMetrics } from './merged-metrics.ts';

/**
 * Files of one partition as one with their row groups, byte for byte: rows are neither decoded nor encoded. `undefined` when that is not
 * possible, or would leave a file that is bad to read; nothing is written then.
 */
export async function concatenateGroup(
  context: TableContext,
  state: SnapshotState,
  files: readonly LiveFile[],
  signal: AbortSignal | undefined,
): Promise<ContentFile | undefined> {
  const { metadata } = state;
  const inputs = files.map(({ entry }) => entry.file);
  const [first] = inputs;
  const spec = first === undefined ? undefined : specById(metadata, first.specId);
  const format = metadata.properties['write.format.default']?.toLowerCase() ?? 'parquet';
  if (first === undefined || spec === undefined || inputs.length < 2 || format !== 'parquet') return undefined;
  // What belongs to a row follows from its file where it is not stored: bytes cannot be moved without it.
  if (hasRowLineage(metadata) || files.some(({ deletes }) => deletes.length > 0)) return undefined;
  if (inputs.some((file) => file.format !== 'parquet' || file.keyMetadata !== undefined)) return undefined;
  const names = fileNames(context, state, spec, { format: 'parquet', content: 'data' });
  const path = names.location(names.next(first.partition));
  const paths = inputs.map((file) => context.files.openable(file.path));
  const output = context.files.openable(path);
  // Elsewhere the bytes would travel twice all the same, and encoding them anew costs little beside that.
  if (![output, ...paths].every((place) => place.startsWith('/'))) return undefined;
  const planned = await planConcatenation(
    inputs.map(({ fileSizeBytes }, index) => ({ path: paths[index] ?? '', sizeBytes: fileSizeBytes })),
    signal,
  );
  if (planned === undefined || inputs.some(({ recordCount }, index) => planned.rowCounts[index] !== recordCount)) return undefined;
  const written = await writeFileParts(output, planned.parts, { ids: context.ids, signal });
  if (written === undefined) return undefined;
  const found = await context.files.head(path, signal);
  if (found?.sizeBytes !== written) {
    await discardFiles(context, [{ path }]);
    return undefined;
  }
  return contentFile({
    content: 'data',
    path,
    format: 'parquet',
    specId: first.specId,
    partition: first.partition,
    recordCount: inputs.reduce((sum, { recordCount }) => sum + recordCount, 0),
    fileSizeBytes: written,
    metrics: mergedMetrics(state.icebergSchema, inputs),
    splitOffsets: splitOffsets(inputs, planned.movedOffset),
    sortOrderId: 0,
  });
}

function splitOffsets(
  inputs: readonly ContentFile[],
  movedOffset: (input: number, offset: number) => number | undefined,
): readonly number[] | undefined {
  const offsets: number[] = [];
  for (const [index, { splitOffsets: own }] of inputs.entries()) {
    if (own === undefined) return undefined;
    for (const offset of own) {
      const moved = movedOffset(index, offset);
      if (moved === undefined) return undefined;
      offsets.push(moved);
    }
  }
  return offsets;
}

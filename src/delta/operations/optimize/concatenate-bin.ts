import { throwIfAborted } from '../../../base/abort.ts';
import { type ByteRange, type FooterBytes, RowGroupConcatenation } from '../../../codec/parquet/concatenate-row-groups.ts';
import { type FilePart, readFileEnd, writeFileParts } from '../../../storage/local-file-parts.ts';
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
 * Row groups are taken over only when they are this large on average. Smaller ones compress worse, and every reader pays for each: a
 * request for each column, a look at its statistics. Encoding them anew into large ones costs much and is worth it then.
 */
const minAverageRowGroupBytes: number = 256 << 10;
/** The footer, which every reader reads whole, may be this share of the data: wide tables reach it long before the limit above. */
const maxFooterShare = 0.02;

/** Footers of most files fit; for the others the end is read once more. */
const likelyFooterBytes: number = 64 << 10;
const maxFooterBytes: number = 64 << 20;
const tailBytes = 8;

/**
 * The bin as one file with the row groups of its files, byte for byte and in order: rows are neither decoded nor encoded. `undefined` when
 * that is not possible, or when it would leave a file that is bad to read; nothing is written then.
 *
 * It is possible when no file has a deletion vector, all have the same Parquet schema and writer (see `RowGroupConcatenation`), and their
 * statistics in the log say everything that the whole's must.
 */
export async function concatenateBin(
  context: OperationContext,
  base: DeltaSnapshot,
  bin: Bin,
  options: { readonly number: number; readonly partitionValues: PartitionValues; readonly signal?: AbortSignal | undefined },
): Promise<AddFile | undefined> {
  if (bin.length < 2 || bin.some((file) => file.deletionVector !== undefined)) return undefined;
  const root = context.localRoot();
  const planned = await planParts(
    bin.map((file) => absolutePathOf(file, root, context.name)),
    bin.map((file) => file.sizeBytes),
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
  const sizeBytes = await writeFileParts(`${root}/${storedPath}`, planned.parts, { ids: context.ids, signal });
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

interface PlannedParts {
  readonly parts: readonly FilePart[];
  /** Of each input. */
  readonly rowCounts: readonly number[];
}

async function planParts(
  paths: readonly string[],
  sizes: readonly number[],
  signal: AbortSignal | undefined,
): Promise<PlannedParts | undefined> {
  const concatenation = new RowGroupConcatenation();
  const parts: FilePart[] = [{ kind: 'bytes', bytes: RowGroupConcatenation.head }];
  const rowCounts: number[] = [];
  let [dataBytes, rowGroupCount] = [0, 0];
  for (const [index, path] of paths.entries()) {
    throwIfAborted(signal);
    const footer = await readFooterBytes(path, sizes[index] ?? 0);
    if (footer === undefined) return undefined;
    const added = concatenation.add(footer);
    if (added.kind === 'refused') return undefined;
    rowCounts.push(added.rowCount);
    rowGroupCount += added.rowGroupCount;
    dataBytes += totalBytes(added.ranges);
    parts.push(...added.ranges.map((range): FilePart => ({ kind: 'range', path, ...range })));
  }
  if (dataBytes < minAverageRowGroupBytes * Math.max(1, rowGroupCount)) return undefined;
  const end = concatenation.finish();
  if (end.length > maxFooterShare * dataBytes) return undefined;
  return { parts: [...parts, { kind: 'bytes', bytes: end }], rowCounts };
}

/** `undefined` for what is no plain Parquet file of the size the log says. */
async function readFooterBytes(path: string, sizeBytes: number): Promise<FooterBytes | undefined> {
  let end = await readFileEnd(path, likelyFooterBytes);
  const length = footerLength(end.bytes);
  if (length === undefined || end.sizeBytes !== sizeBytes || length + tailBytes > Math.min(sizeBytes, maxFooterBytes)) return undefined;
  if (length + tailBytes > end.bytes.length) end = await readFileEnd(path, length + tailBytes);
  const from = end.bytes.length - tailBytes - length;
  if (from < 0) return undefined;
  return { bytes: end.bytes.subarray(from, from + length), start: sizeBytes - tailBytes - length };
}

function footerLength(end: Uint8Array): number | undefined {
  const bytes = Buffer.from(end.buffer, end.byteOffset, end.byteLength);
  if (bytes.length < tailBytes || Buffer.compare(bytes.subarray(-4), RowGroupConcatenation.head) !== 0) return undefined;
  return bytes.readUInt32LE(bytes.length - tailBytes);
}

function totalBytes(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, range) => sum + range.until - range.from, 0);
}

import { throwIfAborted } from '../../base/abort.ts';
import { RowGroupConcatenation } from '../../codec/parquet/concatenate-row-groups.ts';
import { type ByteRange, type FooterBytes, footerLength, footerTailBytes, parquetMark } from '../../codec/parquet/footer.ts';
import { type FilePart, readFileEnd } from '../../storage/local-file-parts.ts';

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

/** One Parquet file out of several, to be written by `writeFileParts`. */
export interface PlannedConcatenation {
  readonly parts: readonly FilePart[];
  /** Of each input. */
  readonly rowCounts: readonly number[];
  /** Where a place of an input is in the whole; `undefined`: not among the bytes taken over. */
  readonly movedOffset: (input: number, offset: number) => number | undefined;
}

/** Bytes of an input and where they go. */
interface MovedRange extends ByteRange {
  readonly to: number;
}

/**
 * Plans a file with the row groups of local Parquet files, byte for byte and in order (see `RowGroupConcatenation`). `undefined` when that is
 * not possible, or when it would give a file that is bad to read.
 */
export async function planConcatenation(
  inputs: readonly { readonly path: string; readonly sizeBytes: number }[],
  signal: AbortSignal | undefined,
): Promise<PlannedConcatenation | undefined> {
  const concatenation = new RowGroupConcatenation();
  const parts: FilePart[] = [{ kind: 'bytes', bytes: parquetMark }];
  const moved: MovedRange[][] = [];
  const rowCounts: number[] = [];
  let [dataBytes, rowGroupCount] = [0, 0];
  for (const { path, sizeBytes } of inputs) {
    throwIfAborted(signal);
    const footer = await readFooterBytes(path, sizeBytes);
    if (footer === undefined) return undefined;
    const added = concatenation.add(footer);
    if (added.kind === 'refused') return undefined;
    rowCounts.push(added.rowCount);
    rowGroupCount += added.rowGroupCount;
    const ranges: MovedRange[] = [];
    for (const range of added.ranges) {
      ranges.push({ ...range, to: parquetMark.length + dataBytes });
      parts.push({ kind: 'range', path, ...range });
      dataBytes += range.until - range.from;
    }
    moved.push(ranges);
  }
  if (dataBytes < minAverageRowGroupBytes * Math.max(1, rowGroupCount)) return undefined;
  const end = concatenation.finish();
  if (end.length > maxFooterShare * dataBytes) return undefined;
  return {
    parts: [...parts, { kind: 'bytes', bytes: end }],
    rowCounts,
    movedOffset: (input, offset) => {
      const range = moved[input]?.find(({ from, until }) => offset >= from && offset < until);
      return range === undefined ? undefined : range.to + offset - range.from;
    },
  };
}

/** `undefined` for what is no plain Parquet file of the size the log says. */
async function readFooterBytes(path: string, sizeBytes: number): Promise<FooterBytes | undefined> {
  let end = await readFileEnd(path, likelyFooterBytes);
  const length = footerLength(end.bytes);
  if (length === undefined || end.sizeBytes !== sizeBytes || length + footerTailBytes > Math.min(sizeBytes, maxFooterBytes))
    return undefined;
  if (length + footerTailBytes > end.bytes.length) end = await readFileEnd(path, length + footerTailBytes);
  const from = end.bytes.length - footerTailBytes - length;
  if (from < 0) return undefined;
  return { bytes: end.bytes.subarray(from, from + length), start: sizeBytes - footerTailBytes - length };
}

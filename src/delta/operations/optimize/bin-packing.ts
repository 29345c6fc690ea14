import { comparePaths } from '../../../storage/path.ts';

/** What packing needs to know of a file. */
interface Packable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Rows, when they are known. */
  readonly rowCount?: number | undefined;
}

interface PackingOptions {
  /** No bin gets larger than this; files of this size or more are left alone. */
  readonly targetFileBytes: number;
  /** A bin with fewer files is dropped; at least 2. */
  readonly minInputFiles: number;
}

/** How much one bin may hold. */
export interface BinLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Default: no limit. */
  readonly maxRows?: number | undefined;
}

/** A bin never holds more files than this, so that one group stays a bounded piece of work. */
export const maxFilesPerBin = 1_000;

/**
 * Nor more rows: compressed bytes say little about the memory that decoded rows take, and a file of so many rows is not small whatever
 * its size.
 */
export const maxRowsPerBin = 5_000_000;

/** A file this much larger than all others of its bin together gains nothing from being rewritten with them. */
const maxSkew = 4;

/** Below this size rewriting costs next to nothing and skew is not looked at. */
const alwaysWorthMergingBytes = 1 << 20;

/**
 * Packs files into bins that become one file each: smallest first (ties by path), greedily up to the target size.
 *
 * Traded: fewer files against bytes written. A file far larger than the rest of its bin is taken out of it, else a table that gets a few
 * tiny files per run would have its one large file rewritten every time; so a byte is rewritten a logarithmic number of times.
 */
export function packBins<File extends Packable>(files: readonly File[], options: PackingOptions): readonly (readonly File[])[] {
  const minFiles = Math.max(2, options.minInputFiles);
  const small = files.filter((file) => file.sizeBytes < options.targetFileBytes && rowsOf(file) < maxRowsPerBin);
  const limits = { maxBytes: options.targetFileBytes, maxFiles: maxFilesPerBin, maxRows: maxRowsPerBin };
  return fillBins(small, limits)
    .map(withoutSkewedTail)
    .filter((candidate) => candidate.length >= minFiles);
}

/** All files in bins, smallest first (ties by path); a bin is closed when the next file would exceed a limit. */
export function fillBins<File extends Packable>(files: readonly File[], limits: BinLimits): readonly (readonly File[])[] {
  const smallestFirst = [...files].sort((a, b) => a.sizeBytes - b.sizeBytes || comparePaths(a.path, b.path));
  const maxRows = limits.maxRows ?? Number.POSITIVE_INFINITY;
  const bins: File[][] = [];
  let bin: File[] = [];
  let [binBytes, binRows] = [0, 0];
  for (const file of smallestFirst) {
    const full = bin.length === limits.maxFiles || binBytes + file.sizeBytes > limits.maxBytes || binRows + rowsOf(file) > maxRows;
    if (full && bin.length > 0) {
      bins.push(bin);
      bin = [];
      [binBytes, binRows] = [0, 0];
    }
    bin.push(file);
    binBytes += file.sizeBytes;
    binRows += rowsOf(file);
  }
  if (bin.length > 0) bins.push(bin);
  return bins;
}

function rowsOf(file: Packable): number {
  return file.rowCount ?? 0;
}

/** Files come smallest first, so only the tail can be out of proportion. */
function withoutSkewedTail<File extends Packable>(bin: readonly File[]): readonly File[] {
  let kept = bin.length;
  let othersBytes = bin.reduce((sum, file) => sum + file.sizeBytes, 0);
  while (kept > 1) {
    const largest = bin[kept - 1]?.sizeBytes ?? 0;
    othersBytes -= largest;
    if (largest < alwaysWorthMergingBytes || largest <= maxSkew * othersBytes) break;
    kept -= 1;
  }
  return bin.slice(0, kept);
}

import { groupBy } from '../../base/group-by.ts';
import type { BoundValue } from '../../schema/statistics.ts';
import { comparePaths } from '../../storage/path.ts';
import type { CompactionRule, RewriteGroup } from '../../table/operations.ts';

/** What packing needs to know of a file. */
export interface Packable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Rows, those that are deleted among them, when they are known. */
  readonly rowCount?: number | undefined;
  /** Rows that are still in the file and that no reader sees. Default: none. */
  readonly deletedRows?: number | undefined;
}

/** How much one bin may hold. */
export interface BinLimits {
  readonly maxBytes: number;
  /** Default: no limit. */
  readonly maxFiles?: number | undefined;
  /** Default: no limit. */
  readonly maxRows?: number | undefined;
}

export interface Bin<File> {
  readonly files: readonly File[];
  /** The next file would have exceeded a limit. */
  readonly full: boolean;
}

/** What compaction finds in a table. */
export interface CompactionDebt<File> {
  /** Files below the size that compaction aims at. */
  readonly smallFileCount: number;
  /** Partitions of which files are rewritten. */
  readonly partitionCount: number;
  /** Files that become one file each, those that replace most files first. */
  readonly groups: readonly (readonly File[])[];
  /** Rows are kept in the order of a key. */
  readonly isClustered: boolean;
}

/** How the rows of files are kept in the order of a key. */
export interface Clustering<File> {
  /** Where the keys of a file begin, where that is known. */
  readonly keyFrom: (file: File) => BoundValue | boolean | undefined;
}

/** So many files of the target's size, of which much is deleted, are sorted together: their ranges of keys come apart, round by round. */
const maxClusteredFiles = 4;

/** One query of the engine reads no longer list of files than this. */
export const maxFilesPerQuery = 10_000;

/** A bin of planned compaction never holds more files than this, so that one group stays a bounded piece of work. */
export const maxFilesPerBin = 1_000;

/**
 * Nor more rows: compressed bytes say little about the memory that decoded rows take, and a file of so many rows is not small whatever
 * its size.
 */
export const maxRowsPerBin = 5_000_000;

/** A file of this share of the target is as good as one of the target's size: what is put together seldom meets it exactly. */
const smallShare = 0.75;

/** A file this much larger than all others of its bin together gains nothing from being rewritten with them. */
const maxSkew = 4;

/** Below this size rewriting costs next to nothing and skew is not looked at. */
const alwaysWorthMergingBytes = 1 << 20;

/** With less than this in every file, readers go through less than 1.25 rows for one that they get. */
const defaultMaxDeletedShare = 0.2;

/**
 * What there is to compact, and how: the one answer to whether compaction is due and to what it takes. Files are put together with others of
 * their partition; those of which much is deleted are rewritten alone if need be. Pure, and independent of the order of the files.
 */
export function compactionDebt<File extends Packable>(
  files: Iterable<File>,
  partitionOf: (file: File) => string,
  rule: CompactionRule,
  clustering?: Clustering<File>,
): CompactionDebt<File> {
  const isDue = (file: File): boolean => (rule.onlyMuchDeleted !== true && isSmall(file, rule)) || isMuchDeleted(file, rule);
  const candidates = [...files].filter(isDue);
  const smallFileCount = candidates.filter((file) => isSmall(file, rule)).length;
  const packed = [...groupBy(candidates, partitionOf).values()]
    .map((partition) => packPartition(partition, rule, clustering))
    .filter((groups) => groups.length > 0);
  const groups = packed.flat().sort((a, b) => b.length - a.length || comparePaths(a[0]?.path ?? '', b[0]?.path ?? ''));
  return { smallFileCount, partitionCount: packed.length, groups, isClustered: clustering !== undefined };
}

/**
 * Packs the files of a partition into groups that become one file each, greedily up to the target size. A group is worth it when it has as
 * many files as the rule asks for, when fewer already fill a file, or when much of one of its files is deleted. With `clustering`, large files are
 * rewritten beside those that begin near them.
 */
function packPartition<File extends Packable>(
  files: readonly File[],
  rule: CompactionRule,
  clustering: Clustering<File> | undefined,
): readonly (readonly File[])[] {
  const limits = { maxBytes: rule.targetFileBytes, maxFiles: maxFilesPerBin, maxRows: maxRowsPerBin };
  const minFiles = Math.max(2, rule.minInputFiles);
  const small = files.filter((file) => isSmall(file, rule));
  const large = files.filter((file) => !isSmall(file, rule));
  const isWorthIt = ({ files: kept, full }: Bin<File>): boolean => kept.length >= minFiles || (full && kept.length > 1);
  return [...packGroups(small, limits, { isDue: (file) => isMuchDeleted(file, rule), isWorthIt }), ...packLarge(large, rule, clustering)];
}

function packLarge<File extends Packable>(
  files: readonly File[],
  { targetFileBytes }: CompactionRule,
  clustering: Clustering<File> | undefined,
): readonly (readonly File[])[] {
  if (clustering === undefined) return files.map((file) => [file]);
  const placed = files.map((file) => ({ file, from: clustering.keyFrom(file) }));
  placed.sort((a, b) => compareBounds(a.from, b.from) || bySize(a.file, b.file));
  const limits = { maxBytes: maxClusteredFiles * targetFileBytes, maxRows: maxClusteredFiles * maxRowsPerBin };
  const bins = fillBins(
    placed.map(({ file }) => file),
    limits,
  );
  return bins.map((bin) => bin.files);
}

/** Bounds of one column; what is not known comes first. */
function compareBounds(left: BoundValue | boolean | undefined, right: BoundValue | boolean | undefined): number {
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What a table does about its debt. */
export function plannedGroups<File extends Packable>(
  { groups, isClustered }: CompactionDebt<File>,
  rule: CompactionRule,
  describe: (group: readonly File[]) => RewriteGroup,
): readonly RewriteGroup[] {
  const planned = groups.map((group): RewriteGroup => {
    const parts = isClustered ? outputFiles(group, rule) : 1;
    return parts === 1 ? describe(group) : { ...describe(group), parts };
  });
  return groupsWithin(planned, rule);
}

/** Into how many files of about the target's size the rows of a group go that readers get. */
export function outputFiles(group: readonly Packable[], { targetFileBytes }: CompactionRule): number {
  const bytes = group.reduce(
    (sum, { sizeBytes, rowCount, deletedRows = 0 }) => sum + sizeBytes * (1 - deletedRows / Math.max(rowCount ?? 0, deletedRows, 1)),
    0,
  );
  return Math.max(1, Math.round(bytes / targetFileBytes));
}

/** The first groups, as far as they become no more files than the rule allows; one at least. */
export function groupsWithin<Group extends { readonly parts?: number | undefined }>(
  groups: readonly Group[],
  { maxGroups }: CompactionRule,
): readonly Group[] {
  let files = 0;
  const until = groups.findIndex(({ parts = 1 }, index) => {
    files += parts;
    return index > 0 && files > maxGroups;
  });
  return until < 0 ? groups : groups.slice(0, until);
}

/**
 * Files in bins, smallest first (ties by path); of those, the groups that are worth a rewrite or have a file that is due for its own sake.
 *
 * Traded: fewer files against bytes written. A file far larger than the rest of its bin is taken out of it, else a table that gets a few
 * tiny files per run would have its one large file rewritten every time; so a byte is rewritten a logarithmic number of times. Taken out, it
 * is a group of its own when it is due.
 */
export function packGroups<File extends Packable>(
  files: readonly File[],
  limits: BinLimits,
  which: { readonly isDue: (file: File) => boolean; readonly isWorthIt: (bin: Bin<File>) => boolean },
): readonly (readonly File[])[] {
  return fillBins(files.toSorted(bySize), limits).flatMap(({ files: bin, full }) => {
    const kept = keptOf(bin);
    const worthIt = kept.some(which.isDue) || which.isWorthIt({ files: kept, full: full && kept.length === bin.length });
    const alone = bin.slice(kept.length).filter(which.isDue);
    return [...(worthIt ? [kept] : []), ...alone.map((file) => [file])];
  });
}

/** Neighbours in bins, in their order; a bin is closed when the next file would exceed a limit. A file beyond a limit is alone. */
export function fillBins<File extends Packable>(files: readonly File[], limits: BinLimits): readonly Bin<File>[] {
  const { maxBytes, maxFiles = Number.POSITIVE_INFINITY, maxRows = Number.POSITIVE_INFINITY } = limits;
  const bins: Bin<File>[] = [];
  let bin: File[] = [];
  let [binBytes, binRows] = [0, 0];
  for (const file of files) {
    const full = bin.length >= maxFiles || binBytes + file.sizeBytes > maxBytes || binRows + rowsOf(file) > maxRows;
    if (full && bin.length > 0) {
      bins.push({ files: bin, full });
      bin = [];
      [binBytes, binRows] = [0, 0];
    }
    bin.push(file);
    binBytes += file.sizeBytes;
    binRows += rowsOf(file);
  }
  if (bin.length > 0) bins.push({ files: bin, full: false });
  return bins;
}

/** Smallest first, ties by path: the same files always come in the same order. */
export function bySize(a: Packable, b: Packable): number {
  return a.sizeBytes - b.sizeBytes || comparePaths(a.path, b.path);
}

function isSmall(file: Packable, { targetFileBytes }: CompactionRule): boolean {
  return file.sizeBytes < targetFileBytes * smallShare && rowsOf(file) < maxRowsPerBin;
}

function isMuchDeleted({ rowCount, deletedRows = 0 }: Packable, { maxDeletedShare = defaultMaxDeletedShare }: CompactionRule): boolean {
  return deletedRows > 0 && (rowCount === undefined || deletedRows >= maxDeletedShare * rowCount);
}

function rowsOf(file: Packable): number {
  return file.rowCount ?? 0;
}

/** The bin without what is out of proportion. Files come smallest first, so only the tail can be. */
function keptOf<File extends Packable>(bin: readonly File[]): readonly File[] {
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

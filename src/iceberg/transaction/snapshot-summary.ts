import type { ContentFile } from '../metadata/content-file.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';

/** What a snapshot's manifests are made of. */
export interface ManifestCounts {
  readonly created: number;
  readonly kept: number;
  readonly replaced: number;
}

/**
 * The summary of a snapshot (https://iceberg.apache.org/spec/#optional-snapshot-summary-fields): counts of what it adds and removes, only
 * those above zero, and the totals after it.
 */
export class SummaryCounts {
  readonly #total = new FileCounts();
  readonly #partitions = new Map<string, FileCounts>();
  readonly #pathOf: (file: ContentFile) => string;
  #duplicates = 0;

  /** @param pathOf the partition of a file as text: `a=1/b=x`, empty without partition fields. */
  constructor(pathOf: (file: ContentFile) => string) {
    this.#pathOf = pathOf;
  }

  add(file: ContentFile): void {
    this.#total.count(file, 'added');
    this.#partition(file).count(file, 'added');
  }

  remove(file: ContentFile): void {
    this.#total.count(file, 'removed');
    this.#partition(file).count(file, 'removed');
  }

  /** A file that was in the table more than once. */
  removeDuplicate(): void {
    this.#duplicates += 1;
  }

  /** Counts; with those of each partition when there are at most `partitionLimit`. */
  entries(partitionLimit: number): Readonly<Record<string, string>> {
    const counts: Record<string, string> = {
      ...this.#total.entries(),
      ...(this.#duplicates > 0 ? { 'deleted-duplicate-files': String(this.#duplicates) } : {}),
      'changed-partition-count': String(this.#partitions.size),
    };
    if (this.#partitions.size === 0 || this.#partitions.size > partitionLimit) return counts;
    counts['partition-summaries-included'] = 'true';
    for (const [path, partition] of this.#partitions) {
      counts[`partitions.${path}`] = Object.entries(partition.entries())
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
    }
    return counts;
  }

  #partition(file: ContentFile): FileCounts {
    const path = this.#pathOf(file);
    const present = this.#partitions.get(path);
    if (present !== undefined) return present;
    const counts = new FileCounts();
    this.#partitions.set(path, counts);
    return counts;
  }
}

/** `manifests-created`, `-kept`, `-replaced` */
export function manifestEntriesOf({ created, kept, replaced }: ManifestCounts): Readonly<Record<string, string>> {
  return { 'manifests-created': String(created), 'manifests-kept': String(kept), 'manifests-replaced': String(replaced) };
}

const totals: readonly (readonly [total: string, added: string, removed: string])[] = [
  ['total-records', 'added-records', 'deleted-records'],
  ['total-files-size', 'added-files-size', 'removed-files-size'],
  ['total-data-files', 'added-data-files', 'deleted-data-files'],
  ['total-delete-files', 'added-delete-files', 'removed-delete-files'],
  ['total-position-deletes', 'added-position-deletes', 'removed-position-deletes'],
  ['total-equality-deletes', 'added-equality-deletes', 'removed-equality-deletes'],
];

/** The totals after a snapshot, from its parent's; one that the parent does not say is not invented. */
export function totalsAfter(
  parent: IcebergSnapshot | undefined,
  counts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    totals.flatMap(([total, added, removed]) => {
      const before = parent === undefined ? 0n : wholeNumberOf(parent.summary[total]);
      if (before === undefined) return [];
      const after = before + (wholeNumberOf(counts[added]) ?? 0n) - (wholeNumberOf(counts[removed]) ?? 0n);
      return after < 0n ? [] : [[total, String(after)]];
    }),
  );
}

type Side = 'added' | 'removed';

class FileCounts {
  readonly #counts = new Map<string, bigint>();

  count(file: ContentFile, side: Side): void {
    const isVector = file.format === 'puffin';
    this.#add(`${side}-files-size`, BigInt(isVector ? (file.contentSizeBytes ?? file.fileSizeBytes) : file.fileSizeBytes));
    // Data files and rows are said to be deleted, everything else to be removed.
    const gone = side === 'added' ? 'added' : 'deleted';
    if (file.content === 'data') {
      this.#add(`${gone}-data-files`, 1n);
      this.#add(`${gone}-records`, BigInt(file.recordCount));
      return;
    }
    this.#add(`${side}-delete-files`, 1n);
    const kind = file.content === 'equality-deletes' ? 'equality' : 'position';
    this.#add(isVector ? `${side}-dvs` : `${side}-${kind}-delete-files`, 1n);
    this.#add(`${side}-${kind}-deletes`, BigInt(file.recordCount));
  }

  entries(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0n).map(([key, count]) => [key, String(count)]));
  }

  #add(key: string, count: bigint): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0n) + count);
  }
}

function wholeNumberOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

import type { Expression } from '../../expr/expression.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { IcebergSnapshot, SnapshotOperation } from '../metadata/table-metadata.ts';
import { DeleteIndex } from '../scan/delete-index.ts';
import { fileFilter } from '../scan/file-filter.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import { partitionKey } from '../scan/partition-key.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { ValidationException } from './commit-errors.ts';
import { describeCondition } from './describe-condition.ts';
import { shortList } from './manifest-filter.ts';
import type { SnapshotChange } from './snapshot-change.ts';

/** What a change is checked against: the state it is to be put on. */
type Base = Pick<SnapshotState, 'metadata' | 'snapshot' | 'icebergSchema'>;

/**
 * Looks at what others committed to the branch since the change was worked out (https://iceberg.apache.org/docs/latest/reliability/).
 *
 * @throws ValidationException naming the files that stand against the change.
 */
export async function validateChange(
  source: MetadataSource,
  base: Base,
  change: SnapshotChange,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { validation } = change;
  const addedVectors = change.added.filter(({ format }) => format === 'puffin');
  const asked = [validation.noNewData, validation.noNewDeletes, validation.noNewDeletesForRemoved, validation.requiredFiles];
  if (asked.every((value) => value === undefined || value === false) && addedVectors.length === 0) return;
  const rivals = snapshotsSince(base, validation.since);
  if (rivals.length === 0) return;
  const history = new History(source, base, rivals, signal);
  if (validation.requiredFiles !== undefined) await checkRequiredFiles(history, validation.requiredFiles);
  if (validation.noNewData !== undefined) await checkNoNewData(history, change, validation.noNewData);
  if (validation.noNewDeletes !== undefined) await checkNoNewDeletes(history, change, validation.noNewDeletes);
  if (validation.noNewDeletesForRemoved === true) await checkNoNewDeletesForRemoved(history, change);
  if (addedVectors.length > 0) await checkNoNewVectors(history, addedVectors);
}

/** The branch's snapshots after the one the change was worked out from. */
function snapshotsSince({ metadata, snapshot }: Base, since: bigint | undefined): readonly IcebergSnapshot[] {
  const rivals: IcebergSnapshot[] = [];
  for (const ancestor of ancestorsOf(metadata, snapshot)) {
    if (ancestor.snapshotId === since) return rivals;
    rivals.push(ancestor);
  }
  const last = rivals.at(-1);
  if (since === undefined && last?.parentSnapshotId === undefined) return rivals;
  throw new ValidationException(
    `Cannot determine history between starting snapshot ${since ?? 'null'} and the last known ancestor ${last?.snapshotId ?? 'null'}`,
  );
}

/** What rival snapshots did, each manifest of theirs read at most once. */
class History {
  readonly base: Base;
  readonly #source: MetadataSource;
  readonly #rivals: readonly IcebergSnapshot[];
  readonly #signal: AbortSignal | undefined;

  constructor(source: MetadataSource, base: Base, rivals: readonly IcebergSnapshot[], signal: AbortSignal | undefined) {
    this.base = base;
    this.#source = source;
    this.#rivals = rivals;
    this.#signal = signal;
  }

  /** Entries of this status that snapshots of these operations made. */
  async entries(
    content: ManifestFile['content'],
    status: 'added' | 'deleted',
    operations: readonly SnapshotOperation[],
  ): Promise<readonly ManifestEntry[]> {
    const { metadata } = this.base;
    const found: ManifestEntry[] = [];
    for (const snapshot of this.#rivals) {
      const operation = snapshot.summary['operation'];
      // What does not say what it did may have done anything.
      if (operation !== undefined && !operations.some((known) => known === operation)) continue;
      const { snapshotId } = snapshot;
      for (const manifest of await manifestsOf(this.#source, metadata, snapshot, this.#signal)) {
        if (manifest.content !== content || manifest.addedSnapshotId !== snapshotId) continue;
        const entries = await entriesOf(this.#source, metadata, manifest, this.#signal);
        found.push(...entries.filter((entry) => entry.status === status && entry.snapshotId === snapshotId));
      }
    }
    return found;
  }

  /** Whether a file may concern rows of the change's condition: by its partitions when it replaces partitions. */
  matcher(change: SnapshotChange, condition: Expression | true, by: 'file' | 'partition'): (file: ContentFile) => boolean {
    if (condition === true) {
      const replaced = change.replacedPartitions;
      if (replaced === undefined) return () => true;
      const keys = new Set(replaced.map(({ specId, partition }) => partitionKey(specId, partition)));
      return ({ specId, partition }) => keys.has(partitionKey(specId, partition));
    }
    const filter = fileFilter(this.base.metadata, this.base.icebergSchema, condition);
    return (file) => (by === 'file' ? filter.mayHoldFile(file) : filter.mayHoldPartition(file));
  }
}

async function checkNoNewData(history: History, change: SnapshotChange, condition: Expression | true): Promise<void> {
  const added = await history.entries('data', 'added', ['append', 'overwrite']);
  const conflicts = pathsOf(added, history.matcher(change, condition, 'file'));
  if (conflicts.length === 0) return;
  throw new ValidationException(
    `Found conflicting files that can contain records matching ${describe(change, condition)}: [${shortList(conflicts)}]`,
  );
}

async function checkNoNewDeletes(history: History, change: SnapshotChange, condition: Expression | true): Promise<void> {
  const added = await history.entries('deletes', 'added', ['overwrite', 'delete']);
  const conflicts = pathsOf(added, history.matcher(change, condition, 'partition'));
  if (conflicts.length > 0) {
    throw new ValidationException(
      `Found new conflicting delete files that can apply to records matching ${describe(change, condition)}: [${shortList(conflicts)}]`,
    );
  }
  // Files that are named to be removed are looked for anyway; those a condition or a partition would name are not.
  if (change.removedWhere === undefined && change.replacedPartitions === undefined) return;
  const deleted = await history.entries('data', 'deleted', ['overwrite', 'delete', 'replace']);
  const gone = pathsOf(deleted, history.matcher(change, condition, 'file'));
  if (gone.length === 0) return;
  throw new ValidationException(
    `Found conflicting deleted files that can contain records matching ${describe(change, condition)}: [${shortList(gone)}]`,
  );
}

async function checkNoNewDeletesForRemoved(history: History, change: SnapshotChange): Promise<void> {
  const removed = change.removed.filter(({ content }) => content === 'data');
  if (removed.length === 0) return;
  const added = await history.entries('deletes', 'added', ['overwrite', 'delete']);
  // Rows that keep their old sequence number stay under equality deletes that came later.
  const equalityCounts = change.dataSequenceNumber === undefined;
  const concerning = added.filter(({ file }) => equalityCounts || file.content !== 'equality-deletes');
  if (concerning.length === 0) return;
  const index = new DeleteIndex(history.base.metadata, latestVectors(concerning));
  for (const file of removed) {
    // All of them came after the file was read: whatever its sequence number, they would have to be applied to it.
    const { vector, own, shared, equality, globalEquality } = index.of(oldest(file));
    if (vector === undefined && [own, shared, equality, globalEquality].every((entries) => entries.length === 0)) continue;
    throw new ValidationException(
      equalityCounts
        ? `Cannot commit, found new delete for replaced data file: ${file.path}`
        : `Cannot commit, found new position delete for replaced data file: ${file.path}`,
    );
  }
}

async function checkRequiredFiles(history: History, required: readonly string[]): Promise<void> {
  const wanted = new Set(required);
  const deleted = await history.entries('data', 'deleted', ['overwrite', 'replace', 'delete']);
  const missing = pathsOf(deleted, ({ path }) => wanted.has(path));
  if (missing.length > 0) throw new ValidationException(`Cannot commit, missing data files: [${shortList(missing)}]`);
}

/** A data file has one deletion vector: a second one would bring rows back that the first one deleted. */
async function checkNoNewVectors(history: History, vectors: readonly ContentFile[]): Promise<void> {
  const concerned = new Set(vectors.map(({ referencedDataFile }) => referencedDataFile));
  const added = await history.entries('deletes', 'added', ['overwrite', 'delete', 'replace']);
  const rival = added.find(({ file }) => file.format === 'puffin' && concerned.has(file.referencedDataFile));
  if (rival === undefined) return;
  throw new ValidationException(
    `Found concurrently added DV for ${rival.file.referencedDataFile ?? ''}: ${rival.file.path}`,
    'run the operation again: it takes the deletes of the other one in',
  );
}

/** Several rivals may have given one file its vector in turn. */
function latestVectors(entries: readonly ManifestEntry[]): readonly ManifestEntry[] {
  const vectors = new Map<string | undefined, ManifestEntry>();
  for (const entry of entries) if (entry.file.format === 'puffin') vectors.set(entry.file.referencedDataFile, entry);
  return [...entries.filter(({ file }) => file.format !== 'puffin'), ...vectors.values()];
}

function oldest(file: ContentFile): ManifestEntry {
  return { status: 'existing', snapshotId: 0n, sequenceNumber: -1n, fileSequenceNumber: -1n, file };
}

function pathsOf(entries: readonly ManifestEntry[], matches: (file: ContentFile) => boolean): readonly string[] {
  return entries.filter(({ file }) => matches(file)).map(({ file }) => file.path);
}

function describe(change: SnapshotChange, condition: Expression | true): string {
  if (condition !== true || change.replacedPartitions === undefined) return describeCondition(condition);
  const partitions = change.replacedPartitions.map(({ partition }) => `[${partition.map((value) => String(value ?? 'null')).join(', ')}]`);
  return `partitions ${shortList(partitions)}`;
}

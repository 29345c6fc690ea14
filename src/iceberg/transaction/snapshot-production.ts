import { assert } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import type { CommitId } from '../../table/commit.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import { nothingStaged, type StagedFiles } from '../../table/staged-presence.ts';
import { snapshotById } from '../ancestry.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import { unassignedSequenceNumber } from '../metadata/avro-settings.ts';
import type { ContentFile, ManifestFile } from '../metadata/content-file.ts';
import { hasDeletionVectors } from '../metadata/format-features.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { partitionPath } from '../metadata/partition-path.ts';
import { checkRequirements, requirementsFor } from '../metadata/requirements.ts';
import type { IcebergSchema, IcebergSnapshot, SnapshotOperation, TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapConflict } from '../pointer/table-pointer.ts';
import { type ProgressSource, printProgress, progressKey, resolvedProgress } from '../progress.ts';
import { type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import { mainBranch } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { isTwin } from '../twin/twin-properties.ts';
import { addedContents } from './added-files.ts';
import { CommitFailedException, ValidationException } from './commit-errors.ts';
import { passedBase, proveBase, proveStaged } from './commit-proof.ts';
import { manifestSettings, partitionSummaryLimit } from './commit-settings.ts';
import { checkMark, markUpdates } from './idempotency.ts';
import { ManifestFilter } from './manifest-filter.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { ManifestMerger } from './merge-manifests.ts';
import { dataRemoval, deleteRemoval } from './removal.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { freshSnapshotId } from './snapshot-ids.ts';
import { numbered } from './snapshot-numbers.ts';
import { manifestEntriesOf, SummaryCounts, totalsAfter } from './snapshot-summary.ts';
import { validateChange } from './validate-change.ts';

/** What making snapshots needs of the table's context. */
export type ProductionContext = Pick<
  TableContext,
  'name' | 'pointer' | 'files' | 'clock' | 'random' | 'ids' | 'engineName' | 'engineVersion' | 'applicationSummary' | 'wapId'
>;

export interface ProductionOptions extends Pick<CommitOptions, 'userMetadata' | 'idempotency' | 'summary'> {
  readonly branch: string;
  readonly commitId?: CommitId | undefined;
  /** When writing the added files began, by `Clock.monotonicMs`; `undefined`: not known. See `missingStagedFile`. */
  readonly stagedSinceMs?: number | undefined;
}

/** Summary entry that names the commit, the same for every attempt at it. */
export const commitIdKey = 'tidewater.commit-id';
/** Summary entry of the free text a write carries. */
const userMetadataKey = 'tidewater.user-metadata';

const wapIdKey = 'wap.id';

/** A snapshot that is written, but for the swap. */
export interface PreparedSnapshot {
  readonly change: MetadataChange;
  readonly snapshot: IcebergSnapshot;
  readonly list: string;
  readonly manifests: readonly ManifestFile[];
  /** It does not become the branch's newest. */
  readonly staged: boolean;
}

/** The files of a snapshot, before they are numbered. */
interface Assembled {
  readonly manifests: readonly ManifestFile[];
  readonly replaced: number;
}

/** The table as one attempt finds it, updates that come with the snapshot applied. */
interface AttemptBase {
  readonly metadata: TableMetadata;
  readonly head: IcebergSnapshot | undefined;
  readonly icebergSchema: IcebergSchema;
}

/**
 * Makes the snapshot of a change on whatever base is the newest. Manifests are written once, a manifest list for every attempt; the
 * snapshot's id stays the same, so that a table has it at most once.
 */
export class SnapshotProduction {
  readonly #context: ProductionContext;
  readonly #source: MetadataSource;
  readonly #change: SnapshotChange;
  readonly #options: ProductionOptions;
  #first: { readonly base: TableMetadata | undefined } | undefined;
  #written: SnapshotManifests | undefined;

  constructor(context: ProductionContext, change: SnapshotChange, options: ProductionOptions) {
    this.#context = context;
    this.#source = { name: context.name, files: context.files };
    this.#change = change;
    this.#options = options;
  }

  /** `undefined` before the first attempt. */
  get snapshotId(): bigint | undefined {
    return this.#written?.writer.snapshotId;
  }

  /**
   * @throws ValidationException for what others committed since the change was worked out; `TABLE_GONE` (discontinuity), CommitFailedException
   * when the base's own files are missing; errors of the storage.
   */
  async attempt(base: LoadedMetadata | undefined, signal: AbortSignal | undefined): Promise<PreparedSnapshot> {
    try {
      return await this.#attempt(base, signal);
    } catch (error) {
      if (base === undefined || !isServiceError(error, 'not-found')) throw error;
      throw new CommitFailedException(this.#context.name, (await passedBase(this.#context, base, error.message)).reason);
    }
  }

  async #attempt(base: LoadedMetadata | undefined, signal: AbortSignal | undefined): Promise<PreparedSnapshot> {
    const updates = [...(this.#change.updates ?? []), ...markUpdates(this.#options.idempotency)];
    this.#checkBase(base?.metadata);
    const on = this.#attemptBase(base, updates);
    const { metadata, head, icebergSchema } = on;
    await validateChange(this.#source, { metadata, snapshot: head, icebergSchema }, this.#change, signal);

    this.#written ??= new SnapshotManifests(this.#context, this.#source, freshSnapshotId(this.#context.random, metadata));
    const { writer } = this.#written;
    const counts = new SummaryCounts((file) => pathOf(metadata, icebergSchema, file));
    for (const file of this.#change.added) counts.add(file);
    const assembled = await this.#assemble(this.#written, on, counts, signal);
    const sequenceNumber = metadata.formatVersion === 1 ? 0n : metadata.lastSequenceNumber + 1n;
    const { manifests, firstRowId, addedRows } = await numbered(this.#source, metadata, assembled.manifests, signal);
    const numbers = { snapshotId: writer.snapshotId, parentSnapshotId: head?.snapshotId, sequenceNumber, firstRowId };
    const list = await writer.writeList(metadata, numbers, manifests, signal);
    const snapshot: IcebergSnapshot = {
      ...numbers,
      timestampMs: Math.max(this.#context.clock.now(), metadata.lastUpdatedMs),
      manifestList: list,
      manifests: undefined,
      summary: this.#summary(on, counts, { manifests, replaced: assembled.replaced }),
      schemaId: metadata.currentSchemaId,
      addedRows,
      keyId: undefined,
    };
    const all = [...updates, ...this.#snapshotUpdates(metadata, snapshot)];
    const staged = this.#isStaged(metadata);
    const requirements = requirementsFor(base?.metadata, all);
    const own = writer.stagedOf(list, manifests);
    const prove = (written = nothingStaged): Promise<SwapConflict | undefined> => this.#prove(base, [own, written]);
    return { change: { requirements, updates: all, prove }, snapshot, list, manifests, staged };
  }

  /** See `ManifestWriter.discard`. */
  async discard(kept?: PreparedSnapshot): Promise<void> {
    await this.#written?.writer.discard(kept);
  }

  /**
   * The change was worked out from the first base: what it defines must still fit. A table that was replaced by another is not the same.
   *
   * @throws ValidationException.
   */
  #checkBase(base: TableMetadata | undefined): void {
    const { ofTwin, kind } = this.#change;
    if (base !== undefined && isTwin(base.properties) && ofTwin !== true && kind !== 'rewrite-manifests')
      throw ofLeader(this.#context.name);
    if (this.#first === undefined) {
      this.#first = { base };
      return;
    }
    const reason = checkRequirements(base, requirementsFor(this.#first.base, this.#change.updates ?? []));
    if (reason !== undefined) throw new ValidationException(`table "${this.#context.name}" changed under the commit: ${reason}`);
    checkMark(this.#options.idempotency, this.#first.base, base);
  }

  /** Right before the swap: what the snapshot builds on and refers to is there. */
  async #prove(base: LoadedMetadata | undefined, metadataFiles: readonly StagedFiles[]): Promise<SwapConflict | undefined> {
    const { added, addsKnownFiles, fresh, manifests } = this.#change;
    const data = addsKnownFiles === true ? [] : [...new Set(added.map(({ path }) => path))];
    const rewritten = (manifests?.added ?? []).map(({ path }) => path);
    const staged = [{ paths: data, sinceMs: this.#options.stagedSinceMs }, { paths: rewritten, sinceMs: undefined }, ...metadataFiles];
    const [refusal] = await Promise.all([
      // A table that is replaced as a whole builds on nothing.
      fresh === true ? undefined : proveBase(this.#context, base),
      // Nobody removes orphans of a table that is not there yet.
      base === undefined ? undefined : proveStaged(this.#context, staged),
    ]);
    return refusal;
  }

  #attemptBase(base: LoadedMetadata | undefined, updates: readonly MetadataUpdate[]): AttemptBase {
    const applied = { nowMs: this.#context.clock.now(), baseLocation: base?.metadataLocation };
    const metadata = base !== undefined && updates.length === 0 ? base.metadata : applyUpdates(base?.metadata, updates, applied);
    const icebergSchema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
    assert(icebergSchema !== undefined, 'metadata has a current schema');
    return { metadata, icebergSchema, head: this.#change.fresh === true ? undefined : headOf(metadata, this.#options.branch) };
  }

  async #assemble(written: SnapshotManifests, on: AttemptBase, counts: SummaryCounts, signal: AbortSignal | undefined): Promise<Assembled> {
    const { metadata, head } = on;
    const base = await manifestsOf(this.#source, metadata, head, signal);
    if (this.#change.kind === 'rewrite-manifests') return rewritten(base, this.#change, written.writer.snapshotId);
    const data = base.filter(({ content }) => content === 'data');
    const deletes = base.filter(({ content }) => content === 'deletes');
    const newData = await written.added(this.#change, metadata, 'data', signal);
    const newDeletes = await written.added(this.#change, metadata, 'deletes', signal);
    const filteredData = await written.data.apply(metadata, data, dataRemoval(this.#change, metadata, on.icebergSchema), signal);
    const idle =
      this.#change.kind === 'append' || this.#change.kind === 'fast-append'
        ? undefined
        : {
            minSequenceNumber: this.#minSequenceNumber(metadata, filteredData.manifests),
            removedData: new Set(hasDeletionVectors(metadata) ? filteredData.removed.map(({ path }) => path) : []),
          };
    const filteredDeletes = await written.deletes.apply(
      metadata,
      deletes,
      deleteRemoval(this.#change, metadata, on.icebergSchema, idle),
      signal,
    );
    for (const file of [...filteredData.removed, ...filteredDeletes.removed]) counts.remove(file);
    for (let duplicate = 0; duplicate < filteredData.duplicates; duplicate += 1) counts.removeDuplicate();
    const settings = manifestSettings(metadata.properties);
    const merging = this.#change.kind === 'fast-append' ? { ...settings, merge: false } : settings;
    const allData = await written.merger.merge(metadata, [...newData, ...filteredData.manifests], merging, signal);
    const allDeletes = await written.merger.merge(metadata, [...newDeletes, ...filteredDeletes.manifests], merging, signal);
    return {
      manifests: [...allData.manifests, ...allDeletes.manifests],
      replaced: filteredData.replaced + filteredDeletes.replaced + allData.replaced + allDeletes.replaced,
    };
  }

  /** Of the live data: delete files before it concern nothing. */
  #minSequenceNumber(metadata: TableMetadata, manifests: readonly ManifestFile[]): bigint {
    const numbers = manifests.map(({ minSequenceNumber }) => minSequenceNumber).filter((number) => number !== unassignedSequenceNumber);
    const all = [
      metadata.lastSequenceNumber,
      ...numbers,
      ...(this.#change.dataSequenceNumber === undefined ? [] : [this.#change.dataSequenceNumber]),
    ];
    return all.reduce((least, number) => (number < least ? number : least));
  }

  #summary({ metadata, head }: AttemptBase, counts: SummaryCounts, assembled: Assembled): Readonly<Record<string, string>> {
    const { commitId, userMetadata, summary } = this.#options;
    const changed = counts.entries(partitionSummaryLimit(metadata.properties));
    const created = assembled.manifests.filter(({ addedSnapshotId }) => addedSnapshotId === this.snapshotId).length;
    return {
      operation: operationOf(this.#change),
      ...this.#context.applicationSummary,
      ...(this.#context.wapId === undefined || !isAudited(metadata.properties) ? {} : { [wapIdKey]: this.#context.wapId }),
      ...carriedProgress({ metadata, snapshot: head }),
      ...this.#change.summary,
      ...summary,
      ...(commitId === undefined ? {} : { [commitIdKey]: commitId }),
      ...(userMetadata === undefined ? {} : { [userMetadataKey]: userMetadata }),
      ...(this.#change.replacedPartitions === undefined ? {} : { 'replace-partitions': 'true' }),
      ...changed,
      ...totalsAfter(head, changed),
      ...manifestEntriesOf({ created, kept: assembled.manifests.length - created, replaced: assembled.replaced }),
      'engine-name': this.#context.engineName,
      'engine-version': this.#context.engineVersion,
    };
  }

  /** Asked for, or write-audit-publish: the table wants writes that have a WAP id to wait until they are published. */
  #isStaged({ properties }: TableMetadata): boolean {
    const wapId = this.#change.summary[wapIdKey] ?? this.#options.summary?.[wapIdKey] ?? this.#context.wapId;
    return this.#change.stageOnly === true || (wapId !== undefined && isAudited(properties));
  }

  #snapshotUpdates(metadata: TableMetadata, snapshot: IcebergSnapshot): readonly MetadataUpdate[] {
    const add: MetadataUpdate = { action: 'add-snapshot', snapshot };
    if (this.#isStaged(metadata)) return [add];
    const { branch } = this.#options;
    const known = metadata.refs.get(branch);
    const ref = { minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined, ...known };
    return [add, { action: 'set-snapshot-ref', refName: branch, ref: { ...ref, type: 'branch', snapshotId: snapshot.snapshotId } }];
  }
}

/** What writes manifests, with what it has written: one for all attempts. */
class SnapshotManifests {
  readonly writer: ManifestWriter;
  readonly data: ManifestFilter;
  readonly deletes: ManifestFilter;
  readonly merger: ManifestMerger;
  readonly #added = new Map<ManifestFile['content'], readonly ManifestFile[]>();

  constructor(context: ProductionContext, source: MetadataSource, snapshotId: bigint) {
    this.writer = new ManifestWriter(context, snapshotId);
    this.data = new ManifestFilter(source, this.writer);
    this.deletes = new ManifestFilter(source, this.writer);
    this.merger = new ManifestMerger(source, this.writer);
  }

  /** Manifests of the files that the change adds. */
  async added(
    change: SnapshotChange,
    metadata: TableMetadata,
    content: ManifestFile['content'],
    signal: AbortSignal | undefined,
  ): Promise<readonly ManifestFile[]> {
    const done = this.#added.get(content);
    if (done !== undefined) return done;
    const { targetBytes } = manifestSettings(metadata.properties);
    const manifests: ManifestFile[] = [];
    for (const part of addedContents(change, metadata, this.writer.snapshotId, content)) {
      manifests.push(...(await this.writer.writeSplit(metadata, part, targetBytes, signal)));
    }
    this.#added.set(content, manifests);
    return manifests;
  }
}

/** Marks of the pipeline stand in every snapshot of ours, so that the nearest ancestor has them whoever else commits or expires snapshots. */
function carriedProgress(source: ProgressSource): Readonly<Record<string, string>> {
  const marks = resolvedProgress(source);
  return marks.size === 0 ? {} : { [progressKey]: printProgress(marks) };
}

/** Manifests in place of others. @throws ValidationException when one of these is not part of the table any more. */
function rewritten(base: readonly ManifestFile[], { manifests }: SnapshotChange, snapshotId: bigint): Assembled {
  const removed = new Set(manifests?.removed.map(({ path }) => path));
  const kept = base.filter(({ path }) => !removed.has(path));
  if (base.length - kept.length < removed.size) {
    const present = new Set(base.map(({ path }) => path));
    throw new ValidationException(`Manifest is missing: ${[...removed].find((path) => !present.has(path)) ?? ''}`);
  }
  const added = (manifests?.added ?? []).map((manifest) => ({
    ...manifest,
    addedSnapshotId: snapshotId,
    sequenceNumber: unassignedSequenceNumber,
  }));
  return { manifests: [...added, ...kept], replaced: removed.size };
}

/** The newest snapshot of the branch that is written to. A branch that is not there begins at main. */
function isAudited(properties: TableMetadata['properties']): boolean {
  return properties['write.wap.enabled']?.toLowerCase() === 'true';
}

function ofLeader(table: string): ValidationException {
  return new ValidationException(
    `table "${table}" is a twin: its data files belong to its leader`,
    'change the rows of the leader, the twin follows; expiry of snapshots and the rewriting of manifests are all that is done to a twin itself',
  );
}

function headOf(metadata: TableMetadata, branch: string): IcebergSnapshot | undefined {
  const ref = metadata.refs.get(branch);
  if (ref?.type === 'tag') {
    throw new ValidationException(
      `${branch} is a tag, not a branch. Tags cannot be targets for producing snapshots`,
      'write to a branch; ALTER TABLE … CREATE BRANCH makes one',
    );
  }
  const id = ref?.snapshotId ?? metadata.refs.get(mainBranch)?.snapshotId ?? metadata.currentSnapshotId;
  return id === undefined ? undefined : snapshotById(metadata, id);
}

/** What the content says happened; a caller that knows better says it in the summary. */
function operationOf(change: SnapshotChange): SnapshotOperation {
  const { kind, added, removed, removedWhere, replacedPartitions, fresh } = change;
  const addsData = added.some(({ content }) => content === 'data');
  const addsDeletes = added.some(({ content }) => content !== 'data');
  const removesData = removed.some(({ content }) => content === 'data') || removedWhere !== undefined || replacedPartitions !== undefined;
  switch (kind) {
    case 'append':
    case 'fast-append':
      return 'append';
    case 'replace':
    case 'rewrite-manifests':
      return 'replace';
    case 'row-delta':
      if (addsDeletes && !addsData) return 'delete';
      return addsData && !addsDeletes && !removesData ? 'append' : 'overwrite';
    default:
      if (fresh === true || replacedPartitions !== undefined || addsData === removesData) return 'overwrite';
      return addsData ? 'append' : 'delete';
  }
}

function pathOf(metadata: TableMetadata, schema: IcebergSchema, { specId, partition }: ContentFile): string {
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId);
  return spec === undefined ? '' : partitionPath(spec, schema, partition);
}

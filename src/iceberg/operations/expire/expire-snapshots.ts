import { AnalysisException } from '../../../base/analysis-exception.ts';
import type { ObjectStore } from '../../../storage/object-store.ts';
import { firstOf, type NotedReader, notedReaders } from '../../../table/reader-notes.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import type { Version } from '../../../table/version.ts';
import { plainLocation } from '../../location.ts';
import { applyUpdates } from '../../metadata/apply-updates.ts';
import type { FileContent } from '../../metadata/content-file.ts';
import type { MetadataUpdate } from '../../metadata/metadata-updates.ts';
import { requirementsFor } from '../../metadata/requirements.ts';
import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import type { MetadataChange } from '../../pointer/table-pointer.ts';
import { manifestsOf } from '../../scan/manifests.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { commitUpdates } from '../../transaction/commit-updates.ts';
import { isTwin } from '../../twin/twin-properties.ts';
import { deleteFiles, refuseForeign } from '../delete-files.ts';
import { illegalArgument, refuseWithoutGc } from '../operation-errors.ts';
import { expiryOf, neededByFeeds } from './retained-snapshots.ts';
import { type UnreachableFiles, unreachableFiles } from './unreachable-files.ts';

export interface ExpireRequest extends Pick<CommitOptions, 'signal'> {
  /** Snapshots from before this time (milliseconds since the epoch) may go. Default: `history.expire.max-snapshot-age-ms` ago. */
  readonly olderThanMs?: number | undefined;
  /** Of each branch so many stay. Default: `history.expire.min-snapshots-to-keep`. */
  readonly retainLast?: number | undefined;
  readonly snapshotIds?: readonly bigint[] | undefined;
  /** Takes out schemas and partition specs that no snapshot uses any more, too. Default false. */
  readonly cleanExpiredMetadata?: boolean | undefined;
  /** Versions from this one on stay whatever their age, beside those that readers noted: the slowest feed's guard. */
  readonly keepVersionsFrom?: Version | undefined;
  readonly maxConcurrentDeletes?: number | undefined;
  /** Counts what would go and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface ExpireResult {
  readonly expiredSnapshots: number;
  readonly removedRefs: number;
  readonly deletedDataFiles: number;
  readonly deletedPositionDeleteFiles: number;
  readonly deletedEqualityDeleteFiles: number;
  readonly deletedManifests: number;
  readonly deletedManifestLists: number;
  readonly deletedStatisticsFiles: number;
}

/**
 * Takes old snapshots out of a table and deletes the files that only they refer to. The metadata is committed first: a file that is deleted
 * is no one's any more, and one that is not becomes an orphan. Data files of a twin are its leader's, and stay.
 *
 * @throws AnalysisException `VALIDATION_FAILED` when `gc.enabled` is false, `INVALID_ARGUMENT` for snapshots that are still referred to,
 * `SNAPSHOT_NEEDED_BY_READER` for those that a reader noted beside the table;
 * ServiceError `FILE_OUTSIDE_TABLE` (invalid), before anything is changed, when files would go that are the table's by its metadata alone.
 */
export async function expireSnapshots(context: TableContext, request: ExpireRequest = {}): Promise<ExpireResult> {
  checkRequest(request);
  const { signal, dryRun } = request;
  const base = await context.refresh(signal);
  const readers = await notedReaders(notesOf(context, base.metadata), base.metadata.tableUuid, signal);
  refuseNeeded(base.metadata, request, readers);
  const keepVersionsFrom = firstOf(readers, request.keepVersionsFrom);
  if (!isTwin(base.metadata.properties)) refuseWithoutGc(base.metadata.properties, 'expire snapshots');
  const plan = await expiryPlan(context, base, { ...request, keepVersionsFrom });
  const planned = await plannedExpiry(context, base, plan, signal);
  if (dryRun === true) return planned === undefined ? nothing : counted(base.metadata, planned.after, planned.files);
  let before = base.metadata;
  const committed = await commitUpdates(
    context,
    (state) => {
      before = state.metadata;
      return plan(state);
    },
    { signal },
  );
  if (committed === undefined) return nothing;
  const { metadata: after } = committed;
  // Of a base that came in between nothing is known yet; what is not the table's stays then.
  const isPlanned = planned !== undefined && before === base.metadata;
  const files = isPlanned ? planned.files : await expiredFiles(context, before, after, signal);
  return counted(before, after, await deleted(context, files, request));
}

/** Where readers of a table are noted. */
export function notesOf(context: TableContext, { location }: TableMetadata): ObjectStore {
  return context.files.storeAt(plainLocation(location));
}

/** A snapshot that is asked for by its id goes, or the reason is told. */
function refuseNeeded(metadata: TableMetadata, { snapshotIds = [] }: ExpireRequest, readers: readonly NotedReader[]): void {
  for (const { by, fromVersion } of readers) {
    const needed = new Set(neededByFeeds(metadata, fromVersion));
    const id = snapshotIds.find((candidate) => needed.has(candidate));
    if (id === undefined) continue;
    throw new AnalysisException({
      errorClass: 'SNAPSHOT_NEEDED_BY_READER',
      message: `Cannot expire ${id}: ${by} has yet to read the changes from version ${fromVersion} on`,
      hint: `wait until it has, or let it go on elsewhere (tidewater feeds reset), or forget it (tidewater feeds drop ${by})`,
      parameters: { snapshotId: String(id), reader: by, version: String(fromVersion) },
    });
  }
}

/** What a plan would leave behind, looked at before it is committed. */
async function plannedExpiry(
  context: TableContext,
  base: SnapshotState,
  plan: Plan,
  signal: AbortSignal | undefined,
): Promise<{ readonly after: TableMetadata; readonly files: UnreachableFiles } | undefined> {
  const { metadata, loaded } = base;
  const change = plan(base);
  if (change === undefined) return undefined;
  const applied = { nowMs: metadata.lastUpdatedMs, baseLocation: loaded.metadataLocation };
  const after = applyUpdates(metadata, change.updates, applied);
  const files = await expiredFiles(context, metadata, after, signal);
  refuseForeign(context, [...files.content.keys(), ...files.manifests, ...files.manifestLists, ...files.statistics]);
  return { after, files };
}

async function expiredFiles(
  context: TableContext,
  before: TableMetadata,
  after: TableMetadata,
  signal: AbortSignal | undefined,
): Promise<UnreachableFiles> {
  const files = await unreachableFiles(context, before, after, signal);
  return isTwin(before.properties) ? { ...files, content: new Map() } : files;
}

type Plan = (state: SnapshotState) => MetadataChange | undefined;

async function expiryPlan(context: TableContext, base: SnapshotState, request: ExpireRequest): Promise<Plan> {
  const nowMs = context.clock.now();
  const uses = request.cleanExpiredMetadata === true ? await specsOfSnapshots(context, base.metadata, request.signal) : undefined;
  return ({ metadata }) => {
    const { snapshots, refs } = expiryOf(metadata, { ...request, nowMs });
    const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId));
    const updates: MetadataUpdate[] = refs.map((refName) => ({ action: 'remove-snapshot-ref', refName }));
    if (ids.size > 0) updates.push({ action: 'remove-snapshots', snapshotIds: [...ids] });
    const staying = metadata.snapshots.filter(({ snapshotId }) => !ids.has(snapshotId));
    if (uses !== undefined) updates.push(...unusedDefinitions(metadata, staying, uses));
    return updates.length === 0 ? undefined : { updates, requirements: requirementsFor(metadata, updates) };
  };
}

/** Partition specs by the snapshots whose manifests are of them. */
async function specsOfSnapshots(
  context: TableContext,
  metadata: TableMetadata,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<bigint, ReadonlySet<number>>> {
  const specs = new Map<bigint, ReadonlySet<number>>();
  for (const snapshot of metadata.snapshots) {
    const manifests = await manifestsOf(context, metadata, snapshot, signal);
    specs.set(snapshot.snapshotId, new Set(manifests.map(({ specId }) => specId)));
  }
  return specs;
}

function unusedDefinitions(
  metadata: TableMetadata,
  staying: readonly IcebergSnapshot[],
  specsOf: ReadonlyMap<bigint, ReadonlySet<number>>,
): readonly MetadataUpdate[] {
  const updates: MetadataUpdate[] = [];
  // Of snapshots that came in between nothing is known: their specs stay until the next time.
  if (staying.every(({ snapshotId }) => specsOf.has(snapshotId))) {
    const used = new Set([metadata.defaultSpecId, ...staying.flatMap(({ snapshotId }) => [...(specsOf.get(snapshotId) ?? [])])]);
    const specIds = metadata.partitionSpecs.map(({ specId }) => specId).filter((id) => !used.has(id));
    if (specIds.length > 0) updates.push({ action: 'remove-partition-specs', specIds });
  }
  const used = new Set([metadata.currentSchemaId, ...staying.map(({ schemaId }) => schemaId)]);
  const schemaIds = metadata.schemas.map(({ schemaId }) => schemaId).filter((id) => !used.has(id));
  if (schemaIds.length > 0) updates.push({ action: 'remove-schemas', schemaIds });
  return updates;
}

/** Data first: what a process that ends early leaves behind can be found by the manifests. */
async function deleted(context: TableContext, files: UnreachableFiles, request: ExpireRequest): Promise<UnreachableFiles> {
  const options = { atOnce: request.maxConcurrentDeletes, signal: request.signal };
  const content = new Map<string, FileContent>();
  for (const path of await deleteFiles(context.files, files.content.keys(), options)) {
    const kind = files.content.get(path);
    if (kind !== undefined) content.set(path, kind);
  }
  const manifests = await deleteFiles(context.files, files.manifests, options);
  const manifestLists = await deleteFiles(context.files, files.manifestLists, options);
  const statistics = await deleteFiles(context.files, files.statistics, options);
  return { content, manifests, manifestLists, statistics };
}

const nothing: ExpireResult = {
  expiredSnapshots: 0,
  removedRefs: 0,
  deletedDataFiles: 0,
  deletedPositionDeleteFiles: 0,
  deletedEqualityDeleteFiles: 0,
  deletedManifests: 0,
  deletedManifestLists: 0,
  deletedStatisticsFiles: 0,
};

function counted(before: TableMetadata, after: TableMetadata, files: UnreachableFiles): ExpireResult {
  const kinds = [...files.content.values()];
  const count = (kind: FileContent): number => kinds.filter((one) => one === kind).length;
  const staying = new Set(after.snapshots.map(({ snapshotId }) => snapshotId));
  return {
    expiredSnapshots: before.snapshots.filter(({ snapshotId }) => !staying.has(snapshotId)).length,
    removedRefs: [...before.refs.keys()].filter((name) => !after.refs.has(name)).length,
    deletedDataFiles: count('data'),
    deletedPositionDeleteFiles: count('position-deletes'),
    deletedEqualityDeleteFiles: count('equality-deletes'),
    deletedManifests: files.manifests.length,
    deletedManifestLists: files.manifestLists.length,
    deletedStatisticsFiles: files.statistics.length,
  };
}

function checkRequest({ retainLast, maxConcurrentDeletes }: ExpireRequest): void {
  if (retainLast !== undefined && retainLast < 1) {
    throw illegalArgument(`Number of snapshots to retain must be at least 1, cannot be: ${retainLast}`);
  }
  if (maxConcurrentDeletes !== undefined && maxConcurrentDeletes < 1) {
    throw illegalArgument(`max_concurrent_deletes should have value > 0, value: ${maxConcurrentDeletes}`);
  }
}

import type { CommitOptions } from '../../../table/row-operations.ts';
import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import type { ContentFile } from '../../metadata/content-file.ts';
import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import { entriesOf, manifestsOf } from '../../scan/manifests.ts';
import { partitionKey } from '../../scan/partition-key.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import { mainBranch, snapshotStateOf } from '../../snapshot-state-of.ts';
import type { TableContext } from '../../table-context.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';
import { commitUpdates } from '../../transaction/commit-updates.ts';
import type { SnapshotChange } from '../../transaction/snapshot-change.ts';
import { refusedOperation } from '../operation-errors.ts';
import { branchChange, currentSnapshot } from './move-main.ts';

export interface PickedSnapshot {
  readonly sourceSnapshotId: bigint;
  readonly currentSnapshotId: bigint;
}

const wapIdKey = 'wap.id';
const publishedWapIdKey = 'published-wap-id';
const sourceKey = 'source-snapshot-id';

/**
 * Does on the main branch what a snapshot beside it did: an append, or an overwrite of whole partitions. A snapshot that follows the current
 * one becomes the current one itself.
 *
 * @throws AnalysisException `VALIDATION_FAILED` for snapshots of any other kind, and those that were picked before.
 */
export async function cherrypickSnapshot(context: TableContext, snapshotId: bigint, options: CommitOptions = {}): Promise<PickedSnapshot> {
  const state = await context.refresh(options.signal);
  const source = snapshotById(state.metadata, snapshotId);
  if (source === undefined) throw refusedOperation(`Cannot cherry-pick unknown snapshot ID: ${snapshotId}`);
  checkFresh(state.metadata, source);
  if (isNext(state.metadata, source)) {
    const forwarded = await forward(context, source, options);
    if (forwarded) return { sourceSnapshotId: snapshotId, currentSnapshotId: snapshotId };
  }
  const change = await replayed(context, state, source, options.signal);
  const main = snapshotStateOf(state.loaded, { branch: mainBranch });
  const committed = await commitSnapshot(guarded(context, source), main, change, { ...options, branch: mainBranch });
  return { sourceSnapshotId: snapshotId, currentSnapshotId: committed.snapshot?.snapshotId ?? snapshotId };
}

/** Cherry-picks the snapshot that was staged under an id (`wap.id`). @throws AnalysisException `VALIDATION_FAILED` when there is none. */
export async function publishChanges(context: TableContext, wapId: string, options: CommitOptions = {}): Promise<PickedSnapshot> {
  const { metadata } = await context.refresh(options.signal);
  const staged = metadata.snapshots.find(({ summary }) => summary[wapIdKey] === wapId);
  if (staged === undefined) throw refusedOperation(`Cannot apply unknown WAP ID '${wapId}'`);
  return cherrypickSnapshot(context, staged.snapshotId, options);
}

function isNext(metadata: TableMetadata, { parentSnapshotId }: IcebergSnapshot): boolean {
  return parentSnapshotId === currentSnapshot(metadata)?.snapshotId;
}

/** False when somebody else was first. */
async function forward(context: TableContext, source: IcebergSnapshot, options: CommitOptions): Promise<boolean> {
  let passed = false;
  await commitUpdates(
    context,
    ({ loaded, metadata }) => {
      passed = !isNext(metadata, source);
      return passed ? undefined : branchChange(loaded, mainBranch, source.snapshotId);
    },
    options,
  );
  return !passed;
}

/** The context, but for swaps on metadata that has the snapshot by now: somebody else may pick it at the same time. */
function guarded(context: TableContext, source: IcebergSnapshot): TableContext {
  const { pointer } = context;
  return {
    ...context,
    pointer: {
      name: pointer.name,
      singleWriterOnly: pointer.singleWriterOnly,
      ownPlaces: (loaded) => pointer.ownPlaces(loaded),
      load: (known, signal) => pointer.load(known, signal),
      swap: async (base, change, signal) => {
        if (base !== undefined) checkFresh(base.metadata, source);
        return pointer.swap(base, change, signal);
      },
    },
  };
}

/** @throws AnalysisException for what is part of the branch already, as it is or picked. */
function checkFresh(metadata: TableMetadata, { snapshotId, summary }: IcebergSnapshot): void {
  const wapId = summary[wapIdKey];
  for (const ancestor of ancestorsOf(metadata, currentSnapshot(metadata))) {
    if (ancestor.snapshotId === snapshotId) throw refusedOperation(`Cannot cherrypick snapshot ${snapshotId}: already an ancestor`);
    if (ancestor.summary[sourceKey] === String(snapshotId)) {
      throw refusedOperation(`Cannot cherrypick snapshot ${snapshotId}: already picked to create ancestor ${ancestor.snapshotId}`);
    }
    if (wapId !== undefined && (ancestor.summary[publishedWapIdKey] === wapId || ancestor.summary[wapIdKey] === wapId)) {
      throw refusedOperation(`Duplicate request to cherry pick wap id that was published already: ${wapId}`);
    }
  }
}

async function replayed(
  context: TableContext,
  state: SnapshotState,
  source: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<SnapshotChange> {
  const { snapshotId, parentSnapshotId, summary } = source;
  const wapId = summary[wapIdKey];
  const picked = { [sourceKey]: String(snapshotId), ...(wapId === undefined ? {} : { [publishedWapIdKey]: wapId }) };
  const operation = summary['operation'];
  if (operation === 'append') {
    const added = await addedFiles(context, state, source, signal);
    return { kind: 'append', added, addsKnownFiles: true, removed: [], validation: {}, summary: picked };
  }
  if (operation !== 'overwrite' || summary['replace-partitions'] !== 'true') {
    throw refusedOperation(`Cannot cherry-pick snapshot ${snapshotId}: not append, dynamic overwrite, or fast-forward`);
  }
  const ancestors = [...ancestorsOf(state.metadata, currentSnapshot(state.metadata))];
  if (parentSnapshotId !== undefined && !ancestors.some((ancestor) => ancestor.snapshotId === parentSnapshotId)) {
    throw refusedOperation(`Cannot cherry-pick overwrite, based on non-ancestor of the current state: ${parentSnapshotId}`);
  }
  const added = await addedFiles(context, state, source, signal);
  const partitions = new Map(added.map(({ specId, partition }) => [partitionKey(specId, partition), { specId, partition }]));
  return {
    kind: 'overwrite',
    added,
    addsKnownFiles: true,
    removed: [],
    replacedPartitions: [...partitions.values()],
    validation: { since: parentSnapshotId, noNewData: true, noNewDeletes: true },
    summary: picked,
  };
}

/** @throws AnalysisException when the snapshot has deletes of rows, which cannot be done again. */
async function addedFiles(
  context: TableContext,
  { metadata }: SnapshotState,
  source: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<readonly ContentFile[]> {
  const added: ContentFile[] = [];
  for (const manifest of await manifestsOf(context, metadata, source, signal)) {
    if (manifest.addedSnapshotId !== source.snapshotId) continue;
    const entries = await entriesOf(context, metadata, manifest, signal);
    for (const { status, snapshotId, file } of entries) {
      if (status !== 'added' || snapshotId !== source.snapshotId) continue;
      if (file.content !== 'data') {
        throw refusedOperation(`Cannot cherry-pick snapshot ${source.snapshotId}: not append, dynamic overwrite, or fast-forward`);
      }
      // Its rows get ids of their own where they come into the branch.
      added.push({ ...file, firstRowId: undefined });
    }
  }
  return added;
}

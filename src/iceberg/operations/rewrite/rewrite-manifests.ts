import { isServiceError } from '../../../base/errors.ts';
import { groupBy } from '../../../base/group-by.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import type { Version } from '../../../table/version.ts';
import type { ManifestEntry, ManifestFile } from '../../metadata/content-file.ts';
import { specById } from '../../metadata/partition-type.ts';
import { comparePartitions } from '../../scan/compare-partitions.ts';
import { entriesOf, manifestsOf } from '../../scan/manifests.ts';
import { partitionKey } from '../../scan/partition-key.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { manifestSettings } from '../../transaction/commit-settings.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';
import { ManifestWriter } from '../../transaction/manifest-writer.ts';
import { freshSnapshotId } from '../../transaction/snapshot-ids.ts';
import { illegalArgument } from '../operation-errors.ts';

export interface ManifestRewriteRequest extends Pick<CommitOptions, 'signal'> {
  /** Spec whose manifests are rewritten. Default: the table's. */
  readonly specId?: number | undefined;
  /** Counts what would be rewritten and rewrites nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface ManifestRewriteResult {
  /** `undefined`: nothing was to be done. */
  readonly version: Version | undefined;
  readonly rewrittenManifests: number;
  readonly addedManifests: number;
}

/**
 * Puts the manifests of one partition spec together in as few as `commit.manifest.target-size-bytes` allows, entries of one partition side
 * by side. One that is the only one of its kind and not too large is left alone.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for an unknown spec; ValidationException (kind conflict) when one of the manifests was
 * replaced in the meantime.
 */
export async function rewriteManifests(context: TableContext, request: ManifestRewriteRequest = {}): Promise<ManifestRewriteResult> {
  const { signal } = request;
  const state = await context.refresh(signal);
  const { metadata, snapshot } = state;
  const specId = request.specId ?? metadata.defaultSpecId;
  if (specById(metadata, specId) === undefined) throw illegalArgument(`Invalid spec id ${specId}`);
  const present = await manifestsOf(context, metadata, snapshot, signal);
  const { targetBytes } = manifestSettings(metadata.properties);
  const removed = chosenManifests(present, specId, targetBytes);
  if (removed.length === 0) return { version: undefined, rewrittenManifests: 0, addedManifests: 0 };
  if (request.dryRun === true) return { version: undefined, rewrittenManifests: removed.length, addedManifests: 0 };
  const writer = new ManifestWriter(context, freshSnapshotId(context.random, metadata));
  try {
    const { added, processed } = await write(context, state, { writer, removed, targetBytes, signal });
    const summary = { 'entries-processed': String(processed) };
    const validation = { since: snapshot?.snapshotId };
    const change = { kind: 'rewrite-manifests', added: [], removed: [], manifests: { removed, added }, validation, summary } as const;
    const committed = await commitSnapshot(context, state, change, { signal });
    return { version: committed.version, rewrittenManifests: removed.length, addedManifests: added.length };
  } catch (error) {
    // After an unknown outcome the manifests may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await writer.discard();
    throw error;
  }
}

/** How many small manifests a rewrite of the table's own spec takes. */
export function rewritableManifests({ metadata }: SnapshotState, present: readonly ManifestFile[]): number {
  const { targetBytes } = manifestSettings(metadata.properties);
  return chosenManifests(present, metadata.defaultSpecId, targetBytes).filter(({ length }) => length < targetBytes / 2).length;
}

function chosenManifests(present: readonly ManifestFile[], specId: number, targetBytes: number): readonly ManifestFile[] {
  return (['data', 'deletes'] as const).flatMap((content) => {
    const matching = present.filter((manifest) => manifest.specId === specId && manifest.content === content);
    return isWorthIt(matching, targetBytes) ? matching : [];
  });
}

function isWorthIt(manifests: readonly ManifestFile[], targetBytes: number): boolean {
  const bytes = manifests.reduce((sum, { length }) => sum + length, 0);
  return manifests.length > 1 || bytes > targetBytes;
}

async function write(
  context: TableContext,
  { metadata }: SnapshotState,
  how: {
    readonly writer: ManifestWriter;
    readonly removed: readonly ManifestFile[];
    readonly targetBytes: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<{ readonly added: readonly ManifestFile[]; readonly processed: number }> {
  const { writer, removed, targetBytes, signal } = how;
  const added: ManifestFile[] = [];
  let processed = 0;
  for (const content of ['data', 'deletes'] as const) {
    const entries: ManifestEntry[] = [];
    for (const manifest of removed) {
      if (manifest.content !== content) continue;
      for (const entry of await entriesOf(context, metadata, manifest, signal)) {
        // Every file keeps the snapshot and the numbers it came with.
        if (entry.status !== 'deleted') entries.push({ ...entry, status: 'existing' });
      }
    }
    processed += entries.length;
    const [first] = entries;
    if (first === undefined) continue;
    added.push(
      ...(await writer.writeSplit(metadata, { specId: first.file.specId, content, entries: clustered(entries) }, targetBytes, signal)),
    );
  }
  return { added, processed };
}

/** Entries of one partition stand side by side, partitions in their order as far as their values have one. */
function clustered(entries: readonly ManifestEntry[]): readonly ManifestEntry[] {
  const groups = groupBy(entries, ({ file }) => partitionKey(file.specId, file.partition));
  return [...groups.values()].toSorted(([a], [b]) => comparePartitions(a?.file.partition ?? [], b?.file.partition ?? [])).flat();
}

import type { HealthRequest, TableHealth } from '../../table/operations.ts';
import { expiryOf } from '../operations/expire/retained-snapshots.ts';
import { hasGc } from '../operations/operation-errors.ts';
import { rewritableManifests } from '../operations/rewrite/rewrite-manifests.ts';
import { rewritableDeletes } from '../operations/rewrite/rewrite-position-deletes.ts';
import { liveFiles } from '../scan/live-files.ts';
import { manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { isTwin } from '../twin/twin-properties.ts';
import { debtOf } from './plan-compaction.ts';

/** What maintenance looks at: the live files and manifests, and the snapshots that the table's rules no longer keep. */
export async function icebergHealth(
  context: TableContext,
  state: SnapshotState,
  request: HealthRequest,
  signal?: AbortSignal,
): Promise<TableHealth> {
  const live = await liveFiles(context, state, undefined, signal);
  const { smallFileCount, partitionCount, groups } = debtOf(live.data, request.compaction, state);
  return {
    version: state.version,
    fileCount: live.data.length,
    sizeBytes: live.data.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0),
    smallFileCount,
    compactable: { files: groups.reduce((sum, group) => sum + group.length, 0), partitions: partitionCount },
    tombstoneCount: 0,
    versionsSinceCheckpoint: 0,
    expirableVersions: await expirable(state, context.clock.now(), request),
    deleteFileCount: rewritableDeletes(state, live),
    smallManifestCount: rewritableManifests(state, await manifestsOf(context, state.metadata, state.snapshot, signal)),
  };
}

/** Feeds are asked only when there is something that they may hold back. */
async function expirable({ metadata }: SnapshotState, nowMs: number, request: HealthRequest): Promise<number> {
  if (!hasGc(metadata.properties) && !isTwin(metadata.properties)) return 0;
  const { expiryRetentionMs, keepVersionsFrom } = request;
  const olderThanMs = expiryRetentionMs === undefined ? undefined : nowMs - expiryRetentionMs;
  const count = expiryOf(metadata, { nowMs, olderThanMs }).snapshots.length;
  if (count === 0 || keepVersionsFrom === undefined) return count;
  return expiryOf(metadata, { nowMs, olderThanMs, keepVersionsFrom: await keepVersionsFrom() }).snapshots.length;
}

import type { TableHealth } from '../../table/operations.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { IcebergView } from '../iceberg-view.ts';
import { liveFiles } from '../scan/live-files.ts';
import { manifestsOf } from '../scan/manifests.ts';
import { partitionPath } from '../spec/partition-path.ts';
import { specById } from '../spec/partition-type.ts';
import type { TableContext } from '../table-context.ts';
import { manifestSettings } from '../transaction/commit-settings.ts';

/** Below half the compaction target a file is small. */
const smallFileBytes: number = 64 << 20;
const defaultMaxAgeMs: number = 5 * 24 * 3_600_000;

/** What maintenance looks at: the live files and manifests, and the snapshots that the table's rules no longer keep. */
export async function icebergHealth(context: TableContext, view: IcebergView, signal?: AbortSignal): Promise<TableHealth> {
  const live = await liveFiles(context, view, undefined, signal);
  const partitions = new Map<string, { readonly partitionValues: PartitionValues; smallFiles: number }>();
  let smallFileCount = 0;
  let sizeBytes = 0;
  for (const { entry } of live.data) {
    const { file } = entry;
    sizeBytes += file.fileSizeBytes;
    if (file.fileSizeBytes >= smallFileBytes) continue;
    smallFileCount += 1;
    const spec = specById(view.metadata, file.specId);
    const path = spec === undefined ? '' : partitionPath(spec, view.icebergSchema, file.partition);
    const partition = partitions.get(path) ?? { partitionValues: valuesIn(path), smallFiles: 0 };
    partition.smallFiles += 1;
    partitions.set(path, partition);
  }
  return {
    version: view.version,
    fileCount: live.data.length,
    sizeBytes,
    smallFileCount,
    smallFilesByPartition: [...partitions.values()].filter(({ smallFiles }) => smallFiles >= 2).sort((a, b) => b.smallFiles - a.smallFiles),
    tombstoneCount: 0,
    versionsSinceCheckpoint: 0,
    expirableVersions: expirable(view, context.clock.now()),
    deleteFileCount: live.deletes.length,
    smallManifestCount: await smallManifests(context, view, signal),
  };
}

/** As people read it; nobody reads values out of it. */
function valuesIn(path: string): PartitionValues {
  if (path === '') return {};
  return Object.fromEntries(
    path.split('/').map((part) => {
      const at = part.indexOf('=');
      return [decodeURIComponent(part.slice(0, at)), decodeURIComponent(part.slice(at + 1))];
    }),
  );
}

/** Snapshots of the branch older than `history.expire.max-snapshot-age-ms`, but for those `history.expire.min-snapshots-to-keep` keeps. */
function expirable({ metadata, snapshot, properties }: IcebergView, nowMs: number): number {
  const ref = metadata.refs.get('main');
  const maxAgeMs = Number(ref?.maxSnapshotAgeMs ?? properties['history.expire.max-snapshot-age-ms'] ?? defaultMaxAgeMs);
  const kept = Math.max(1, Number(ref?.minSnapshotsToKeep ?? properties['history.expire.min-snapshots-to-keep'] ?? 1));
  let count = 0;
  let position = 0;
  for (const ancestor of ancestorsOf(metadata, snapshot)) {
    if (position >= kept && nowMs - ancestor.timestampMs > maxAgeMs) count += 1;
    position += 1;
  }
  return count;
}

async function smallManifests(context: TableContext, view: IcebergView, signal: AbortSignal | undefined): Promise<number> {
  const { targetBytes } = manifestSettings(view.properties);
  const manifests = await manifestsOf(context, view.metadata, view.snapshot, signal);
  return manifests.filter(({ content, length }) => content === 'data' && length < targetBytes / 2).length;
}

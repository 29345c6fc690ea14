import type { CompactionPlan, FileToRewrite } from '../../table/operations.ts';
import type { IcebergView } from '../iceberg-view.ts';
import { type LiveFile, liveFiles } from '../scan/live-files.ts';
import { partitionPath } from '../spec/partition-path.ts';
import { specById } from '../spec/partition-type.ts';
import type { TableContext } from '../table-context.ts';

export interface CompactionPlanOptions {
  readonly targetFileBytes: number;
  readonly minInputFiles: number;
  readonly maxGroups: number;
}

/** Share of a file's rows that must be deleted for it to be rewritten whatever its size. */
const deletedShare = 0.3;

/**
 * Which files become one: those of one partition and spec below half the target, and those of which much is deleted, as many as fill a file.
 * A partition is left alone while it has fewer than `minInputFiles` of them, and none with much to leave out.
 */
export async function planCompaction(
  context: TableContext,
  view: IcebergView,
  options: CompactionPlanOptions,
  signal?: AbortSignal,
): Promise<CompactionPlan> {
  const live = await liveFiles(context, view, undefined, signal);
  const partitions = new Map<string, { readonly path: string; readonly files: LiveFile[] }>();
  for (const file of live.data) {
    const { specId, partition } = file.entry.file;
    const spec = specById(view.metadata, specId);
    const path = spec === undefined ? '' : partitionPath(spec, view.icebergSchema, partition);
    const key = `${specId} ${path}`;
    const group = partitions.get(key) ?? { path, files: [] };
    group.files.push(file);
    partitions.set(key, group);
  }
  const groups = [...partitions.values()].flatMap(({ path, files }) =>
    binsOf(files, options).map((bin) => ({ partitionValues: path === '' ? {} : { partition: path }, inputs: bin.map(inputOf) })),
  );
  return { baseVersion: view.version, groups: groups.slice(0, options.maxGroups) };
}

function binsOf(files: readonly LiveFile[], { targetFileBytes, minInputFiles }: CompactionPlanOptions): readonly (readonly LiveFile[])[] {
  const candidates = files.filter((file) => file.entry.file.fileSizeBytes < targetFileBytes / 2 || isMuchDeleted(file));
  if (candidates.length < minInputFiles && !candidates.some(isMuchDeleted)) return [];
  const bins: LiveFile[][] = [];
  let bytes = 0;
  for (const file of candidates) {
    const last = bins.at(-1);
    const { fileSizeBytes } = file.entry.file;
    if (last === undefined || bytes + fileSizeBytes > targetFileBytes) {
      bins.push([file]);
      bytes = fileSizeBytes;
    } else {
      last.push(file);
      bytes += fileSizeBytes;
    }
  }
  return bins.filter((bin) => bin.length > 1 || bin.some(isMuchDeleted));
}

function isMuchDeleted({ entry, deletes }: LiveFile): boolean {
  const own = deletes.filter(
    ({ file }) => file.content === 'position-deletes' && (file.referencedDataFile !== undefined || file.format === 'puffin'),
  );
  const deleted = own.reduce((sum, { file }) => sum + file.recordCount, 0);
  return deleted > 0 && deleted >= entry.file.recordCount * deletedShare;
}

function inputOf({ entry }: LiveFile): FileToRewrite {
  const { path, fileSizeBytes, recordCount } = entry.file;
  return { path, sizeBytes: fileSizeBytes, rowCount: recordCount };
}

import { childLocation } from '../location.ts';
import type { ContentFile, FileContent, FileFormat, PartitionValue } from '../metadata/content-file.ts';
import { partitionPath } from '../metadata/partition-path.ts';
import type { PartitionSpec } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { dataLocations } from './data-locations.ts';
import type { FileMetrics } from './file-metrics.ts';
import type { WritePlan } from './write-plan.ts';

/** Rows being written. */
export interface Staging {
  readonly context: TableContext;
  readonly state: SnapshotState;
  readonly plan: WritePlan;
  readonly targetFileBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Names for the files of one write, never used before. */
export interface FileNames {
  /** Directory of all of them, as the metadata spells it. */
  readonly root: string;
  /** Path below it. */
  next(partition: readonly PartitionValue[]): string;
  location(path: string): string;
}

const extensions: Readonly<Record<FileFormat, string>> = { parquet: 'parquet', avro: 'avro', orc: 'orc', puffin: 'puffin' };

/** `00000-0-<uuid>-00001.parquet` below the partition's directory; delete files end with `-deletes`. */
export function fileNames(
  context: Pick<TableContext, 'ids'>,
  state: SnapshotState,
  spec: PartitionSpec,
  file: { readonly format: FileFormat; readonly content: FileContent },
): FileNames {
  const { root, pathOf } = dataLocations(state.metadata);
  const stem = `00000-0-${context.ids.uuid()}`;
  const suffix = file.content === 'data' ? '' : '-deletes';
  let count = 0;
  return {
    root,
    next: (partition) => {
      count += 1;
      const name = `${stem}-${String(count).padStart(5, '0')}${suffix}.${extensions[file.format]}`;
      return pathOf(partitionPath(spec, state.icebergSchema, partition), name);
    },
    location: (path) => childLocation(root, path),
  };
}

/** What all files of a kind have alike, left out. */
export function contentFile(
  file: Pick<ContentFile, 'content' | 'path' | 'format' | 'specId' | 'partition' | 'recordCount' | 'fileSizeBytes'> &
    Partial<ContentFile> & { readonly metrics?: FileMetrics | undefined },
): ContentFile {
  const { metrics, ...own } = file;
  const nothing = { columnSizes: undefined, valueCounts: undefined, nullValueCounts: undefined, nanValueCounts: undefined };
  return {
    ...nothing,
    lowerBounds: undefined,
    upperBounds: undefined,
    ...metrics,
    keyMetadata: undefined,
    splitOffsets: undefined,
    equalityIds: undefined,
    sortOrderId: undefined,
    firstRowId: undefined,
    referencedDataFile: undefined,
    contentOffset: undefined,
    contentSizeBytes: undefined,
    ...own,
  };
}

import { withBlobProperties } from '../../../codec/puffin/puffin-footer.ts';
import { PositionDeletes } from '../../deletes/position-deletes.ts';
import { fileCompression } from '../../files/compression.ts';
import { encodePositions } from '../../files/position-delete-files.ts';
import type { ContentFile, ManifestEntry } from '../../metadata/content-file.ts';
import { positionDeleteIds } from '../../metadata/reserved-ids.ts';
import { encodeSingleValue } from '../../metadata/single-value.ts';
import type { TableMetadata } from '../../metadata/table-metadata.ts';
import { readNamed } from '../../scan/manifests.ts';
import type { TableContext } from '../../table-context.ts';
import type { PathPrefix } from './path-prefix.ts';

/** What of a delete file's description is another one once the paths in it were replaced. */
export type RewrittenDeletes = Pick<ContentFile, 'fileSizeBytes'> &
  Partial<Pick<ContentFile, 'recordCount' | 'splitOffsets' | 'columnSizes' | 'valueCounts' | 'nullValueCounts'>>;

/** Delete files that are read in one query, and rows of them. */
const filesPerQuery = 200;
const rowsPerQuery = 2 ** 22;
/** Path of the data file, in the properties of a deletion vector's blob. */
const referencedFileProperty = 'referenced-data-file';

/**
 * Stages copies of position delete files and of files of deletion vectors that name the data files where they will be. One file is staged
 * once, however many vectors are in it.
 *
 * @returns by path. @throws AnalysisException `INVALID_ARGUMENT` for a path outside of the source, and what reading and storing throws.
 */
export async function relocateDeleteFiles(
  context: TableContext,
  metadata: TableMetadata,
  how: {
    readonly entries: readonly ManifestEntry[];
    readonly prefix: PathPrefix;
    readonly stage: (path: string, bytes: Uint8Array) => Promise<void>;
    readonly signal: AbortSignal | undefined;
  },
): Promise<ReadonlyMap<string, RewrittenDeletes>> {
  const { prefix, stage, signal } = how;
  const rewritten = new Map<string, RewrittenDeletes>();
  const files = [...new Map(how.entries.map((entry) => [entry.file.path, entry])).values()];
  for (const { file } of files.filter(isVector)) {
    const bytes = await readNamed(context, 'file of deletion vectors', file.path, signal);
    const staged = withBlobProperties(bytes, file.path, (properties) => relocatedProperties(properties, prefix));
    await stage(file.path, staged);
    rewritten.set(file.path, { fileSizeBytes: staged.byteLength });
  }
  for (const group of queries(files.filter((entry) => !isVector(entry)))) {
    const reader = new PositionDeletes(context, metadata, context.engine, group);
    for (const entry of group) {
      const { format, path } = entry.file;
      if (format === 'puffin') continue;
      const positions = await reader.rowsOf(entry, signal);
      const deleted = Array.from(positions, ([dataFile, rows]) => ({
        dataFile: { path: prefix.targetOf(dataFile) },
        positions: rows.toSorted(),
      }));
      const encoded = await encodePositions(deleted, fileCompression(format, metadata.properties, 'deletes'), context.ids);
      await stage(path, encoded.bytes);
      const { splitOffsets, metrics, rowCount, bytes } = encoded;
      const { columnSizes, valueCounts, nullValueCounts } = metrics;
      rewritten.set(path, {
        fileSizeBytes: bytes.byteLength,
        recordCount: rowCount,
        splitOffsets,
        columnSizes,
        valueCounts,
        nullValueCounts,
      });
    }
  }
  return rewritten;
}

/**
 * A delete file as the target's manifests describe it. Bounds of its paths stay where there is one path: readers find the deletes of a data
 * file by them.
 */
export function relocateDeletes(file: ContentFile, rewritten: RewrittenDeletes | undefined, prefix: PathPrefix): ContentFile {
  const { referencedDataFile } = file;
  return {
    ...file,
    ...rewritten,
    ...pathBounds(file, prefix),
    path: prefix.targetOf(file.path),
    referencedDataFile: referencedDataFile === undefined ? undefined : moved(referencedDataFile, prefix),
  };
}

function isVector({ file }: ManifestEntry): boolean {
  return file.format === 'puffin';
}

function relocatedProperties(properties: Readonly<Record<string, string>>, prefix: PathPrefix): Readonly<Record<string, string>> {
  const path = properties[referencedFileProperty];
  return path === undefined ? properties : { ...properties, [referencedFileProperty]: moved(path, prefix) };
}

/** Vectors of a data file that was added from elsewhere say so. */
function moved(path: string, prefix: PathPrefix): string {
  return prefix.holds(path) ? prefix.targetOf(path) : path;
}

function pathBounds({ lowerBounds, upperBounds }: ContentFile, prefix: PathPrefix): Pick<ContentFile, 'lowerBounds' | 'upperBounds'> {
  const lower = lowerBounds?.get(positionDeleteIds.path);
  const upper = upperBounds?.get(positionDeleteIds.path);
  const only =
    lower !== undefined && upper !== undefined && Buffer.compare(lower, upper) === 0 ? Buffer.from(lower).toString('utf8') : undefined;
  const bound = only === undefined ? undefined : encodeSingleValue({ kind: 'string' }, prefix.targetOf(only));
  return { lowerBounds: withPath(lowerBounds, bound), upperBounds: withPath(upperBounds, bound) };
}

function withPath(
  bounds: ReadonlyMap<number, Uint8Array> | undefined,
  bound: Uint8Array | undefined,
): ReadonlyMap<number, Uint8Array> | undefined {
  if (bounds === undefined) return undefined;
  const others = [...bounds].filter(([id]) => id !== positionDeleteIds.path);
  return new Map(bound === undefined ? others : [...others, [positionDeleteIds.path, bound]]);
}

function* queries(entries: readonly ManifestEntry[]): Generator<readonly ManifestEntry[], void, undefined> {
  let group: ManifestEntry[] = [];
  let rows = 0;
  for (const entry of entries) {
    if (group.length > 0 && (group.length >= filesPerQuery || rows + entry.file.recordCount > rowsPerQuery)) {
      yield group;
      group = [];
      rows = 0;
    }
    group.push(entry);
    rows += entry.file.recordCount;
  }
  if (group.length > 0) yield group;
}

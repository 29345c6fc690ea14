import { groupBy } from '../../base/group-by.ts';
import type { IdSource } from '../../base/ids.ts';
import { buildColumn } from '../../codec/build-columns.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { specById } from '../metadata/partition-type.ts';
import { positionDeleteIds } from '../metadata/reserved-ids.ts';
import { encodeSingleValue } from '../metadata/single-value.ts';
import { partitionKey } from '../scan/partition-key.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { type FileCompression, fileCompression, writeFormat } from './compression.ts';
import { cutLowerBound, cutUpperBound } from './cut-bounds.ts';
import type { FileMetrics } from './file-metrics.ts';
import { rowFileWriter } from './row-file-writer.ts';
import { contentFile, fileNames } from './staging.ts';

/** Rows of a data file by their ascending positions. */
export interface PositionsOfFile {
  readonly dataFile: ContentFile;
  readonly positions: BigInt64Array;
}

/** As `PositionsOfFile`, where no more than the path is known. */
export interface PositionsOfPath {
  readonly dataFile: Pick<ContentFile, 'path'>;
  readonly positions: BigInt64Array;
}

/** A position delete file that was not written anywhere yet. */
export interface EncodedPositions {
  readonly bytes: Uint8Array;
  readonly rowCount: number;
  readonly metrics: FileMetrics;
  readonly splitOffsets: readonly number[] | undefined;
}

const pathType = { kind: 'string' } as const;
const positionType = { kind: 'long' } as const;

/** https://iceberg.apache.org/spec/#position-delete-files */
const deleteColumns: StructType = {
  kind: 'struct',
  fields: [
    { name: 'file_path', type: pathType, nullable: false, id: positionDeleteIds.path },
    { name: 'pos', type: positionType, nullable: false, id: positionDeleteIds.position },
  ],
};

const rowsPerBatch = 65_536;
const boundLength = 16;

/** Writes position delete files one at a time; nothing refers to them yet. */
export class PositionDeleteFiles {
  readonly staged: ContentFile[] = [];
  readonly #context: TableContext;
  readonly #state: SnapshotState;
  readonly #compression: FileCompression;
  readonly #signal: AbortSignal | undefined;

  /** @throws AnalysisException `INVALID_TABLE_PROPERTY`. */
  constructor(context: TableContext, state: SnapshotState, signal: AbortSignal | undefined) {
    const { properties } = state.metadata;
    this.#context = context;
    this.#state = state;
    this.#compression = fileCompression(writeFormat(properties, 'deletes'), properties, 'deletes');
    this.#signal = signal;
  }

  /** One file for data files of one partition of one spec. */
  async write(deleted: readonly PositionsOfFile[]): Promise<void> {
    const sorted = sortedByPath(deleted);
    const first = sorted[0]?.dataFile;
    const spec = first === undefined ? undefined : specById(this.#state.metadata, first.specId);
    if (first === undefined || spec === undefined) return;
    const { format } = this.#compression;
    const names = fileNames(this.#context, this.#state, spec, { format, content: 'position-deletes' });
    const path = names.location(names.next(first.partition));
    const { bytes, rowCount, metrics, splitOffsets } = await encodePositions(sorted, this.#compression, this.#context.ids);
    const file = contentFile({
      content: 'position-deletes',
      path,
      format,
      specId: spec.specId,
      partition: first.partition,
      recordCount: rowCount,
      fileSizeBytes: bytes.length,
      metrics,
      splitOffsets,
      referencedDataFile: sorted.length === 1 ? first.path : undefined,
    });
    this.staged.push(file);
    await this.#context.files.put(path, bytes, this.#signal);
  }
}

/** A position delete file of rows of several data files, by path and position as readers want them. */
export async function encodePositions(
  deleted: readonly PositionsOfPath[],
  compression: FileCompression,
  ids: IdSource,
): Promise<EncodedPositions> {
  const sorted = sortedByPath(deleted);
  // pyiceberg takes the paths as a dictionary, which pyarrow makes of plain text alone.
  const writer = rowFileWriter(deleteColumns, compression, ids, { plainText: true });
  for (const batch of batchesOf(sorted)) await writer.append(batch);
  const { bytes, splitOffsets, columnBytes } = await writer.finish();
  const rowCount = sorted.reduce((sum, { positions }) => sum + positions.length, 0);
  return { bytes, rowCount, metrics: metricsOf(sorted, rowCount, columnBytes), splitOffsets };
}

function sortedByPath<One extends PositionsOfPath>(deleted: readonly One[]): readonly One[] {
  return deleted
    .map((one) => ({ one, key: Buffer.from(one.dataFile.path) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .flatMap(({ one }) => (one.positions.length > 0 ? [one] : []));
}

/** Deletes of data files by the partition they share. */
export function byPartition(deleted: readonly PositionsOfFile[]): readonly (readonly PositionsOfFile[])[] {
  return [...groupBy(deleted, ({ dataFile }) => partitionKey(dataFile.specId, dataFile.partition)).values()];
}

function* batchesOf(deleted: readonly PositionsOfPath[]): Generator<ColumnBatch, void, undefined> {
  for (const { dataFile, positions } of deleted) {
    for (let from = 0; from < positions.length; from += rowsPerBatch) {
      const values = positions.subarray(from, from + rowsPerBatch);
      const rowCount = values.length;
      const paths = buildColumn(pathType, new Array<string>(rowCount).fill(dataFile.path), 'file_path');
      const base = { type: positionType, length: rowCount, nullCount: 0, validity: undefined, layout: 'fixed' } as const;
      yield { schema: deleteColumns, rowCount, columns: [paths, { ...base, values }] };
    }
  }
}

/** Bounds of the path are whole where there is one: readers find the file's deletes by them. */
function metricsOf(
  sorted: readonly PositionsOfPath[],
  rowCount: number,
  columnBytes: ReadonlyMap<number, number> | undefined,
): FileMetrics {
  const { path, position } = positionDeleteIds;
  const first = sorted[0]?.dataFile.path ?? '';
  const last = sorted.at(-1)?.dataFile.path ?? '';
  const only = first === last;
  const lower = only ? first : cutLowerBound(first, boundLength);
  const upper = only ? last : cutUpperBound(last, boundLength);
  const positions = sorted.map((one) => one.positions);
  const least = positions.reduce((min, list) => ((list[0] ?? min) < min ? (list[0] ?? min) : min), positions[0]?.[0] ?? 0n);
  const most = positions.reduce((max, list) => ((list.at(-1) ?? max) > max ? (list.at(-1) ?? max) : max), 0n);
  const counts = (count: number): ReadonlyMap<number, number> =>
    new Map([
      [path, count],
      [position, count],
    ]);
  return {
    columnSizes: columnBytes,
    valueCounts: counts(rowCount),
    nullValueCounts: counts(0),
    nanValueCounts: undefined,
    lowerBounds: bounds(lower, least),
    upperBounds: bounds(upper, most),
  };
}

function bounds(path: string | Uint8Array | undefined, position: bigint): ReadonlyMap<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  const pathBytes = path === undefined ? undefined : encodeSingleValue(pathType, path);
  const positionBytes = encodeSingleValue(positionType, position);
  if (pathBytes !== undefined) found.set(positionDeleteIds.path, pathBytes);
  if (positionBytes !== undefined) found.set(positionDeleteIds.position, positionBytes);
  return found;
}

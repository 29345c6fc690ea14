import { throwIfAborted } from '../../../base/abort.ts';
import { assert } from '../../../base/assert.ts';
import { columnBytes } from '../../../schema/column-bytes.ts';
import type { ColumnBatch } from '../../../schema/columns.ts';
import { concatBatches } from '../../../schema/concat.ts';
import { sliceRows } from '../../../schema/slice.ts';
import type { StructType } from '../../../schema/types.ts';
import type { BlockCodec } from '../../compression.ts';
import { MessageWriter } from '../proto/message-writer.ts';
import { typeKinds } from '../proto/numbers.ts';
import { type Chunking, packChunks } from '../streams/chunks.ts';
import { type FileColumn, fileColumns, flattened } from './file-columns.ts';
import { type ColumnStatistics, mergeStatistics } from './statistics.ts';
import { statisticsMessage } from './statistics-message.ts';
import { type WrittenStripe, writeStripe } from './write-stripe.ts';

export type OrcCompression = 'none' | 'zlib' | 'snappy' | 'lz4' | 'zstd';

export interface WriteOrcOptions {
  /** Field ids become attributes of the columns, as Iceberg wants them; the batches have the same columns. */
  readonly schema: StructType;
  /** Default `zlib`. */
  readonly compression?: OrcCompression | undefined;
  /** The most bytes that the rows of a stripe take in memory, before they are encoded; a row is not split. Default 64 MiB. */
  readonly stripeBytes?: number | undefined;
  /** Rows of a group that the index knows bounds and places of; 0 writes no index. Default 10,000. */
  readonly rowIndexStride?: number | undefined;
  /** Kept in the footer by name, such as `iceberg.schema`. */
  readonly metadata?: ReadonlyMap<string, Uint8Array> | undefined;
  /** Looked at before each stripe. */
  readonly signal?: AbortSignal | undefined;
}

export interface WrittenOrcFile {
  readonly bytes: Uint8Array;
  readonly rowCount: number;
  /** Where each stripe begins. */
  readonly stripeOffsets: readonly number[];
  /** Packed bytes of the data of each column that has an id, by id; what is within it counts for its own columns. */
  readonly columnBytes: ReadonlyMap<number, number>;
}

const defaultStripeBytes = 64 * 1024 * 1024;
const defaultRowIndexStride = 10_000;
const blockBytes = 262_144;
const codecs: Readonly<Record<OrcCompression, BlockCodec | undefined>> = {
  none: undefined,
  zlib: 'deflate',
  snappy: 'snappy',
  lz4: 'lz4',
  zstd: 'zstd',
};
const compressionNumbers: Readonly<Record<OrcCompression, number>> = { none: 0, zlib: 1, snappy: 2, lz4: 4, zstd: 5 };
const magic: Uint8Array = new TextEncoder().encode('ORC');

/**
 * Writes the rows of the batches, in their order, as an ORC file.
 *
 * @throws ServiceError `VALUE_TYPE_MISMATCH` (kind invalid) for a value that its type does not allow (uuid, fixed);
 * `ABORTED` (kind aborted).
 */
export async function writeOrcFile(
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options: WriteOrcOptions,
): Promise<WrittenOrcFile> {
  const chunking = { codec: codecs[options.compression ?? 'zlib'], blockBytes };
  const rowIndexStride = options.rowIndexStride ?? defaultRowIndexStride;
  assert(Number.isSafeInteger(rowIndexStride) && rowIndexStride >= 0, `groups of ${rowIndexStride} rows`);
  const root = fileColumns(options.schema);
  const parts: Uint8Array[] = [magic];
  const placed: PlacedStripe[] = [];
  let end = magic.length;
  for await (const rows of stripesOf(batches, options.schema, options.stripeBytes ?? defaultStripeBytes)) {
    throwIfAborted(options.signal);
    const stripe = await writeStripe(root, rows, { chunking, rowIndexStride });
    placed.push({ stripe, offset: end });
    parts.push(...stripe.parts);
    end += stripe.indexBytes + stripe.dataBytes + stripe.footerBytes;
  }
  const columns = columnsOf(root, placed);
  parts.push(...(await tail({ root, placed, columns, contentEnd: end, chunking, options, rowIndexStride })));
  const withIds = columns.flatMap(({ column, bytes }) => (column.id === undefined ? [] : [[column.id, bytes] as const]));
  return {
    bytes: joined(parts),
    rowCount: rowsOf(placed),
    stripeOffsets: placed.map(({ offset }) => offset),
    columnBytes: new Map(withIds),
  };
}

interface PlacedStripe {
  readonly stripe: WrittenStripe;
  readonly offset: number;
}

/** A column of the whole file. */
interface WholeColumn {
  readonly column: FileColumn;
  readonly statistics: ColumnStatistics;
  readonly bytes: number;
}

/** Joins batches, and cuts large ones, to what a stripe takes. */
async function* stripesOf(
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  schema: StructType,
  stripeBytes: number,
): AsyncGenerator<ColumnBatch, void, undefined> {
  let held: ColumnBatch[] = [];
  let heldBytes = 0;
  for await (const batch of batches) {
    assert(batch.columns.length === schema.fields.length, `a batch of ${batch.columns.length} columns for ${schema.fields.length} fields`);
    for (const piece of pieces(batch, stripeBytes)) {
      if (held.length > 0 && heldBytes + piece.bytes > stripeBytes) {
        yield concatBatches(schema, held);
        held = [];
        heldBytes = 0;
      }
      held.push(piece.batch);
      heldBytes += piece.bytes;
    }
  }
  if (held.length > 0) yield concatBatches(schema, held);
}

function* pieces(
  batch: ColumnBatch,
  stripeBytes: number,
): Generator<{ readonly batch: ColumnBatch; readonly bytes: number }, void, undefined> {
  if (batch.rowCount === 0) return;
  const bytes = batch.columns.reduce((sum, column) => sum + columnBytes(column), 0);
  const rows = Math.max(1, Math.ceil(batch.rowCount / Math.max(1, Math.ceil(bytes / stripeBytes))));
  for (let from = 0; from < batch.rowCount; from += rows) {
    const until = Math.min(batch.rowCount, from + rows);
    const piece = rows >= batch.rowCount ? batch : sliceRows(batch, { from, until });
    yield { batch: piece, bytes: (bytes * (until - from)) / batch.rowCount };
  }
}

const nothing: ColumnStatistics = { count: 0, hasNull: false, values: undefined };

function columnsOf(root: FileColumn, placed: readonly PlacedStripe[]): readonly WholeColumn[] {
  return [...flattened(root)].map((column) => {
    const own = placed.map(({ stripe }) => stripe.statistics[column.column] ?? nothing);
    const [first = nothing, ...others] = own;
    const bytes = placed.reduce((sum, { stripe }) => sum + (stripe.columnBytes[column.column] ?? 0), 0);
    return { column, statistics: others.reduce(mergeStatistics, first), bytes };
  });
}

interface Tail {
  readonly root: FileColumn;
  readonly placed: readonly PlacedStripe[];
  readonly columns: readonly WholeColumn[];
  readonly contentEnd: number;
  readonly chunking: Chunking;
  readonly options: WriteOrcOptions;
  readonly rowIndexStride: number;
}

/** ORC spec: File Tail. Statistics of the stripes, footer, postscript and its length. */
async function tail({ placed, columns, contentEnd, chunking, options, rowIndexStride }: Tail): Promise<readonly Uint8Array[]> {
  const metadata = new MessageWriter();
  for (const { stripe } of placed) {
    const statistics = new MessageWriter();
    for (const column of stripe.statistics) statistics.message(1, statisticsMessage(column));
    metadata.message(1, statistics);
  }
  const footer = new MessageWriter().integer(1, magic.length).integer(2, contentEnd);
  for (const { stripe, offset } of placed) footer.message(3, stripeMessage(stripe, offset));
  for (const { column } of columns) footer.message(4, typeMessage(column));
  for (const [name, value] of options.metadata ?? []) footer.message(5, new MessageWriter().text(1, name).bytes(2, value));
  footer.integer(6, rowsOf(placed));
  for (const { statistics, bytes } of columns) footer.message(7, statisticsMessage(statistics, bytes));
  footer.integer(8, rowIndexStride).integer(11, julianGregorian);
  const packedMetadata = await packChunks(metadata.finish(), chunking);
  const packedFooter = await packChunks(footer.finish(), chunking);
  const postScript = new MessageWriter()
    .integer(1, packedFooter.bytes.length)
    .integer(2, compressionNumbers[options.compression ?? 'zlib'])
    .integer(3, chunking.blockBytes)
    .integers(4, formatVersion)
    .integer(5, packedMetadata.bytes.length)
    .integer(6, writerVersion)
    .text(8000, 'ORC')
    .finish();
  return [packedMetadata.bytes, packedFooter.bytes, postScript, Uint8Array.of(postScript.length)];
}

const formatVersion: readonly number[] = [0, 12];
/** The newest set of rules that writers follow: bounds of timestamps in UTC, among others. */
const writerVersion = 9;
/**
 * Dates are days of the proleptic calendar, and yet files of Iceberg are marked with the mixed one: its readers and writers pass days
 * through, and the other mark would make them shift dates before 1582.
 */
const julianGregorian = 1;

function stripeMessage(stripe: WrittenStripe, offset: number): MessageWriter {
  const { indexBytes, dataBytes, footerBytes, rowCount } = stripe;
  return new MessageWriter().integer(1, offset).integer(2, indexBytes).integer(3, dataBytes).integer(4, footerBytes).integer(5, rowCount);
}

function typeMessage({ kind, type, names, children, attributes }: FileColumn): MessageWriter {
  const message = new MessageWriter().integer(1, typeKinds.indexOf(kind));
  message.integers(
    2,
    children.map(({ column }) => column),
  );
  for (const name of names) message.text(3, name);
  if (type.kind === 'decimal') message.integer(5, type.precision).integer(6, type.scale);
  for (const [key, value] of attributes) message.message(7, new MessageWriter().text(1, key).text(2, value));
  return message;
}

function rowsOf(placed: readonly PlacedStripe[]): number {
  return placed.reduce((sum, { stripe }) => sum + stripe.rowCount, 0);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

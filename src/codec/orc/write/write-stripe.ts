import { present } from '../../../base/assert.ts';
import type { ColumnBatch } from '../../../schema/columns.ts';
import { MessageWriter } from '../proto/message-writer.ts';
import { type StreamKind, streamKind } from '../proto/numbers.ts';
import { type Chunking, type PackedStream, packChunks } from '../streams/chunks.ts';
import { type EncodedColumn, encodeColumn } from './encode-column.ts';
import type { StreamStart } from './encoded-stream.ts';
import type { FileColumn } from './file-columns.ts';
import { type ColumnStatistics, mergeStatistics } from './statistics.ts';
import { statisticsMessage } from './statistics-message.ts';

/** A stripe ready to be put into a file. */
export interface WrittenStripe {
  /** Index, data and footer, one after the other. */
  readonly parts: readonly Uint8Array[];
  readonly indexBytes: number;
  readonly dataBytes: number;
  readonly footerBytes: number;
  readonly rowCount: number;
  /** One a column, by number. */
  readonly statistics: readonly ColumnStatistics[];
  /** Packed bytes of the data of each column, by number. */
  readonly columnBytes: readonly number[];
}

interface StripeOptions {
  readonly chunking: Chunking;
  /** Rows of a group that the index has a place for; 0 writes no index. */
  readonly rowIndexStride: number;
}

/** Encodes and packs the rows of `batch` as one stripe. */
export async function writeStripe(root: FileColumn, batch: ColumnBatch, options: StripeOptions): Promise<WrittenStripe> {
  const { chunking, rowIndexStride } = options;
  const packed: PackedColumn[] = [];
  // One column after the other: others get their turn between them, and only the packed bytes are kept.
  for (const column of encodeRows(root, batch, rowIndexStride)) packed.push(await packColumn(column, chunking));
  const index =
    rowIndexStride === 0 ? [] : await Promise.all(packed.map((column) => packChunks(rowIndex(column, chunking).finish(), chunking)));
  const footer = await packChunks(stripeFooter(packed, index).finish(), chunking);
  const indexParts = index.map(({ bytes }) => bytes);
  const dataParts = packed.flatMap(({ streams }) => streams.map(({ bytes }) => bytes));
  return {
    parts: [...indexParts, ...dataParts, footer.bytes],
    indexBytes: byteCount(indexParts),
    dataBytes: byteCount(dataParts),
    footerBytes: footer.bytes.length,
    rowCount: batch.rowCount,
    statistics: packed.map((column) => present(wholeStatistics(column), 'a stripe has a group of rows')),
    columnBytes: packed.map(({ streams }) => byteCount(streams.map(({ bytes }) => bytes))),
  };
}

interface PackedColumn extends Omit<EncodedColumn, 'streams'> {
  readonly streams: readonly PackedColumnStream[];
}

interface PackedColumnStream extends PackedStream {
  readonly kind: StreamKind;
  /** Before packing. */
  readonly byteCount: number;
  readonly starts: readonly StreamStart[];
}

function encodeRows(root: FileColumn, batch: ColumnBatch, rowIndexStride: number): Iterable<EncodedColumn> {
  const stride = rowIndexStride === 0 ? batch.rowCount : rowIndexStride;
  const groupCount = Math.ceil(batch.rowCount / stride);
  const groups = Int32Array.from({ length: groupCount + 1 }, (_, group) => Math.min(group * stride, batch.rowCount));
  return encodeColumn(root, {
    column: { type: batch.schema, length: batch.rowCount, nullCount: 0, validity: undefined, layout: 'struct', children: batch.columns },
    at: undefined,
    from: 0,
    count: batch.rowCount,
    groups,
  });
}

async function packColumn(column: EncodedColumn, chunking: Chunking): Promise<PackedColumn> {
  const streams: PackedColumnStream[] = [];
  for (const { kind, bytes, starts } of column.streams) {
    streams.push({ ...(await packChunks(bytes, chunking)), kind, byteCount: bytes.length, starts });
  }
  return { ...column, streams };
}

function wholeStatistics(column: PackedColumn): ColumnStatistics | undefined {
  const [first, ...others] = column.statistics;
  return first === undefined ? undefined : others.reduce(mergeStatistics, first);
}

/** ORC spec: Row Index. An entry a group of rows, with the places in all streams of the column in their order. */
function rowIndex({ statistics, streams }: PackedColumn, chunking: Chunking): MessageWriter {
  const index = new MessageWriter();
  for (const [group, ofGroup] of statistics.entries()) {
    const positions = streams.flatMap((stream) => {
      const start = stream.starts[group];
      return start === undefined ? [] : placeOf(start, stream, chunking);
    });
    index.message(1, new MessageWriter().integers(1, positions).message(2, statisticsMessage(ofGroup)));
  }
  return index;
}

/** In packed streams a place is the beginning of a chunk and the bytes after it. */
function placeOf({ byte, within }: StreamStart, stream: PackedColumnStream, { codec, blockBytes }: Chunking): readonly number[] {
  if (codec === undefined) return [byte, ...within];
  // The end of a stream belongs to its last chunk.
  const chunk = Math.max(0, Math.floor((byte === stream.byteCount ? byte - 1 : byte) / blockBytes));
  return [stream.chunkStarts[chunk] ?? 0, byte - chunk * blockBytes, ...within];
}

function stripeFooter(columns: readonly PackedColumn[], index: readonly PackedStream[]): MessageWriter {
  const footer = new MessageWriter();
  for (const [number, { bytes }] of index.entries()) footer.message(1, streamMessage(streamKind.rowIndex, number, bytes.length));
  for (const { column, streams } of columns) {
    for (const { kind, bytes } of streams) footer.message(1, streamMessage(kind, column.column, bytes.length));
  }
  for (const { encoding, dictionarySize } of columns) {
    const size = dictionarySize === 0 ? undefined : dictionarySize;
    footer.message(2, new MessageWriter().integer(1, encoding).integer(2, size));
  }
  return footer.text(3, 'UTC');
}

function streamMessage(kind: number, column: number, bytes: number): MessageWriter {
  return new MessageWriter().integer(1, kind).integer(2, column).integer(3, bytes);
}

function byteCount(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

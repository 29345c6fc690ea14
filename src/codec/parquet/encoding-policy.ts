import type { Compression, WriterProperties, WriterPropertiesBuilder } from 'parquet-wasm';
import { assertNever } from '../../base/assert.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import { looksRepetitive } from './column-sample.ts';
import type { ParquetModule } from './wasm.ts';

/**
 * How columns are encoded: chosen for speed of writing with zstd, measured by bench/parquet-write.ts on 200,000 orders in one thread.
 *
 * - A dictionary costs a hash per value and pays only where values repeat: columns are sampled, and dictionaries are left out
 *   elsewhere. The library takes per-column settings for top-level columns only, so columns inside structs and lists share one
 *   setting; there a low size limit makes the writer give up early on a dictionary that does not pay.
 * - Integers, dates and timestamps are DELTA_BINARY_PACKED: as fast as PLAIN, and zstd gets a fraction of the bytes.
 * - Strings without a dictionary are DELTA_LENGTH_BYTE_ARRAY: zstd compresses runs of text better without lengths in between.
 * - Statistics per column chunk stay, since other engines skip by them; statistics per page cost a quarter of the time and go.
 * - Doubles stay PLAIN: BYTE_STREAM_SPLIT is as fast and compresses money amounts worse.
 */
export type ParquetCompression = 'zstd' | 'snappy' | 'uncompressed';

const maxRowGroupRows = 1_000_000;
const maxRowGroupBytes = 128 * 1024 * 1024;
const maxDictionaryBytes = 64 * 1024;
const dataPageBytes = 1024 * 1024;

/** Writer settings for rows like those of `batch`. */
export function writerProperties(
  parquet: ParquetModule,
  batch: ColumnBatch,
  { compression, plainText = false }: { readonly compression: ParquetCompression; readonly plainText?: boolean | undefined },
): WriterProperties {
  const nested = batch.columns.flatMap(nestedLeaves);
  let builder = new parquet.WriterPropertiesBuilder()
    .setCompression(codecOf(parquet, compression))
    .setStatisticsEnabled(parquet.EnabledStatistics.Chunk)
    .setMaxRowGroupSize(maxRowGroupRows)
    .setMaxRowGroupBytes(maxRowGroupBytes)
    .setDictionaryPageSizeLimit(maxDictionaryBytes)
    .setDataPageSizeLimit(dataPageBytes)
    .setDictionaryEnabled(nested.some(looksRepetitive))
    .setCreatedBy('tidewater');
  const nestedEncoding = commonEncoding(nested);
  if (nestedEncoding !== undefined) builder = builder.setEncoding(parquet.Encoding[nestedEncoding]);
  for (const [index, field] of batch.schema.fields.entries()) {
    const column = batch.columns[index];
    if (column === undefined) continue;
    builder = withColumn(parquet, builder, field.name, column);
    if (!plainText || field.type.kind !== 'string') continue;
    builder = builder.setColumnDictionaryEnabled(field.name, true).setColumnEncoding(field.name, parquet.Encoding.PLAIN);
  }
  return builder.build();
}

function withColumn(parquet: ParquetModule, builder: WriterPropertiesBuilder, name: string, column: Column): WriterPropertiesBuilder {
  if (column.layout === 'struct' || column.layout === 'list' || column.layout === 'map') return builder;
  return builder
    .setColumnDictionaryEnabled(name, column.layout !== 'boolean' && looksRepetitive(column))
    .setColumnEncoding(name, parquet.Encoding[encodingOf(column.type)]);
}

type PlainEncoding = 'PLAIN' | 'DELTA_BINARY_PACKED' | 'DELTA_LENGTH_BYTE_ARRAY';

/** Encoding of values outside a dictionary. The writer stops with an error on a pair of type and encoding that does not exist. */
function encodingOf(type: DataType): PlainEncoding {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return 'DELTA_BINARY_PACKED';
    case 'string':
      return type.format === 'uuid' ? 'PLAIN' : 'DELTA_LENGTH_BYTE_ARRAY';
    case 'binary':
      return type.fixedLength === undefined ? 'DELTA_LENGTH_BYTE_ARRAY' : 'PLAIN';
    case 'decimal':
      return type.precision <= 18 ? 'DELTA_BINARY_PACKED' : 'PLAIN';
    default:
      return 'PLAIN';
  }
}

function commonEncoding(leaves: readonly Column[]): PlainEncoding | undefined {
  const [first, ...others] = new Set(leaves.map((leaf) => encodingOf(leaf.type)));
  return others.length === 0 ? first : undefined;
}

function nestedLeaves(column: Column): readonly Column[] {
  switch (column.layout) {
    case 'struct':
      return column.children.flatMap(leavesOf);
    case 'list':
      return leavesOf(column.element);
    case 'map':
      return [...leavesOf(column.keys), ...leavesOf(column.values)];
    default:
      return [];
  }
}

function leavesOf(column: Column): readonly Column[] {
  const nested = nestedLeaves(column);
  return nested.length === 0 && column.layout !== 'struct' ? [column] : nested;
}

function codecOf(parquet: ParquetModule, compression: ParquetCompression): Compression {
  switch (compression) {
    case 'zstd':
      return parquet.Compression.ZSTD;
    case 'snappy':
      return parquet.Compression.SNAPPY;
    case 'uncompressed':
      return parquet.Compression.UNCOMPRESSED;
    default:
      return assertNever(compression);
  }
}

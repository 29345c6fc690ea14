import { AnalysisException } from '../../base/analysis-exception.ts';
import type { AvroCodec } from '../../codec/avro/read-container.ts';
import type { OrcCompression } from '../../codec/orc/write/write-orc.ts';
import type { ParquetCompression } from '../../codec/parquet/encoding-policy.ts';
import type { ParquetTarget } from '../../engine/engine.ts';
import type { FileFormat } from '../metadata/content-file.ts';

export type DataFormat = Exclude<FileFormat, 'puffin'>;
type Properties = Readonly<Record<string, string>>;

/** How a file is packed that is written in this process. */
export type FileCompression =
  | { readonly format: 'avro'; readonly codec: AvroCodec; readonly level: number | undefined }
  | { readonly format: 'orc'; readonly codec: OrcCompression }
  | { readonly format: 'parquet'; readonly codec: ParquetCompression };

/** `write.format.default`, for delete files `write.delete.format.default` before it. @throws AnalysisException `INVALID_TABLE_PROPERTY`. */
export function writeFormat(properties: Properties, content: 'data' | 'deletes'): DataFormat {
  const own = content === 'deletes' ? properties['write.delete.format.default'] : undefined;
  const key = own === undefined ? 'write.format.default' : 'write.delete.format.default';
  return dataFormat(key, own ?? properties[key] ?? 'parquet');
}

/** A format of data files by its name. @param key what gives it, for the error. @throws AnalysisException `INVALID_TABLE_PROPERTY`. */
export function dataFormat(key: string, name: string): DataFormat {
  const text = name.toLowerCase();
  if (text === 'parquet' || text === 'avro' || text === 'orc') return text;
  throw invalid(key, text, 'parquet, avro or orc');
}

/** The codec of Parquet files; tables that do not say it mean gzip. @throws AnalysisException `INVALID_TABLE_PROPERTY`. */
export function parquetCompression(properties: Properties, content: 'data' | 'deletes'): ParquetTarget['compression'] {
  const { key, text } = stated(properties, 'parquet', content, 'gzip');
  switch (text) {
    case 'zstd':
    case 'snappy':
    case 'gzip':
    case 'brotli':
    case 'uncompressed':
      return text;
    case 'none':
      return 'uncompressed';
    case 'lz4':
    case 'lz4_raw':
      return 'lz4_raw';
    default:
      throw invalid(key, text, 'zstd, snappy, gzip, brotli, lz4 or uncompressed');
  }
}

/** @throws AnalysisException `INVALID_TABLE_PROPERTY`. */
export function fileCompression(format: DataFormat, properties: Properties, content: 'data' | 'deletes'): FileCompression {
  switch (format) {
    case 'avro':
      return avroCompression(properties, content);
    case 'orc':
      return orcCompression(properties, content);
    default: {
      const codec = parquetCompression(properties, content);
      // The library in this process does not write the others.
      return { format, codec: codec === 'snappy' || codec === 'uncompressed' ? codec : 'zstd' };
    }
  }
}

function avroCompression(properties: Properties, content: 'data' | 'deletes'): FileCompression {
  const { key, text } = stated(properties, 'avro', content, 'gzip');
  const level = Number(properties['write.avro.compression-level'] ?? Number.NaN);
  const codecs: Readonly<Record<string, AvroCodec>> = { gzip: 'deflate', zstd: 'zstandard', snappy: 'snappy', uncompressed: 'null' };
  const codec = codecs[text];
  if (codec === undefined) throw invalid(key, text, 'gzip, zstd, snappy or uncompressed');
  return { format: 'avro', codec, level: Number.isInteger(level) ? level : undefined };
}

function orcCompression(properties: Properties, content: 'data' | 'deletes'): FileCompression {
  const { key, text } = stated(properties, 'orc', content, 'zlib');
  switch (text) {
    case 'zlib':
    case 'snappy':
    case 'lz4':
    case 'zstd':
    case 'none':
      return { format: 'orc', codec: text };
    default:
      throw invalid(key, text, 'zlib, zstd, snappy, lz4 or none');
  }
}

function stated(properties: Properties, format: DataFormat, content: 'data' | 'deletes', otherwise: string): { key: string; text: string } {
  const key = `write.${format}.compression-codec`;
  const own = `write.delete.${format}.compression-codec`;
  const deletes = content === 'deletes' ? properties[own] : undefined;
  return { key: deletes === undefined ? key : own, text: (deletes ?? properties[key] ?? otherwise).toLowerCase() };
}

function invalid(key: string, value: string, known: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_TABLE_PROPERTY',
    message: `Invalid value for table property ${key}: ${value}`,
    parameters: { key, value },
    hint: `use ${known}`,
  });
}

import { type RecordBatch, type Schema, tableFromIPC } from 'apache-arrow';
import type { ReaderOptions } from 'parquet-wasm';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import { structChildren } from './arrow-columns.ts';
import { fromArrowSchema } from './arrow-schema.ts';
import { withInt96AsMicros } from './int96.ts';
import { readingParquet } from './wasm.ts';

export interface ReadParquetOptions {
  /** What to read, by name: columns the file lacks are null (required ones too), others are cast where nothing is lost. */
  readonly schema?: StructType | undefined;
  /** Without `schema`: the top-level columns to read; names the file lacks are ignored. */
  readonly columns?: readonly string[] | undefined;
  /** Rows per batch. */
  readonly batchRows?: number | undefined;
  /** Rows `[from, until)` of the file; the pages before them are passed over. Default: all. */
  readonly rows?: { readonly from: number; readonly until: number } | undefined;
}

/** The rows of a file: `batches` in order, each with `schema`; no batch when there are no rows. */
export interface ParquetRows {
  readonly schema: StructType;
  readonly batches: readonly ColumnBatch[];
}

const defaultBatchRows = 32_768;

/**
 * The rows of a Parquet file held in memory.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (kind corrupt) when the bytes are no Parquet file; `PARQUET_TYPE_UNSUPPORTED`,
 * `PARQUET_TYPE_MISMATCH` (kind unsupported).
 */
export function readParquet(bytes: Uint8Array, options: ReadParquetOptions = {}): Promise<ParquetRows> {
  return new Promise((resolve) => {
    resolve(rowsOf(bytes, options));
  });
}

function rowsOf(bytes: Uint8Array, options: ReadParquetOptions): ParquetRows {
  const { file, stored } = prepared(bytes);
  const names = stored.fields.map((field) => field.name);
  const wanted = options.schema?.fields.map((field) => field.name) ?? options.columns ?? names;
  const selected = names.filter((name) => wanted.includes(name));
  // With nothing in common one column is still read, for the number of rows.
  const columns = selected.length === 0 ? names.slice(0, 1) : selected;
  const { rows, batchRows = defaultBatchRows } = options;
  const batches = recordBatches(file, {
    batchSize: batchRows,
    ...(columns.length === names.length ? {} : { columns }),
    ...(rows === undefined ? {} : { offset: rows.from, limit: rows.until - rows.from }),
  });
  const schema = options.schema ?? projected(stored, selected);
  return { schema, batches: batches.filter((batch) => batch.numRows > 0).map((batch) => toBatch(batch, schema)) };
}

function prepared(bytes: Uint8Array): { readonly file: Uint8Array; readonly stored: Schema } {
  const stored = storedSchema(bytes);
  const file = withInt96AsMicros(bytes, stored);
  return { file, stored: file === bytes ? stored : storedSchema(file) };
}

function storedSchema(bytes: Uint8Array): Schema {
  return readingParquet((parquet) => tableFromIPC(parquet.readSchema(bytes).intoIPCStream()).schema);
}

function projected(stored: Schema, names: readonly string[]): StructType {
  return fromArrowSchema(stored.select([...names]));
}

function recordBatches(bytes: Uint8Array, options: ReaderOptions): readonly RecordBatch[] {
  return readingParquet((parquet) => {
    const table = parquet.readParquet(bytes, options);
    try {
      return Array.from({ length: table.numBatches }, (_, index) => tableFromIPC(table.recordBatch(index)?.intoIPCStream()).batches).flat();
    } finally {
      table.free();
    }
  });
}

function toBatch(batch: RecordBatch, schema: StructType): ColumnBatch {
  return { schema, rowCount: batch.numRows, columns: structChildren(batch.data, schema, '') };
}

import { RecordBatchStreamWriter } from 'apache-arrow';
import type { ColumnBatch } from '../../schema/columns.ts';
import { toArrowBatch } from './arrow-data.ts';
import { toArrowSchema } from './arrow-schema.ts';
import { type ParquetCompression, writerProperties } from './encoding-policy.ts';
import { insideParquet, loadParquet } from './wasm.ts';

export interface WriteParquetOptions {
  readonly compression: ParquetCompression;
  /** Text is PLAIN, behind a dictionary: other encodings of it some readers lack. Default false. */
  readonly plainText?: boolean | undefined;
}

/**
 * One Parquet file with the rows of all batches, which share one schema; no batch at all is not a file, zero rows are.
 * Required fields are written REQUIRED, field ids as `field_id`, timestamps as INT64 microseconds.
 *
 * @throws ServiceError `PARQUET_NULL_IN_REQUIRED_COLUMN` (kind invalid); `PARQUET_WRITE_REFUSED` (kind invalid), for instance for text
 * that is not UTF-8; `PARQUET_WRITER_TRAPPED` (kind internal): the thread must be replaced.
 */
export async function writeParquet(batches: readonly [ColumnBatch, ...ColumnBatch[]], options: WriteParquetOptions): Promise<Uint8Array> {
  const parquet = await loadParquet();
  const schema = toArrowSchema(batches[0].schema);
  const ipc = RecordBatchStreamWriter.writeAll(batches.map((batch) => toArrowBatch(batch, schema))).toUint8Array(true);
  return insideParquet({ code: 'PARQUET_WRITE_REFUSED', kind: 'invalid' }, () => {
    const table = parquet.Table.fromIPCStream(ipc);
    // Consumes the table and the properties: neither is freed here, not even when it fails.
    return parquet.writeParquet(table, writerProperties(parquet, largestOf(batches), options));
  });
}

function largestOf(batches: readonly [ColumnBatch, ...ColumnBatch[]]): ColumnBatch {
  return batches.reduce((largest, batch) => (batch.rowCount > largest.rowCount ? batch : largest));
}

import type { InputRow } from '../../codec/build-columns.ts';
import type { PlainRow } from '../../codec/rows.ts';
import type { StructType } from '../../schema/types.ts';

/** Rows of Parquet files, as the log needs them for its checkpoints. */
export interface ParquetRowCodec {
  /** All rows in order; of `columns`, those the file has. Rows are made one batch at a time. */
  read(bytes: Uint8Array, columns: readonly string[]): Promise<Iterable<PlainRow>>;
  write(schema: StructType, rows: readonly InputRow[]): Promise<Uint8Array>;
}

import type { InputRow } from '../../codec/build-columns.ts';
import type { PlainRow } from '../../codec/rows.ts';
import type { StructType } from '../../schema/types.ts';

/** Rows of Parquet files, as the log needs them for its checkpoints. */
export interface ParquetRowCodec {
  /** All rows in order, with those of `columns` that the file has, which `found` names. Rows are made one batch at a time. */
  read(bytes: Uint8Array, columns: readonly string[]): Promise<{ readonly rows: Iterable<PlainRow>; readonly found: ReadonlySet<string> }>;
  write(schema: StructType, rows: readonly InputRow[]): Promise<Uint8Array>;
}

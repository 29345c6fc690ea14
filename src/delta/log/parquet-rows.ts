import { serviceError } from '../../base/errors.ts';
import { buildBatch, type InputRow } from '../../codec/build-columns.ts';
import { readParquet } from '../../codec/parquet/read-parquet.ts';
import { writeParquet } from '../../codec/parquet/write-parquet.ts';
import { rowsOf } from '../../codec/rows.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { duplicateColumn } from '../../schema/duplicate-column.ts';
import type { StructType } from '../../schema/types.ts';
import type { ParquetRowCodec } from './codec.ts';

/** Rows made or read at a time. */
const batchRows = 8192;

/** The Parquet codec of this process, in the shape the log uses. */
export const parquetRows: ParquetRowCodec = {
  async read(bytes: Uint8Array, columns: readonly string[]) {
    const { schema, batches } = await readParquet(bytes, { columns, batchRows });
    const twice = duplicateColumn(schema);
    // One of the two would be taken for both, and what only the other one holds for not there.
    if (twice !== undefined) throw serviceError.corrupt('PARQUET_CORRUPT', `column "${twice}" is there twice`);
    return { rows: rowsOf(batches), found: new Set(schema.fields.map(({ name }) => name)) };
  },
  write(schema: StructType, rows: readonly InputRow[]): Promise<Uint8Array> {
    const rest: ColumnBatch[] = [];
    for (let from = batchRows; from < rows.length; from += batchRows) rest.push(buildBatch(schema, rows.slice(from, from + batchRows)));
    return writeParquet([buildBatch(schema, rows.slice(0, batchRows)), ...rest], { compression: 'snappy' });
  },
};

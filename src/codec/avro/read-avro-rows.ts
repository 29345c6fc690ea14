import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { StructReader } from './nested-readers.ts';
import { blockCursor, checkBlockEnd, type OpenAvroFile, openAvroFile, type ReadAvroOptions } from './read-avro-file.ts';
import { type NameToId, resolveColumns } from './resolve-columns.ts';
import { leastBytes } from './skip-values.ts';

export interface ReadAvroRowsOptions extends ReadAvroOptions {
  /** What to read, with the table's field ids. */
  readonly schema: StructType;
  /** Ids for a file that has none; without it such a file is read by name. */
  readonly nameToId?: NameToId | undefined;
  /** Rows of a batch at most; default `DEFAULT_BATCH_ROWS`. */
  readonly batchRows?: number | undefined;
}

export interface AvroRows {
  /** The header's entries. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  /** Ids of fields of the schema, at every level, that the file does not have: their columns hold nulls, also where the schema forbids them. */
  readonly absentFieldIds: ReadonlySet<number>;
  /** All rows in file order. Can be asked for once. */
  readonly batches: Generator<ColumnBatch, void, undefined>;
}

export const DEFAULT_BATCH_ROWS = 8192;

/** Bytes of a file after which a batch ends before it has all its rows. */
const maxBatchBytes = 32 * 1024 * 1024;

/**
 * Reads a data file of a table into columns. An int is read as long, a float as double, a decimal with more digits, a date and a coarser
 * timestamp as a timestamp, where the schema says so; a UUID becomes text.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` naming file and place, also from `batches`; `AVRO_UNSUPPORTED` for another codec or a stored
 *   type that is not read as the one of the schema.
 */
export function readAvroRows(bytes: Uint8Array, options: ReadAvroRowsOptions): AvroRows {
  const file = openAvroFile(bytes, options);
  const { rows, absentFieldIds } = resolveColumns(file.type, options.schema, options);
  return {
    metadata: file.container.metadata,
    absentFieldIds,
    batches: readBatches(file, rows, options),
  };
}

function* readBatches(file: OpenAvroFile, rows: StructReader, options: ReadAvroRowsOptions): Generator<ColumnBatch, void, undefined> {
  const batchRows = options.batchRows ?? DEFAULT_BATCH_ROWS;
  const rowBytes = leastBytes(file.type);
  let bytesBefore = 0;
  for (const block of file.container.blocks()) {
    const cursor = blockCursor(block, rowBytes);
    let from = 0;
    for (let index = 0; index < block.rowCount; index++) {
      rows.read(cursor);
      if (rows.column.length < batchRows && bytesBefore + cursor.at - from < maxBatchBytes) continue;
      yield takeBatch(rows, options.schema);
      from = cursor.at;
      bytesBefore = 0;
    }
    bytesBefore += cursor.at - from;
    checkBlockEnd(cursor);
  }
  if (rows.column.length > 0) yield takeBatch(rows, options.schema);
}

function takeBatch({ column }: StructReader, schema: StructType): ColumnBatch {
  const { length, children } = column.finish();
  return { schema, rowCount: length, columns: children };
}

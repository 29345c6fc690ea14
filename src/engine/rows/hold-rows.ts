import type { DuckDBConnection } from '@duckdb/node-api';
import { throwIfAborted } from '../../base/abort.ts';
import { quoteName, typeSql } from '../../expr/sql/engine-text.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { sliceRows } from '../../schema/slice.ts';
import type { StructType } from '../../schema/types.ts';
import type { DuckdbModules } from '../duckdb-modules.ts';
import { duckdbTypeOf } from '../duckdb-types.ts';
import { heldSchema } from '../relation-names.ts';
import { writeChunk } from './write-vector.ts';

/** The engine's unit of work. */
const chunkRows = 2_048;

export interface Holding {
  readonly modules: DuckdbModules;
  readonly connection: DuckDBConnection;
  /** `held.rows_1`; made here. */
  readonly table: string;
  readonly schema: StructType;
  readonly signal?: AbortSignal | undefined;
}

/** Creates a table and appends the batches to it, chunk by chunk; what does not fit into memory spills. */
export async function holdRows(holding: Holding, batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>): Promise<void> {
  const { modules, connection, table, schema, signal } = holding;
  const columns = schema.fields.map((field) => `${quoteName(field.name)} ${typeSql(field.type)}`);
  await connection.run(`CREATE TABLE ${table} (${columns.length === 0 ? 'no_column BOOLEAN' : columns.join(', ')})`);
  const types = schema.fields.map((field) => duckdbTypeOf(modules.api, field.type));
  if (types.length === 0) types.push(modules.api.BOOLEAN);
  const appender = await connection.createAppender(table.slice(heldSchema.length + 1), heldSchema);
  let complete = false;
  try {
    for await (const batch of batches) {
      throwIfAborted(signal);
      for (let from = 0; from < batch.rowCount; from += chunkRows) {
        const rows = sliceRows(batch, { from, until: Math.min(batch.rowCount, from + chunkRows) });
        const chunk = modules.api.DuckDBDataChunk.create(types, rows.rowCount);
        writeChunk(modules.bindings, (index) => modules.bindings.data_chunk_get_vector(chunk.chunk, index), rows);
        appender.appendDataChunk(chunk);
      }
    }
    appender.flushSync();
    complete = true;
  } finally {
    // What is left would be written by the close, and its failure would hide the first one.
    if (!complete) appender.clear();
    appender.closeSync();
  }
}

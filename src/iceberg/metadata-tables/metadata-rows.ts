import { buildBatch, type InputRow } from '../../codec/build-columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { MetadataTable } from '../../table/queries.ts';

const rowsPerBatch = 1_024;

/** A metadata table whose rows are made while they are read. */
export interface MetadataRows {
  readonly schema: StructType;
  readonly rows: Iterable<InputRow> | ((signal: AbortSignal | undefined) => AsyncIterable<InputRow>);
}

/** The rows as columns, a batch at a time. */
export function metadataTableOf({ schema, rows }: MetadataRows): MetadataTable {
  return {
    schema,
    async *rows(signal) {
      let pending: InputRow[] = [];
      for await (const row of typeof rows === 'function' ? rows(signal) : rows) {
        pending.push(row);
        if (pending.length < rowsPerBatch) continue;
        signal?.throwIfAborted();
        yield buildBatch(schema, pending);
        pending = [];
      }
      if (pending.length > 0) yield buildBatch(schema, pending);
    },
  };
}

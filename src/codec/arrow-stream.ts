import * as arrow from 'apache-arrow';
import type { ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import { toArrowBatch } from './parquet/arrow-data.ts';
import { toArrowSchema } from './parquet/arrow-schema.ts';

/** Batches as one Arrow IPC stream, which every Arrow library reads: the schema, then a record batch for each. Held in memory whole. */
export async function arrowStream(schema: StructType, batches: AsyncIterable<ColumnBatch>): Promise<Uint8Array> {
  const arrowSchema = toArrowSchema(schema);
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(undefined, arrowSchema);
  for await (const batch of batches) if (batch.rowCount > 0) writer.write(toArrowBatch(batch, arrowSchema));
  writer.finish();
  return writer.toUint8Array();
}

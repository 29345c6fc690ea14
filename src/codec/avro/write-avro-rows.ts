import { printJson } from '../../base/bigint-json.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import { columnWriters } from './column-writers.ts';
import { tableAvroSchema } from './table-avro-schema.ts';
import { type AvroContainerOptions, AvroContainerWriter } from './write-container.ts';

export interface WriteAvroRowsOptions extends Omit<AvroContainerOptions, 'schema' | 'codec'> {
  /** The rows' schema with the table's field ids. */
  readonly schema: StructType;
  /** Default `deflate`. */
  readonly codec?: AvroContainerOptions['codec'] | undefined;
  /** Name of the record; default `table`. */
  readonly recordName?: string | undefined;
}

/**
 * A data file of a table from any number of batches. Calls must not overlap. After an error the writer is of no use.
 *
 * @throws ServiceError `AVRO_VALUE_MISMATCH` (kind invalid) from `append` for columns of another type, a null where the schema forbids it,
 *   and values that do not fit.
 */
export class AvroRowWriter {
  readonly #schema: StructType;
  readonly #container: AvroContainerWriter;

  constructor(options: WriteAvroRowsOptions) {
    this.#schema = options.schema;
    const schema = printJson(tableAvroSchema(options.schema, options.recordName ?? 'table'));
    this.#container = new AvroContainerWriter({ ...options, codec: options.codec ?? 'deflate', schema });
  }

  /** Appends the rows of a batch, whose columns stand in the order of the schema. */
  async append(batch: ColumnBatch): Promise<void> {
    const writers = columnWriters(this.#schema, batch.columns, this.#container.sink);
    for (let index = 0; index < batch.rowCount; index++) {
      for (const write of writers) write(index);
      this.#container.endRow();
      if (index % rowsBetweenDrains === 0) await this.#container.drain();
    }
    await this.#container.drain();
  }

  get rowCount(): number {
    return this.#container.rowCount;
  }

  /** What the file has so far; blocks that are not packed yet count unpacked. */
  get sizeBytes(): number {
    return this.#container.sizeBytes;
  }

  /** The whole file. One without rows is a file too. */
  async finish(): Promise<Uint8Array> {
    return await this.#container.finish();
  }
}

const rowsBetweenDrains = 1024;

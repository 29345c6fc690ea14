import { isServiceError, serviceError } from '../../base/errors.ts';
import { readParquet } from '../../codec/parquet/read-parquet.ts';
import { writeParquet } from '../../codec/parquet/write-parquet.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { StructType } from '../../schema/types.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

/**
 * What a query keeps between batches, one Parquet file for each batch in its checkpoint: `state/<batch>.parquet`, written before the batch's sink
 * takes it. A batch that is run again starts from the file of the one before, so that nothing counts twice.
 */
export class StreamState {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /**
   * The groups as they were after a batch.
   *
   * @param schema the columns that the query keeps now.
   * @throws ServiceError `STREAM_CHECKPOINT_CORRUPT` (corrupt) without the file; `STREAM_STATE_INCOMPATIBLE` (invalid) when it has other columns.
   */
  async read(batchId: number, schema: StructType, signal?: AbortSignal): Promise<readonly ColumnBatch[]> {
    const path = pathOf(batchId);
    const where = `${this.#store.root}/${path}`;
    const { schema: stored, batches } = await readParquet(await this.#bytes(path, signal));
    if (shapeOf(stored) === shapeOf(schema)) return batches;
    throw serviceError.invalid(
      'STREAM_STATE_INCOMPATIBLE',
      `the query keeps ${shapeOf(schema)} for each group, and ${where} has ${shapeOf(stored)}: its keys or aggregates were changed`,
      { hint: 'start the changed query with an empty checkpoint folder, which reads the stream anew, or run it as it was' },
    );
  }

  /** Replaces what the batch left when it was run before, and forgets what no restart needs. */
  async write(batchId: number, batches: readonly [ColumnBatch, ...ColumnBatch[]], signal?: AbortSignal): Promise<void> {
    await this.#store.put(pathOf(batchId), await writeParquet(batches, { compression: 'zstd' }), signal);
    if (batchId >= 2) await this.#store.delete(pathOf(batchId - 2), signal);
  }

  async #bytes(path: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    try {
      return await this.#store.read(path, signal);
    } catch (error) {
      if (!isServiceError(error, 'not-found')) throw error;
      throw serviceError.corrupt('STREAM_CHECKPOINT_CORRUPT', `${this.#store.root}/${path}, the groups of the aggregation, is missing`, {
        hint: 'restore the checkpoint folder, or start with an empty one (the stream then starts anew); a query that had no aggregation before needs an empty one too',
        cause: error,
      });
    }
  }
}

const pathOf = (batchId: number): string => `state/${batchId}.parquet`;

function shapeOf({ fields }: StructType): string {
  return fields.map(({ name, type }) => `${name} ${describeType(type)}`).join(', ');
}

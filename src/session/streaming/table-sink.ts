import type { QueryableTable } from '../../table/table.ts';
import type { SinkBatch, StreamSink } from './stream-sink.ts';

/**
 * Appends each batch to a table as one version, exactly once: the version carries the query's id and the batch's, and a batch that is
 * there already is not written again.
 */
export class TableSink implements StreamSink {
  readonly description: string;
  readonly #open: (batch: SinkBatch) => Promise<QueryableTable>;
  readonly #options: { readonly mergeSchema: boolean; readonly userMetadata: string | undefined };

  /** @param parts.open the table; creates it with the shape of the batch when there is none. */
  constructor(parts: {
    readonly location: string;
    readonly open: (batch: SinkBatch) => Promise<QueryableTable>;
    readonly mergeSchema: boolean;
    readonly userMetadata: string | undefined;
  }) {
    this.description = `DeltaSink[${parts.location}]`;
    this.#open = parts.open;
    this.#options = { mergeSchema: parts.mergeSchema, userMetadata: parts.userMetadata };
  }

  async add(batch: SinkBatch, signal: AbortSignal): Promise<number> {
    const table = await this.#open(batch);
    const written = await table.operations.write({
      ...this.#options,
      rows: batch.rows,
      mode: { kind: 'append' },
      operation: 'STREAMING UPDATE',
      idempotency: { appId: batch.queryId, version: BigInt(batch.batchId) },
      signal,
    });
    return written.rowCount;
  }
}

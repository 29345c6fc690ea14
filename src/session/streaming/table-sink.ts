import { type TableFormat, traitsOf } from '../../table/formats.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { SinkBatch, StreamSink } from './stream-sink.ts';

/**
 * Appends each batch to a table as one version, or replaces its rows by it, exactly once: the version carries the query's id and the batch's, and a batch that is
 * there already is not written again.
 */
export class TableSink implements StreamSink {
  readonly #location: string;
  readonly #replaces: boolean;
  #format: TableFormat;
  readonly #open: (batch: SinkBatch) => Promise<QueryableTable>;
  readonly #options: Pick<WriteRequest, 'mergeSchema' | 'userMetadata' | 'partitionBy'>;

  /** @param parts.open the table; creates it with the shape of the batch when there is none. */
  constructor(parts: {
    readonly location: string;
    /** As far as it is known before the table is opened. */
    readonly format: TableFormat;
    readonly open: (batch: SinkBatch) => Promise<QueryableTable>;
    /** Whether a batch is all there is, in place of the rows before. */
    readonly replaces: boolean;
    readonly mergeSchema: boolean;
    readonly userMetadata: string | undefined;
    /** Those the table must have; `undefined`: any. */
    readonly partitionBy: readonly string[] | undefined;
  }) {
    this.#location = parts.location;
    this.#format = parts.format;
    this.#open = parts.open;
    this.#replaces = parts.replaces;
    this.#options = { mergeSchema: parts.mergeSchema, userMetadata: parts.userMetadata, partitionBy: parts.partitionBy };
  }

  get description(): string {
    return `${traitsOf[this.#format].streamSink}[${this.#location}]`;
  }

  async add(batch: SinkBatch, signal: AbortSignal): Promise<number> {
    const table = await this.#open(batch);
    this.#format = table.format;
    const written = await table.operations.write({
      ...this.#options,
      rows: batch.rows,
      mode: { kind: this.#replaces ? 'overwrite' : 'append' },
      // Wider numbers become the table's, and one that does not fit is an error.
      storeAssignment: true,
      operation: 'STREAMING UPDATE',
      idempotency: { appId: batch.queryId, version: BigInt(batch.batchId) },
      summary: { 'spark.sql.streaming.queryId': batch.queryId, 'spark.sql.streaming.epochId': String(batch.batchId) },
      signal,
    });
    return written.rowCount;
  }
}

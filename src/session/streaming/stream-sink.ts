import type { Relation } from '../../table/relation.ts';

export interface SinkBatch {
  readonly queryId: string;
  readonly batchId: number;
  readonly rows: Relation;
}

/**
 * Takes the batches of one streaming query in order. The same batch (id and rows) comes again when it is not known whether it was
 * taken; whether it is then written twice is said by each sink.
 */
export interface StreamSink {
  /** For progress documents, such as `MemorySink`. */
  readonly description: string;
  /** Resolves when the batch is durable; the number of rows written, where the sink counts. */
  add(batch: SinkBatch, signal: AbortSignal): Promise<number | undefined>;
  close?(): Promise<void>;
}

import type { TopicPartition } from '../kafka/client.ts';

/** What one table's ingest tells about its work; every method has a counterpart among the metrics. */
export interface IngestObserver {
  fetched(what: {
    readonly topic: string;
    readonly partition: number;
    readonly records: number;
    readonly bytes: number;
    readonly lag: bigint;
  }): void;
  /** Where reading starts, or starts again after a failure: nothing behind it is in the table. */
  placed(what: { readonly topic: string; readonly partition: number; readonly lag: bigint }): void;
  sealed(what: { readonly records: number; readonly bytes: number; readonly by: string }): void;
  /** From the first fetch of a batch to the version that holds it. */
  visible(what: {
    readonly rowCount: number;
    readonly freshnessMs: number;
    /** Age of the newest record of the batch, by its timestamp. */
    readonly eventLagMs: number;
  }): void;
  buffered(bytes: number): void;
  paused(paused: boolean): void;
  /** All partitions that it reads from now on. */
  assigned(what: { readonly generation: number; readonly partitions: readonly TopicPartition[] }): void;
  discontinuity(what: { readonly topic: string; readonly partition: number; readonly detail: string; readonly hint: string }): void;
  state(state: IngestState, detail: string | undefined): void;
  warning(message: string, fields: Readonly<Record<string, string | number | bigint | undefined>>): void;
}

export type IngestState = 'joining' | 'running' | 'waiting-for-topic' | 'discontinuity' | 'draining' | 'stopped' | 'failed';

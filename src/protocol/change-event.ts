import type { EpochMs } from '../base/clock.ts';
import type { TopicPartition } from '../kafka/client.ts';
import type { VersionChanges } from '../table/changes.ts';
import type { Version } from '../table/version.ts';

export type Envelope = 'debezium' | 'flat';

/**
 * Where a feed stands: everything before `ordinal` of `version` is published. `snapshot` says that `version` is being (or was)
 * published as the initial snapshot rather than as changes.
 */
export interface FeedPosition {
  readonly version: Version;
  /** Rows of `version` that are published, in the version's row order; `complete` when that was the last one. */
  readonly ordinal: number;
  readonly complete: boolean;
  readonly snapshot: boolean;
  /** Identity of the table; a feed refuses to continue on a table that was replaced. */
  readonly tableId: string;
}

/** How change rows become records: plain data, sent to worker threads. */
export interface EncodeSpec {
  readonly envelope: Envelope;
  readonly topic: string;
  readonly partitions: number;
  /** Columns of the record key; empty: no key, rows are spread by ordinal. */
  readonly keyColumns: readonly string[];
  readonly table: string;
  readonly format: 'delta' | 'iceberg';
  readonly location: string;
  readonly compression: 'none' | 'lz4' | 'gzip';
}

/** A bounded run of a version's rows to encode: rows `[fromOrdinal, untilOrdinal)` counted over `changes.files` in order. */
export interface EncodeTask {
  readonly spec: EncodeSpec;
  readonly changes: VersionChanges;
  readonly snapshot: boolean;
  readonly fromOrdinal: number;
  readonly maxRows: number;
  readonly publishedAt: EpochMs;
}

export interface EncodedChanges {
  readonly batches: readonly (TopicPartition & { readonly recordCount: number; readonly bytes: Uint8Array })[];
  readonly untilOrdinal: number;
  /** True when no row of the version is left after `untilOrdinal`. */
  readonly complete: boolean;
  readonly rowsByOperation: Readonly<Record<string, number>>;
}

/** Reads change rows and turns them into record batches, off the main thread. Deterministic: the same task gives the same bytes. */
export interface ChangeEncoder {
  encode(task: EncodeTask, signal?: AbortSignal): Promise<EncodedChanges>;
}

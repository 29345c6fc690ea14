import { factsJson, type JsonObject } from '../base/json-value.ts';

/** One partition of a table's source. Offsets are exclusive ends: the next record to read. */
export interface PartitionStatus {
  readonly topic: string;
  readonly partition: number;
  /** What the table holds; `undefined`: nothing yet. */
  readonly committedOffset: bigint | undefined;
  /** The end of the partition; `undefined` when the broker did not say. */
  readonly endOffset: bigint | undefined;
  /** Why the partition stands still, when it does. */
  readonly problem: string | undefined;
}

/** What the commits of a keyed table did in this process since it started. */
export interface KeyedStatus {
  readonly insertedRows: number;
  readonly updatedRows: number;
  readonly deletedRows: number;
  /** Keys of which the table had a row that was later by its order, or remembered a later delete. */
  readonly lateKeys: number;
  /** Of the last commit. `undefined`: there was none. */
  readonly lastLookup:
    | {
        /** ISO 8601: when its commit had landed. */
        readonly at: string;
        readonly durationMs: number;
        /** Data files whose keys were read. */
        readonly filesLookedAt: number;
      }
    | undefined;
  /** What its index on local disk has; absent: nothing yet, or there is none. */
  readonly index?: { readonly files: number; readonly rows: number; readonly bytes: number } | undefined;
  /** Where deletes are remembered, and how many; `undefined` rows: not known yet. Absent: they are not remembered. */
  readonly tombstones?: { readonly table: string; readonly rows: number | undefined } | undefined;
}

export interface TableStatus {
  readonly name: string;
  readonly format: string;
  readonly location: string;
  /** `undefined`: the table does not exist yet. */
  readonly version: number | undefined;
  readonly rowCount: number | undefined;
  readonly fileCount: number | undefined;
  readonly sizeBytes: number | undefined;
  /** State of its ingest in this process, one that was refused before it could run too; `undefined`: it is none of its parts. */
  readonly ingest: string | undefined;
  /** What it waits for, or why it stands still. */
  readonly detail: string | undefined;
  /** Differences between the table and its configuration, a line each: while its ingest runs they are accepted. */
  readonly drifts: readonly string[];
  /** It has every record that could be read before this time in its topics, ISO 8601. `undefined`: of no time is that known. */
  readonly validThrough?: string | undefined;
  readonly partitions: readonly PartitionStatus[];
  /** Absent: it is not keyed, or is not written here. */
  readonly keyed?: KeyedStatus | undefined;
}

/** How far the snapshot of a feed is: rows of the table, rows a second since this process publishes it. */
export interface SnapshotStatus {
  readonly rows: number;
  readonly totalRows: number | undefined;
  readonly percent: number | undefined;
  readonly rowsPerSecond: number | undefined;
  readonly remainingSeconds: number | undefined;
}

export interface FeedStatus {
  readonly name: string;
  readonly table: string;
  readonly topic: string;
  readonly state: string;
  readonly detail: string | undefined;
  /** ISO 8601, of a feed that an operator paused. */
  readonly pausedSince?: string | undefined;
  /** Of the snapshot that is being published. */
  readonly snapshot?: SnapshotStatus | undefined;
  readonly publishedVersion: number | undefined;
  readonly ordinal: number | undefined;
  readonly lagVersions: number | undefined;
}

/** A reader that retention of a table waits for. */
export interface HoldStatus {
  readonly table: string;
  readonly by: string;
  readonly fromVersion: number;
  /** Committed versions that it has yet to read. */
  readonly versions: number;
  readonly ageSeconds: number;
  /** What it keeps on storage; absent without `maintenance.feedHold.maxBytes`. */
  readonly bytes?: number | undefined;
  readonly isOver: boolean;
  readonly isReleased: boolean;
}

/** A table that shows the files of another one. */
export interface TwinStatus {
  readonly table: string;
  readonly leader: string;
  readonly state: string;
  readonly detail: string | undefined;
  /** Version of its leader that it shows. */
  readonly shownVersion: number | undefined;
  readonly lagVersions: number | undefined;
}

export interface QueueStatus {
  readonly name: string;
  readonly connected: boolean;
  /** Jobs by state. */
  readonly jobs: Readonly<Record<string, number>>;
}

/** What the tables hold together, fetched and not committed. */
export interface MemoryStatus {
  /** Of all the process. */
  readonly budgetBytes: number;
  /** What of it is for such bytes. */
  readonly sizeBytes: number;
  readonly heldBytes: number;
  readonly peakBytes: number;
  /** Tables and readers that fetch nothing until others have given back. */
  readonly waiting: readonly string[];
}

/** What the process does and how far it got. */
export interface PipelineStatus {
  readonly pipeline: string;
  readonly role: string;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly tables: readonly TableStatus[];
  readonly feeds: readonly FeedStatus[];
  readonly twins: readonly TwinStatus[];
  readonly queues: readonly QueueStatus[];
  /** Only of processes that do maintenance. */
  readonly holds?: readonly HoldStatus[] | undefined;
  /** `undefined`: the process reads no topics. */
  readonly memory?: MemoryStatus | undefined;
}

/** The status as JSON: 64-bit offsets as numbers of any size, lag computed, absent values as null. */
export function statusJson({ tables, feeds, twins, queues, holds, memory, ...process }: PipelineStatus): JsonObject {
  return {
    ...factsJson(process),
    tables: tables.map(({ keyed, partitions, ...table }) => ({
      ...factsJson(table),
      partitions: partitions.map(({ problem, ...partition }) => factsJson({ ...partition, lag: lagOf(partition), problem })),
      ...(keyed === undefined ? {} : { keyed: factsJson(keyed) }),
    })),
    ...factsJson({ feeds, twins, queues }),
    ...(holds === undefined ? {} : factsJson({ holds })),
    ...(memory === undefined ? {} : { memory: factsJson(memory) }),
  };
}

function lagOf({ committedOffset, endOffset }: Pick<PartitionStatus, 'committedOffset' | 'endOffset'>): bigint | undefined {
  return committedOffset === undefined || endOffset === undefined ? undefined : endOffset - committedOffset;
}

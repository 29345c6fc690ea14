import type { TimeZone } from '../expr/time-zone.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';

/** Which snapshot of a table a read is about. */
export type SnapshotPoint =
  /** `VERSION AS OF`: Delta's version; Iceberg's snapshot id, or as text the name of a branch or tag. */
  | { readonly kind: 'version'; readonly version: bigint | string }
  /** The one in force at a time, in microseconds since the epoch. */
  | { readonly kind: 'timestamp'; readonly micros: bigint }
  | { readonly kind: 'snapshot-id'; readonly id: bigint }
  | { readonly kind: 'branch' | 'tag'; readonly name: string };

/** A table about a table, made from its metadata when it is read. */
export interface MetadataTable {
  readonly schema: StructType;
  rows(signal?: AbortSignal): AsyncIterable<ColumnBatch>;
}

/** A value of a procedure's argument or of its result, by the column's type: 64-bit numbers and times in microseconds as bigint. */
export type ProcedureValue = string | number | bigint | boolean | ReadonlyMap<string, string> | readonly (string | bigint)[] | undefined;

export interface ProcedureParameter {
  /** In lower case. */
  readonly name: string;
  readonly type: 'string' | 'int' | 'long' | 'boolean' | 'timestamp' | 'string-map' | 'string-list' | 'long-list';
  readonly required: boolean;
}

/** An operation that SQL calls by name on one table: the first parameter, `table`, is resolved by the caller and not among `parameters`. */
export interface Procedure {
  /** In lower case, such as `expire_snapshots`. */
  readonly name: string;
  readonly parameters: readonly ProcedureParameter[];
  readonly output: StructType;
  /** Rows of `output`. `zone`: of local times in conditions; default: UTC. @throws AnalysisException for arguments that make no sense. */
  run(args: ReadonlyMap<string, ProcedureValue>, signal?: AbortSignal, zone?: TimeZone): Promise<readonly (readonly ProcedureValue[])[]>;
}

/** https://iceberg.apache.org/docs/latest/spark-procedures/#create_changelog_view */
export interface ChangelogRequest {
  /** After this snapshot; default: from the first. */
  readonly startAfter?: bigint | undefined;
  /** Until and with this snapshot; default: the newest. */
  readonly until?: bigint | undefined;
  /** In place of `startAfter`: after the snapshot that was in force at this time, in milliseconds since the epoch; before the first: from it. */
  readonly startAfterMs?: number | undefined;
  /** In place of `until`: with the snapshot that was in force at this time; before the first: no changes. */
  readonly untilMs?: number | undefined;
  /** By which schema rows are read: the table's newest (default), or that of the last snapshot of the range. */
  readonly schemaOf?: 'newest' | 'until' | undefined;
  /** Columns that tell rows apart; default: the table's identifier columns. */
  readonly identifierColumns?: readonly string[] | undefined;
  /** Pairs a delete and an insert of one identifier to an update. Default: when `identifierColumns` are given. */
  readonly computeUpdates?: boolean | undefined;
  /** Leaves what the range undoes out. Default false. */
  readonly netChanges?: boolean | undefined;
}

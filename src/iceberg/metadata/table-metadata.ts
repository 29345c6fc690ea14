import type { JsonObject } from '../../base/bigint-json.ts';
import type { StructType } from '../../schema/types.ts';
import type { Transform } from '../../table/partitioning/transform.ts';

/**
 * A schema (https://iceberg.apache.org/spec/#schemas-and-data-types) in the product's types: every field, list element, map key and value
 * has its id; `doc` is the field metadata `comment`; defaults are the field metadata `initial-default` and `write-default` in the spec's
 * JSON form, and members this version does not know stand beside them.
 */
export interface IcebergSchema {
  readonly schemaId: number;
  readonly struct: StructType;
  readonly identifierFieldIds: readonly number[];
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface PartitionField {
  readonly sourceId: number;
  readonly fieldId: number;
  readonly name: string;
  readonly transform: Transform;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface PartitionSpec {
  readonly specId: number;
  readonly fields: readonly PartitionField[];
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface SortField {
  readonly transform: Transform;
  readonly sourceId: number;
  readonly direction: 'asc' | 'desc';
  readonly nullOrder: 'nulls-first' | 'nulls-last';
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface SortOrder {
  readonly orderId: number;
  readonly fields: readonly SortField[];
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export type SnapshotOperation = 'append' | 'replace' | 'overwrite' | 'delete';

export interface IcebergSnapshot {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | undefined;
  /** 0 in tables of format version 1. */
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  /** `undefined`: format version 1 lists its `manifests` itself. */
  readonly manifestList: string | undefined;
  readonly manifests: readonly string[] | undefined;
  /** With `operation`, when the writer said it. */
  readonly summary: Readonly<Record<string, string>>;
  readonly schemaId: number | undefined;
  readonly firstRowId: bigint | undefined;
  readonly addedRows: bigint | undefined;
  readonly keyId: string | undefined;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface SnapshotRef {
  readonly snapshotId: bigint;
  readonly type: 'branch' | 'tag';
  readonly minSnapshotsToKeep: number | undefined;
  readonly maxSnapshotAgeMs: bigint | undefined;
  readonly maxRefAgeMs: bigint | undefined;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface SnapshotLogEntry {
  readonly timestampMs: number;
  readonly snapshotId: bigint;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface MetadataLogEntry {
  readonly timestampMs: number;
  readonly metadataFile: string;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

/** https://iceberg.apache.org/spec/#table-statistics */
export interface StatisticsFile {
  readonly snapshotId: bigint;
  readonly statisticsPath: string;
  readonly fileSizeInBytes: bigint;
  readonly fileFooterSizeInBytes: bigint;
  readonly keyMetadata: string | undefined;
  /** As in the metadata. */
  readonly blobMetadata: readonly JsonObject[];
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

export interface PartitionStatisticsFile {
  readonly snapshotId: bigint;
  readonly statisticsPath: string;
  readonly fileSizeInBytes: bigint;
  /** Members this version does not know, printed as they were. */
  readonly unknown?: JsonObject | undefined;
}

/** The state of a table (https://iceberg.apache.org/spec/#table-metadata-fields), checked: every id that is referred to is there. */
export interface TableMetadata {
  readonly formatVersion: 1 | 2 | 3;
  /** Format version 1 may lack it on disk; then it is made from the location, the same each time. */
  readonly tableUuid: string;
  readonly location: string;
  readonly lastSequenceNumber: bigint;
  readonly lastUpdatedMs: number;
  readonly lastColumnId: number;
  readonly schemas: readonly IcebergSchema[];
  readonly currentSchemaId: number;
  readonly partitionSpecs: readonly PartitionSpec[];
  readonly defaultSpecId: number;
  readonly lastPartitionId: number;
  readonly sortOrders: readonly SortOrder[];
  readonly defaultSortOrderId: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly currentSnapshotId: bigint | undefined;
  /** `main` always, when there is a current snapshot. */
  readonly refs: ReadonlyMap<string, SnapshotRef>;
  readonly snapshots: readonly IcebergSnapshot[];
  readonly snapshotLog: readonly SnapshotLogEntry[];
  readonly metadataLog: readonly MetadataLogEntry[];
  readonly statistics: readonly StatisticsFile[];
  readonly partitionStatistics: readonly PartitionStatisticsFile[];
  readonly nextRowId: bigint;
  /** Members this version does not know, printed as they were. */
  readonly unknown: JsonObject;
}

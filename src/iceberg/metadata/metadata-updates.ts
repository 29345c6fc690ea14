import type {
  IcebergSchema,
  IcebergSnapshot,
  PartitionSpec,
  PartitionStatisticsFile,
  SnapshotRef,
  SortOrder,
  StatisticsFile,
} from './table-metadata.ts';

/**
 * A change of a table's metadata as data (https://iceberg.apache.org/rest-catalog-spec): what every catalog applies or is sent. An id of -1
 * stands for the one that an update before it in the same commit added.
 */
export type MetadataUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly formatVersion: 1 | 2 | 3 }
  | { readonly action: 'add-schema'; readonly schema: IcebergSchema; readonly lastColumnId: number }
  | { readonly action: 'set-current-schema'; readonly schemaId: number }
  | { readonly action: 'add-spec'; readonly spec: PartitionSpec }
  | { readonly action: 'set-default-spec'; readonly specId: number }
  | { readonly action: 'add-sort-order'; readonly sortOrder: SortOrder }
  | { readonly action: 'set-default-sort-order'; readonly sortOrderId: number }
  | { readonly action: 'add-snapshot'; readonly snapshot: IcebergSnapshot }
  | { readonly action: 'set-snapshot-ref'; readonly refName: string; readonly ref: SnapshotRef }
  | { readonly action: 'remove-snapshots'; readonly snapshotIds: readonly bigint[] }
  | { readonly action: 'remove-snapshot-ref'; readonly refName: string }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] }
  | { readonly action: 'set-statistics'; readonly statistics: StatisticsFile }
  | { readonly action: 'remove-statistics'; readonly snapshotId: bigint }
  | { readonly action: 'set-partition-statistics'; readonly statistics: PartitionStatisticsFile }
  | { readonly action: 'remove-partition-statistics'; readonly snapshotId: bigint }
  | { readonly action: 'remove-partition-specs'; readonly specIds: readonly number[] }
  | { readonly action: 'remove-schemas'; readonly schemaIds: readonly number[] };

/** What must hold of the metadata a commit is applied to. */
export type MetadataRequirement =
  | { readonly type: 'assert-create' }
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  | { readonly type: 'assert-ref-snapshot-id'; readonly ref: string; readonly snapshotId: bigint | undefined }
  | { readonly type: 'assert-last-assigned-field-id'; readonly lastAssignedFieldId: number }
  | { readonly type: 'assert-current-schema-id'; readonly currentSchemaId: number }
  | { readonly type: 'assert-last-assigned-partition-id'; readonly lastAssignedPartitionId: number }
  | { readonly type: 'assert-default-spec-id'; readonly defaultSpecId: number }
  | { readonly type: 'assert-default-sort-order-id'; readonly defaultSortOrderId: number };

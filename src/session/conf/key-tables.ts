/** What a configuration value must look like. */
export type ConfValueKind = 'boolean' | 'integer' | 'text' | 'bytes' | 'tri-state';

/** A key that is known: something reads it, or there is a reason why nothing has to. */
export interface KnownKey {
  readonly kind: ConfValueKind;
  /** Why it changes nothing that one can see here. */
  readonly withoutEffect?: string | undefined;
}

const boolean: KnownKey = { kind: 'boolean' };
const integer: KnownKey = { kind: 'integer' };
const text: KnownKey = { kind: 'text' };
const bytes: KnownKey = { kind: 'bytes' };
const triState: KnownKey = { kind: 'tri-state' };
const idle = (kind: ConfValueKind, withoutEffect: string): KnownKey => ({ kind, withoutEffect });

const divided = 'how Spark divides work among its tasks';
const sameRows = 'how fast rows are read, not which';

/** Below `spark.databricks.delta.` (and `tidewater.delta.`). */
const deltaKeys: Readonly<Record<string, KnownKey>> = {
  'schema.autoMerge.enabled': boolean,
  'optimizeWrite.enabled': boolean,
  'optimizeWrite.binSize': bytes,
  'autoCompact.enabled': triState,
  'autoCompact.minNumFiles': integer,
  'autoCompact.maxFileSize': bytes,
  'optimize.maxFileSize': bytes,
  'optimize.minFileSize': bytes,
  'retentionDurationCheck.enabled': boolean,
  'changeDataFeed.timestampOutOfRange.enabled': boolean,
  'changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled': boolean,
  'vacuum.parallelDelete.enabled': idle('boolean', divided),
  'vacuum.logging.enabled': boolean,
  'vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration': boolean,
  'allowArbitraryProperties.enabled': boolean,
  'constraints.assumesDropIfExists.enabled': boolean,
  snapshotPartitions: idle('integer', divided),
  'stats.skipping': idle('boolean', sameRows),
  'stats.collect': boolean,
  'merge.materializeSource': idle('text', 'the source of a MERGE is evaluated once in any case'),
  'commitInfo.userMetadata': text,
  'write.txnAppId': text,
  'write.txnVersion': text,
  'write.txnVersion.autoReset.enabled': boolean,
  'replaceWhere.dataColumns.enabled': boolean,
  'dynamicPartitionOverwrite.enabled': boolean,
  checkLatestSchemaOnRead: boolean,
  allowedLocations: text,
};

/** Below `spark.sql.iceberg.`. */
const icebergKeys: Readonly<Record<string, KnownKey>> = {
  'vectorization.enabled': idle('boolean', sameRows),
  'parquet.reader-type': idle('text', sameRows),
  'check-nullability': idle('boolean', 'values are checked in any case: a NULL in a required column is refused'),
  'check-ordering': idle('boolean', 'columns are found by their names'),
  'planning.preserve-data-grouping': idle('boolean', divided),
  'aggregate-push-down.enabled': idle('boolean', sameRows),
  'distribution-mode': idle('text', divided),
  'locality.enabled': idle('boolean', divided),
  'advisory-partition-size': idle('bytes', divided),
  'data-planning-mode': idle('text', divided),
  'delete-planning-mode': idle('text', divided),
  'executor-cache.enabled': idle('boolean', divided),
  'executor-cache.timeout': idle('text', divided),
  'executor-cache.max-entry-size': idle('bytes', divided),
  'executor-cache.max-total-size': idle('bytes', divided),
  'executor-cache.locality.enabled': idle('boolean', divided),
  'executor-cache.delete-files.enabled': idle('boolean', divided),
  'report-column-stats': idle('boolean', sameRows),
  'merge-schema': boolean,
  'compression-codec': text,
  'compression-level': integer,
  'compression-strategy': text,
};

/** Below `tidewater.`: only this program has them. */
const ownKeys: Readonly<Record<string, KnownKey>> = {
  'engine.memoryLimit': bytes,
  'engine.threads': integer,
  'engine.temporaryDirectory': text,
  'engine.fileCacheSize': bytes,
  'streaming.maxStateGroups': integer,
  'iceberg.allowedLocations': text,
  'files.allowedLocations': text,
  's3.endpoint': text,
  's3.region': text,
  's3.path-style-access': boolean,
  's3.access-key-id': text,
  's3.secret-access-key': text,
  's3.session-token': text,
  's3.request-timeout-ms': integer,
  's3.max-connections': integer,
  's3.checksum-enabled': boolean,
};

/** Where every key is known: another one below the prefix is refused. */
export const keySpaces: readonly { readonly prefix: string; readonly keys: Readonly<Record<string, KnownKey>> }[] = [
  { prefix: 'spark.databricks.delta.', keys: deltaKeys },
  { prefix: 'spark.sql.iceberg.', keys: icebergKeys },
  { prefix: 'tidewater.', keys: ownKeys },
];

/** Begin keys of which the rest is free. */
export const prefixedKeys: readonly string[] = ['spark.databricks.delta.properties.defaults.', 'spark.sql.iceberg.snapshot-property.'];

/** Keys of Spark's own that are read. */
export const sparkKeys: readonly string[] = [
  'spark.app.name',
  'spark.sql.cteRecursionLevelLimit',
  'spark.sql.cteRecursionRowLimit',
  'spark.sql.defaultCatalog',
  'spark.sql.extensions',
  'spark.sql.pivotMaxValues',
  'spark.sql.sources.default',
  'spark.sql.sources.partitionOverwriteMode',
  'spark.sql.streaming.checkpointLocation',
  'spark.sql.warehouse.dir',
  'spark.wap.branch',
  'spark.wap.id',
];

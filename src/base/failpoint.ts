/** Named places in the code where a test may kill, pause or break the process, each a row of docs/spec/failpoints.md. */
export const failpointNames = [
  // Ingest.
  'after-fetch',
  'before-data-file',
  'within-data-files',
  'before-commit',
  'after-dead-letters',
  'commit-applied',
  'before-group-offsets',
  'after-group-offsets',
  // Commits of keyed tables.
  'before-tombstones',
  'after-tombstones',
  'within-key-index',
  'after-key-lookup',
  'after-key-marks',
  // Tables that a template makes.
  'before-table-made',
  'table-made',
  // Commits of Iceberg tables.
  'after-manifests',
  'after-manifest-list',
  'before-swap',
  // Twins.
  'before-twin-commit',
  'after-twin-commit',
  // Kafka transactions, of feeds and of dead letters.
  'before-transaction',
  'within-transaction',
  'before-transaction-end',
  'transaction-end-applied',
  'after-transaction',
  // Compaction.
  'after-compaction-plan',
  'before-compaction-commit',
  'compaction-conflict',
  // Vacuum.
  'before-vacuum-deletes',
  'within-vacuum-deletes',
] as const;
export type FailpointName = (typeof failpointNames)[number];

/** Called at a failpoint; returns at once unless a test armed that name. */
export type Failpoint = (name: FailpointName) => Promise<void>;

/** In production: does nothing. */
export const inertFailpoint: Failpoint = () => Promise.resolve();

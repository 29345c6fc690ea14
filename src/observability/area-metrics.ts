import { fileBuckets, secondsBuckets } from './buckets.ts';
import type { Count, Distribution, InstrumentMaker, Level } from './instruments.ts';
import { createKeyedMetrics, type KeyedMetrics } from './keyed-metrics.ts';

const freshnessBuckets = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 10, 30, 60, 300, 1_800];
const jobSecondsBuckets = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600];
const rowBuckets = [1, 10, 100, 1_000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000];

/**
 * Kafka to batches. The balance holds at any time, for each table:
 * `records_consumed = records_committed + records_dead_lettered + records_filtered + records_in_flight`.
 */
export interface IngestMetrics {
  readonly recordsConsumed: Count<'table' | 'topic'>;
  readonly recordsCommitted: Count<'table'>;
  readonly recordsDeadLettered: Count<'table' | 'reason'>;
  readonly deadLetterTopicsReplaced: Count<'topic'>;
  /**
   * Taken from the topic and, by this reading, neither a row nor a dead letter. `reason`: `skipped-by-policy` (does not fit and the policy
   * says skip), `tombstone`, `truncate`, `message`, `heartbeat`, `transaction` (no row is in it), `filtered` (by the route’s where), `no-elements` (nothing to make rows of), `not-for-table` (a replayed letter that another table rejected), `already-committed` (below the table's offset), `discarded` (its batch was given up before the commit; it is read again).
   */
  readonly recordsFiltered: Count<'table' | 'reason'>;
  /** Of committed batches. */
  readonly membersUnread: Count<'table'>;
  /** Of committed batches, whatever became of the records. */
  readonly expectationsUnmet: Count<'table' | 'expectation'>;
  readonly recordsInFlight: Level<'table'>;
  readonly bytes: Count<'table' | 'topic'>;
  readonly batchesSealed: Count<'table' | 'reason'>;
  readonly bufferBytes: Level<'table'>;
  /** 1 while fetching is held back. */
  readonly paused: Level<'table'>;
  /** Of all tables; what fetches in flight may bring is counted. */
  readonly memoryHeldBytes: Level;
  readonly memorySizeBytes: Level;
  readonly memoryWaiting: Level;
  readonly partitionsAssigned: Level<'table'>;
  readonly consumerLagRecords: Level<'table' | 'topic' | 'partition'>;
  readonly eventLagSeconds: Level<'table'>;
  readonly freshnessSeconds: Distribution<'table'>;
  readonly validThrough: Level<'table'>;
  readonly rebalances: Count<'table'>;
  readonly offsetDiscontinuities: Level<'table'>;
}

/** Batches to table versions. */
export interface CommitMetrics extends KeyedMetrics {
  /** `change`: add-column, widen, relax. */
  readonly schemaChanges: Count<'table' | 'change'>;
  readonly schemaChangesRefused: Count<'table'>;
  /** `phase`: decode, transform, encode, put, commit, resolve. */
  readonly durationSeconds: Distribution<'table' | 'phase'>;
  /** `result`: committed, already-committed, conflicted, unknown, unavailable. */
  readonly commits: Count<'table' | 'by' | 'result'>;
  /** Commits of unknown outcome, by what they turned out to be: own, absent. */
  readonly ambiguous: Count<'table' | 'resolved'>;
  readonly rows: Distribution<'table'>;
  readonly files: Distribution<'table'>;
  readonly bytes: Count<'table'>;
  readonly tableVersion: Level<'table'>;
  readonly tableFiles: Level<'table'>;
  readonly tableSmallFiles: Level<'table'>;
  readonly tableSizeBytes: Level<'table'>;
}

/** Table versions to Kafka. */
export interface FeedMetrics {
  readonly publishedVersion: Level<'table' | 'topic'>;
  readonly lagVersions: Level<'table' | 'topic'>;
  /** `op`: insert, update, delete, snapshot. */
  readonly records: Count<'table' | 'topic' | 'op'>;
  readonly bytes: Count<'table' | 'topic'>;
  /** `result`: committed, aborted, unknown, fenced, refused. */
  readonly transactions: Count<'table' | 'topic' | 'result'>;
  readonly transactionSeconds: Distribution<'table' | 'topic'>;
  readonly snapshotRows: Level<'table' | 'topic'>;
  readonly snapshotTotalRows: Level<'table' | 'topic'>;
  /** 1 for the state the feed is in, 0 for the others. */
  readonly state: Level<'table' | 'topic' | 'state'>;
}

/** Tables that show the files of others. */
export interface TwinMetrics {
  /** Version of the leader that is shown. */
  readonly shownVersion: Level<'table'>;
  readonly lagVersions: Level<'table'>;
  /** `by`: step (one version), comparison (all files). */
  readonly versions: Count<'table' | 'by'>;
  /** 1 for the state the twin is in, 0 for the others. */
  readonly state: Level<'table' | 'state'>;
}

/** Queued jobs. */
export interface MaintenanceMetrics {
  /** `job`: compact, vacuum, checkpoint; `result`: done, nothing-to-do, conflicted, failed, stopped. */
  readonly jobs: Count<'table' | 'job' | 'result'>;
  readonly jobsRefused: Count;
  readonly jobSeconds: Distribution<'job'>;
  /** `direction`: removed, added. */
  readonly bytes: Count<'table' | 'job' | 'direction'>;
  readonly files: Count<'table' | 'job' | 'direction'>;
  /** `state`: waiting, active, delayed, completed, failed. */
  readonly queueJobs: Level<'queue' | 'state'>;
  /** 1 while Redis answers. */
  readonly queueUp: Level;
  /** Of the slowest reader. */
  readonly holdAge: Level<'table'>;
  readonly holdsOver: Level<'table'>;
  readonly holdsReleased: Level<'table'>;
}

/** Requests to the object store. */
export interface StorageMetrics {
  /** `code`: ok, exists, or the error's code. */
  readonly requests: Count<'op' | 'code'>;
  readonly requestSeconds: Distribution<'op'>;
  readonly bytes: Count<'direction'>;
}

/** Of bytes that are fetched and not committed. */
function createBufferMetrics(
  make: InstrumentMaker,
): Pick<IngestMetrics, 'bufferBytes' | 'paused' | 'memoryHeldBytes' | 'memorySizeBytes' | 'memoryWaiting'> {
  const table = ['table'] as const;
  return {
    bufferBytes: make.level({ name: 'ingest_buffer_bytes', help: 'Bytes fetched and not yet committed.', labels: table }),
    paused: make.level({ name: 'ingest_paused', help: '1 while fetching is held back because the buffer is full.', labels: table }),
    memoryHeldBytes: make.level({
      name: 'ingest_memory_held_bytes',
      help: 'Bytes fetched, or about to be, and not yet committed, of all tables.',
      labels: [],
    }),
    memorySizeBytes: make.level({ name: 'ingest_memory_size_bytes', help: 'What of ingest.memory is for such bytes.', labels: [] }),
    memoryWaiting: make.level({
      name: 'ingest_memory_waiting',
      help: 'Readers that fetch nothing because others hold the memory.',
      labels: [],
    }),
  };
}

/** Of how new tables are. */
function createTimeMetrics(make: InstrumentMaker): Pick<IngestMetrics, 'validThrough' | 'freshnessSeconds'> {
  const table = ['table'] as const;
  return {
    validThrough: make.level({
      name: 'ingest_valid_through_timestamp_seconds',
      help: 'The table has every record that could be read before this time, since 1970. Of replicas the largest value counts. Absent until it is known.',
      labels: table,
    }),
    freshnessSeconds: make.distribution(
      { name: 'ingest_freshness_seconds', help: 'From the first fetch of a batch to the version that holds it.', labels: table },
      freshnessBuckets,
    ),
  };
}

export function createIngestMetrics(make: InstrumentMaker): IngestMetrics {
  const table = ['table'] as const;
  const byTopic = ['table', 'topic'] as const;
  const byReason = ['table', 'reason'] as const;
  return {
    recordsConsumed: make.count({ name: 'ingest_records_consumed_total', help: 'Records taken from Kafka.', labels: byTopic }),
    recordsCommitted: make.count({
      name: 'ingest_records_committed_total',
      help: 'Records that are rows of a committed table version.',
      labels: table,
    }),
    recordsDeadLettered: make.count({
      name: 'ingest_records_dead_lettered_total',
      help: 'Records in the dead-letter topic, by why they did not fit.',
      labels: byReason,
    }),
    deadLetterTopicsReplaced: make.count({
      name: 'ingest_dead_letter_topics_replaced_total',
      help: 'Times that the dead-letter topic was found deleted and created again: the letters it held are gone.',
      labels: ['topic'],
    }),
    recordsFiltered: make.count({
      name: 'ingest_records_filtered_total',
      help: 'Records counted and left out: skipped-by-policy, tombstone, truncate, message, heartbeat, transaction (no row in it), filtered (by the route’s where), no-elements (nothing to make rows of), not-for-table (a replayed letter that another table rejected), already-committed, discarded (to be read again).',
      labels: byReason,
    }),
    membersUnread: make.count({ name: 'ingest_members_unread_total', help: 'Members of payloads that no column takes.', labels: table }),
    expectationsUnmet: make.count({
      name: 'ingest_expectations_unmet_total',
      help: 'Records of committed batches that did not meet an expectation of their route, by its name, whatever became of them.',
      labels: ['table', 'expectation'],
    }),
    recordsInFlight: make.level({ name: 'ingest_records_in_flight', help: 'Records consumed whose fate is not settled.', labels: table }),
    bytes: make.count({ name: 'ingest_bytes_total', help: 'Bytes taken from Kafka, compressed as stored there.', labels: byTopic }),
    batchesSealed: make.count({
      name: 'ingest_batches_sealed_total',
      help: 'Batches closed, by what closed them: rows, bytes, age, memory, drain.',
      labels: byReason,
    }),
    ...createBufferMetrics(make),
    partitionsAssigned: make.level({
      name: 'ingest_partitions_assigned',
      help: 'Partitions the consumer group gave this process.',
      labels: table,
    }),
    consumerLagRecords: make.level({
      name: 'consumer_lag_records',
      help: 'Records of the partition that are not fetched yet; after a failure, and while the ingest stands still, that are not in the table. Absent at an offset discontinuity.',
      labels: ['table', 'topic', 'partition'],
    }),
    eventLagSeconds: make.level({
      name: 'event_lag_seconds',
      help: 'Age of the newest record in the newest commit, at the commit.',
      labels: table,
    }),
    ...createTimeMetrics(make),
    rebalances: make.count({ name: 'rebalances_total', help: 'Generations of the consumer group this process saw.', labels: table }),
    offsetDiscontinuities: make.level({
      name: 'ingest_offset_discontinuities',
      help: 'Partitions that stand still because the table’s offset does not fit the topic.',
      labels: table,
    }),
  };
}

export function createCommitMetrics(make: InstrumentMaker): CommitMetrics {
  const table = ['table'] as const;
  return {
    durationSeconds: make.distribution(
      {
        name: 'commit_duration_seconds',
        help: 'Time of each phase of a batch: decode, transform, encode, put, commit, resolve.',
        labels: ['table', 'phase'],
      },
      secondsBuckets,
    ),
    commits: make.count({
      name: 'commits_total',
      help: 'Attempts to commit, by outcome. By: ingest for batches of records, table for maintenance and definitions.',
      labels: ['table', 'by', 'result'],
    }),
    ambiguous: make.count({
      name: 'commit_ambiguous_total',
      help: 'Commits of unknown outcome, by what the log said later: own, absent.',
      labels: ['table', 'resolved'],
    }),
    schemaChanges: make.count({
      name: 'schema_changes_total',
      help: 'Changes of a table that its records called for.',
      labels: [...table, 'change'],
    }),
    schemaChangesRefused: make.count({
      name: 'schema_changes_refused_total',
      help: 'Kinds of values without a place that no change of the table made room for.',
      labels: table,
    }),
    rows: make.distribution({ name: 'commit_rows', help: 'Rows of one commit.', labels: table }, rowBuckets),
    files: make.distribution({ name: 'commit_files', help: 'Data files of one commit.', labels: table }, fileBuckets),
    bytes: make.count({ name: 'commit_bytes_total', help: 'Bytes of committed data files.', labels: table }),
    ...createKeyedMetrics(make),
    tableVersion: make.level({ name: 'table_version', help: 'Newest version seen.', labels: table }),
    tableFiles: make.level({ name: 'table_files', help: 'Live data files.', labels: table }),
    tableSmallFiles: make.level({ name: 'table_small_files', help: 'Live data files far below the compaction target.', labels: table }),
    tableSizeBytes: make.level({ name: 'table_size_bytes', help: 'Bytes of the live data files.', labels: table }),
  };
}

export function createFeedMetrics(make: InstrumentMaker): FeedMetrics {
  const feed = ['table', 'topic'] as const;
  return {
    publishedVersion: make.level({ name: 'cdf_published_version', help: 'Newest version that is published completely.', labels: feed }),
    lagVersions: make.level({ name: 'cdf_lag_versions', help: 'Versions of the table that are not published yet.', labels: feed }),
    records: make.count({ name: 'cdf_records_total', help: 'Change records published, by operation.', labels: [...feed, 'op'] }),
    bytes: make.count({ name: 'cdf_bytes_total', help: 'Bytes of published record batches.', labels: feed }),
    transactions: make.count({ name: 'cdf_txn_total', help: 'Kafka transactions, by how they ended.', labels: [...feed, 'result'] }),
    transactionSeconds: make.distribution(
      { name: 'cdf_txn_duration_seconds', help: 'Time of one Kafka transaction.', labels: feed },
      secondsBuckets,
    ),
    snapshotRows: make.level({
      name: 'cdf_snapshot_rows',
      help: 'Rows of the table that the snapshot of the feed is past; 0 when none is published.',
      labels: feed,
    }),
    snapshotTotalRows: make.level({
      name: 'cdf_snapshot_total_rows',
      help: 'Rows of the table in the snapshot of the feed; 0 when none is published, or nobody knows.',
      labels: feed,
    }),
    state: make.level({ name: 'cdf_state', help: '1 for the state the feed is in, 0 for the others.', labels: [...feed, 'state'] }),
  };
}

export function createTwinMetrics(make: InstrumentMaker): TwinMetrics {
  const table = ['table'] as const;
  return {
    shownVersion: make.level({ name: 'twin_shown_version', help: 'Version of its leader that the twin shows.', labels: table }),
    lagVersions: make.level({ name: 'twin_lag_versions', help: 'Versions of its leader that the twin does not show yet.', labels: table }),
    versions: make.count({
      name: 'twin_versions_total',
      help: 'Versions shown, by how: step (one version), comparison (all files).',
      labels: ['table', 'by'],
    }),
    state: make.level({ name: 'twin_state', help: '1 for the state the twin is in, 0 for the others.', labels: ['table', 'state'] }),
  };
}

export function createMaintenanceMetrics(make: InstrumentMaker): MaintenanceMetrics {
  const byDirection = ['table', 'job', 'direction'] as const;
  return {
    jobs: make.count({
      name: 'maintenance_jobs_total',
      help: 'Jobs run, by result: done, nothing-to-do, conflicted, failed, stopped (the process ended).',
      labels: ['table', 'job', 'result'],
    }),
    jobsRefused: make.count({
      name: 'maintenance_jobs_refused_total',
      help: 'Payloads of the queue that are no jobs, or jobs for tables that are none of this pipeline.',
      labels: [],
    }),
    jobSeconds: make.distribution(
      { name: 'maintenance_job_duration_seconds', help: 'Time of one job.', labels: ['job'] },
      jobSecondsBuckets,
    ),
    bytes: make.count({ name: 'maintenance_bytes_total', help: 'Bytes of files removed and added by jobs.', labels: byDirection }),
    files: make.count({ name: 'maintenance_files_total', help: 'Files removed and added by jobs.', labels: byDirection }),
    queueJobs: make.level({ name: 'queue_jobs', help: 'Jobs in each state of each queue.', labels: ['queue', 'state'] }),
    queueUp: make.level({ name: 'queue_up', help: '1 while Redis answers.', labels: [] }),
    holdAge: make.level({
      name: 'maintenance_hold_age_seconds',
      help: 'Age of the oldest version that a feed or another reader of the table still needs.',
      labels: ['table'],
    }),
    holdsOver: make.level({
      name: 'maintenance_holds_over',
      help: 'Readers that need a version older than `maintenance.feedHold.maxAge`.',
      labels: ['table'],
    }),
    holdsReleased: make.level({
      name: 'maintenance_holds_released',
      help: 'Readers of these that retention does not wait for any more.',
      labels: ['table'],
    }),
  };
}

export function createStorageMetrics(make: InstrumentMaker): StorageMetrics {
  return {
    requests: make.count({
      name: 'storage_requests_total',
      help: 'Requests to the object store, by operation and outcome.',
      labels: ['op', 'code'],
    }),
    requestSeconds: make.distribution(
      { name: 'storage_request_duration_seconds', help: 'Time of one request to the object store.', labels: ['op'] },
      secondsBuckets,
    ),
    bytes: make.count({ name: 'storage_bytes_total', help: 'Bytes read and written.', labels: ['direction'] }),
  };
}

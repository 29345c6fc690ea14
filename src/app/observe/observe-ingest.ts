import { describeError } from '../../base/errors.ts';
import type { CommitObserver } from '../../commit/commit-observer.ts';
import type { EvolutionObserver } from '../../commit/table-evolution.ts';
import type { IngestObserver } from '../../ingest/ingest-observer.ts';
import type { CommitMetrics, IngestMetrics } from '../../observability/area-metrics.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Standstill } from '../../observability/standstill.ts';
import { countRead, countRejected, type StageResult } from '../../protocol/sealed-batch.ts';
import { needText } from '../../protocol/table-needs.ts';
import type { AppliedKeys } from '../../table/keyed.ts';

/** What one table's ingest does, as metrics and log lines. */
export function observeIngest(table: string, metrics: IngestMetrics, logger: Logger): IngestObserver {
  const labels = { table };
  const told = new Map<string, { readonly topic: string; readonly partition: string }>();
  const forgetLag = (of: { readonly topic: string; readonly partition: string }): void => {
    told.delete(placeOf(of));
    metrics.consumerLagRecords.remove({ table, ...of });
  };
  const setLag = ({ topic, partition, lag }: { readonly topic: string; readonly partition: number; readonly lag: bigint }): void => {
    const of = { topic, partition: String(partition) };
    told.set(placeOf(of), of);
    metrics.consumerLagRecords.set(Number(lag), { table, ...of });
  };
  return {
    fetched: (fetched) => {
      metrics.bytes.add(fetched.bytes, { table, topic: fetched.topic });
      setLag(fetched);
    },
    // An ingest that fails again and again fetches nothing: its lag would stay what it was before the first failure.
    placed: setLag,
    sealed: ({ by }) => {
      metrics.batchesSealed.add(1, { table, reason: by });
    },
    visible: ({ freshnessMs, eventLagMs }) => {
      metrics.eventLagSeconds.set(eventLagMs / 1000, labels);
      metrics.freshnessSeconds.observe(freshnessMs / 1000, labels);
    },
    buffered: (bytes) => {
      metrics.bufferBytes.set(bytes, labels);
    },
    paused: (paused) => {
      metrics.paused.set(paused ? 1 : 0, labels);
      logger.debug(paused ? 'fetching paused, the buffer is full' : 'fetching goes on', labels);
    },
    assigned: ({ generation, partitions }) => {
      metrics.rebalances.add(1, labels);
      metrics.partitionsAssigned.set(partitions.length, labels);
      // What another process reads by now is told there.
      const kept = new Set(partitions.map(placeOf));
      for (const [place, of] of told) if (!kept.has(place)) forgetLag(of);
      metrics.offsetDiscontinuities.set(0, labels);
      logger.info('partitions assigned', { table, generation, partitions: partitions.length });
    },
    discontinuity: (entry) => {
      metrics.offsetDiscontinuities.add(1, labels);
      // Nobody knows which records are meant, so nobody knows how many are missing.
      forgetLag({ topic: entry.topic, partition: String(entry.partition) });
      logger.error('offset discontinuity, the partition stands still', { table, code: 'OFFSET_DISCONTINUITY', ...entry });
    },
    state: (state, detail) => {
      logger.info('ingest state', { table, state, detail });
    },
    warning: (message, fields) => {
      logger.warn(message, { table, ...fields });
    },
  };
}

function placeOf({ topic, partition }: { readonly topic: string; readonly partition: number | string }): string {
  return `${topic}:${partition}`;
}

/** One line for each batch, however many there are; values stay out of the log. */
function tellRejects(logger: Logger, { rejects: [first] }: Pick<StageResult, 'rejects'>, facts: Readonly<Record<string, unknown>>): void {
  if (first === undefined) return;
  const { topic, partition, offset, reason, unopened } = first;
  logger.warn('records do not fit the table', { ...facts, topic, partition, offset, until: unopened?.until, reason });
}

function observeTidying(table: string, logger: Logger): Pick<CommitObserver, 'tidied' | 'notTidied'> {
  return {
    tidied: ({ outcome, version, filesRemoved, filesAdded, tookMs }) => {
      const fields = { table, outcome, version, filesRemoved, filesAdded, tookMs: Math.round(tookMs) };
      logger.info('files with many marked rows written anew', fields);
    },
    notTidied: (error) => {
      logger.warn('files with many marked rows not written anew, which is tried again later', { table, err: error });
    },
  };
}

/** What one table's commits do, as metrics and log lines; holds the balance of consumed and settled records. */
export function observeCommits(
  table: string,
  metrics: { readonly ingest: IngestMetrics; readonly commit: CommitMetrics },
  logger: Logger,
  standstill: Standstill,
): CommitObserver {
  const { ingest, commit } = metrics;
  const labels = { table };
  let inFlight = 0;
  const settle = (records: number): void => {
    inFlight -= records;
    ingest.recordsInFlight.set(inFlight, labels);
  };
  return {
    ...observeEvolution(table, commit, logger),
    ...observeTidying(table, logger),
    staged: (result) => {
      for (const [topic, records] of Object.entries(result.recordsByTopic)) ingest.recordsConsumed.add(records, { table, topic });
      settle(-countRead(result));
    },
    committed: ({ version, staged, deadLettered, filtered, commitMs, applied }) => {
      standstill.succeeded();
      settle(countRead(staged));
      ingest.recordsCommitted.add(staged.recordsWithRows, labels);
      if (deadLettered > 0) {
        for (const reject of staged.rejects) ingest.recordsDeadLettered.add(countRejected([reject]), { table, reason: reject.reason });
      }
      tellRejects(logger, staged, { table, version, deadLettered, filtered });
      if (filtered > 0) ingest.recordsFiltered.add(filtered, { table, reason: 'skipped-by-policy' });
      for (const [reason, count] of Object.entries(staged.passedOver)) ingest.recordsFiltered.add(count, { table, reason });
      if (staged.unreadMembers > 0) ingest.membersUnread.add(staged.unreadMembers, { table });
      for (const [expectation, count] of Object.entries(staged.unmet)) ingest.expectationsUnmet.add(count, { table, expectation });
      for (const [phase, durationMs] of Object.entries(phasesOf(staged, commitMs))) {
        commit.durationSeconds.observe(durationMs / 1000, { table, phase });
      }
      commit.rows.observe(staged.rowCount, labels);
      commit.files.observe(staged.files.length, labels);
      commit.bytes.add(
        staged.files.reduce((sum, file) => sum + file.sizeBytes, 0),
        labels,
      );
      if (applied !== undefined) observeKeys(table, applied, commit);
      commit.tableVersion.set(version, labels);
      logger.debug('version committed', { table, version, rows: staged.rowCount, deadLettered, filtered, commitMs });
    },
    discarded: (result, reason) => {
      settle(countRead(result));
      ingest.recordsFiltered.add(countRead(result), { table, reason: 'discarded' });
      logger.info('batch discarded, its records are read again', { table, reason, records: countRead(result) });
    },
    attempt: (result, error) => {
      if (result === 'unavailable') standstill.failed(describeError(error));
      if (result === 'unknown') standstill.failed('it is not known whether a commit has landed');
      commit.commits.add(1, { table, by: 'ingest', result });
      if (result === 'unknown' || result === 'unavailable')
        logger.warn('commit attempt', { table, result, ...(error === undefined ? {} : { err: error }) });
    },
    failed: (error) => {
      standstill.failed(describeError(error));
    },
    resolved: (as) => {
      commit.ambiguous.add(1, { table, resolved: as });
      logger.info('unknown commit outcome resolved', { table, as });
    },
  };
}

function observeKeys(table: string, applied: AppliedKeys, metrics: CommitMetrics): void {
  const { insertedRows, updatedRows, deletedRows, lateKeys, filesLookedAt, lookupMs } = applied;
  for (const [change, rows] of Object.entries({ inserted: insertedRows, updated: updatedRows, deleted: deletedRows, late: lateKeys }))
    metrics.keyedRows.add(rows, { table, change });
  metrics.keyLookupSeconds.observe(lookupMs / 1000, { table });
  metrics.keyLookupFiles.observe(filesLookedAt, { table });
}

function observeEvolution(table: string, metrics: CommitMetrics, logger: Logger): EvolutionObserver {
  return {
    evolved: (need) => {
      metrics.schemaChanges.add(1, { table, change: need.kind });
      logger.info('table changed as its records call for', { table, change: needText(need) });
    },
    notEvolved: (what, why) => {
      metrics.schemaChangesRefused.add(1, { table });
      logger.warn('table has no place for what records have', { table, what, why });
    },
  };
}

function phasesOf({ timings }: StageResult, commitMs: number): Readonly<Record<string, number>> {
  const { decodeMs, transformMs, encodeMs, storeMs } = timings;
  const transform = transformMs === 0 ? {} : { transform: transformMs };
  return { decode: decodeMs, ...transform, encode: encodeMs, put: storeMs, commit: commitMs };
}

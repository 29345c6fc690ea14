import type { FeedObserver } from '../../cdf/feed-observer.ts';
import type { FeedSpec } from '../../cdf/feed-spec.ts';
import type { FeedState } from '../../cdf/feed-state.ts';
import type { FeedMetrics } from '../../observability/area-metrics.ts';
import type { Logger } from '../../observability/logger.ts';

/** What one feed does, as metrics and log lines. */
export function observeFeed(spec: Pick<FeedSpec, 'table' | 'topic'>, metrics: FeedMetrics, logger: Logger): FeedObserver {
  const { table, topic } = spec;
  const labels = { table, topic };
  let current: FeedState | undefined;
  return {
    state: (state) => {
      if (current !== undefined) metrics.state.set(0, { ...labels, state: current });
      metrics.state.set(1, { ...labels, state });
      // Between runs a busy feed moves to and fro: only what an operator cares about is told.
      const routine = (current === 'following' && state === 'publishing') || (current === 'publishing' && state === 'following');
      if (!routine) logger.info('feed state', { ...labels, state });
      current = state;
    },
    published: ({ version, complete, rowsByOperation, recordCount, sizeBytes }) => {
      if (complete) metrics.publishedVersion.set(version, labels);
      metrics.bytes.add(sizeBytes, labels);
      for (const [op, rows] of Object.entries(rowsByOperation)) metrics.records.add(rows, { ...labels, op });
      logger.debug('changes published', { ...labels, version, records: recordCount });
    },
    lag: (versions) => {
      metrics.lagVersions.set(versions, labels);
    },
    transaction: (result, durationMs) => {
      metrics.transactionSeconds.observe(durationMs / 1000, labels);
      metrics.transactions.add(1, { ...labels, result });
    },
    resolved: (as) => {
      logger.info('unknown transaction outcome resolved', { ...labels, as });
    },
    gap: ({ version, policy }) => {
      logger.error('changes of a version are gone', { ...labels, code: 'CDF_GAP', version, policy });
    },
    lost: ({ policy, error }) => {
      logger.error('position of a feed is lost', { ...labels, policy, err: error });
    },
    recovered: ({ version, ordinal }) => {
      logger.warn('position of a feed found in its topic', { ...labels, version, ordinal });
    },
    replaced: ({ policy, error }) => {
      logger.error('topic of a feed was replaced', { ...labels, policy, err: error });
    },
    partitionsAdded: (counts) => {
      logger.warn("a feed's topic has more partitions than its keys are spread over", { ...labels, ...counts });
    },
    tableReplaced: ({ policy, error }) => {
      logger.error('table of a feed was replaced', { ...labels, policy, err: error });
    },
    snapshot: (progress) => {
      metrics.snapshotRows.set(progress?.rows ?? 0, labels);
      metrics.snapshotTotalRows.set(progress?.totalRows ?? 0, labels);
      if (progress === undefined) logger.info('snapshot published', labels);
    },
    retried: (error) => {
      logger.warn('feed step failed and is tried again', { ...labels, err: error });
    },
  };
}

import type { FeedObserver } from '../../src/cdf/feed-observer.ts';
import type { IngestObserver } from '../../src/ingest/ingest-observer.ts';
import type { MaintenanceObserver } from '../../src/maintenance/maintenance-observer.ts';

export const silentFeedObserver: FeedObserver = {
  state: () => undefined,
  published: () => undefined,
  lag: () => undefined,
  transaction: () => undefined,
  resolved: () => undefined,
  gap: () => undefined,
  snapshot: () => undefined,
  lost: () => undefined,
  recovered: () => undefined,
  replaced: () => undefined,
  partitionsAdded: () => undefined,
  tableReplaced: () => undefined,
  retried: () => undefined,
};

export const silentMaintenanceObserver: MaintenanceObserver = {
  queued: () => undefined,
  started: () => undefined,
  finished: () => undefined,
  refused: () => undefined,
  failed: () => undefined,
  stopped: () => undefined,
  health: () => undefined,
  sweepFailed: () => undefined,
};

export const silentIngestObserver: IngestObserver = {
  fetched: () => undefined,
  placed: () => undefined,
  sealed: () => undefined,
  visible: () => undefined,
  buffered: () => undefined,
  paused: () => undefined,
  assigned: () => undefined,
  discontinuity: () => undefined,
  state: () => undefined,
  warning: () => undefined,
};

import type { StorageMetrics } from '../../observability/area-metrics.ts';
import type { StoreRequest } from '../../storage/metered-object-store.ts';

/** Requests of this thread to the object store, as metrics. Worker threads count their own as part of the batch timings. */
export function observeStorage(metrics: StorageMetrics): (request: StoreRequest) => void {
  return ({ op, code, durationMs, bytesRead, bytesWritten }) => {
    metrics.requests.add(1, { op, code });
    metrics.requestSeconds.observe(durationMs / 1000, { op });
    if (bytesRead > 0) metrics.bytes.add(bytesRead, { direction: 'read' });
    if (bytesWritten > 0) metrics.bytes.add(bytesWritten, { direction: 'written' });
  };
}

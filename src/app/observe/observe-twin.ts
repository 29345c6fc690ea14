import { isServiceError } from '../../base/errors.ts';
import type { TwinMetrics } from '../../observability/area-metrics.ts';
import type { Logger } from '../../observability/logger.ts';
import type { TwinObserver, TwinState } from '../../twin/twin-observer.ts';

/** What one twin does, as metrics and log lines. */
export function observeTwin(table: string, metrics: TwinMetrics, logger: Logger): TwinObserver {
  let current: TwinState | undefined;
  return {
    state: (state, error) => {
      if (current !== undefined) metrics.state.set(0, { table, state: current });
      metrics.state.set(1, { table, state });
      current = state;
      const fields = { table, state, ...(error === undefined ? {} : { err: error }) };
      if (state === 'standing') logger.error('twin stands still until somebody acts, its leader goes on', fields);
      else if (state === 'retrying' && isServiceError(error)) logger.warn('twin is tried again', fields);
      else logger.info('twin state', fields);
    },
    shown: (version, whole) => {
      metrics.shownVersion.set(version, { table });
      metrics.versions.add(1, { table, by: whole ? 'comparison' : 'step' });
      logger.debug('version shown', { table, version, whole });
    },
    lag: (versions) => {
      metrics.lagVersions.set(versions, { table });
    },
  };
}

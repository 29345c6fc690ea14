import { expect, it } from 'vitest';
import { observeCommits, observeIngest } from '../../../../src/app/observe/observe-ingest.ts';
import { ServiceError } from '../../../../src/base/errors.ts';
import { type Logger, type LogInput, silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { Standstill } from '../../../../src/observability/standstill.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

/* What is seen of an ingest at night, when it does not go on. */

const metrics = createMetrics({ pipeline: 'demo', version: '1', role: 'all', processMetrics: false });
const standstill = new Standstill({ clock: new SimulatedClock(), boundMs: 1_000 });

function recording(): { readonly logger: Logger; readonly warnings: LogInput[] } {
  const warnings: LogInput[] = [];
  return { warnings, logger: { ...silentLogger, warn: (_, fields = {}) => warnings.push(fields) } };
}

it('a commit attempt that finds its table unreachable is logged with the reason', () => {
  const { logger, warnings } = recording();
  const error = new ServiceError({ code: 'SQL_CATALOG_UNAVAILABLE', kind: 'unavailable', message: 'the catalog does not answer' });
  observeCommits('orders', metrics, logger, standstill).attempt('unavailable', error);
  expect(warnings).toEqual([{ table: 'orders', result: 'unavailable', err: error }]);
});

it('an ingest that starts again after a failure shows the lag of where it starts, not of what it had fetched before', async () => {
  const observer = observeIngest('orders', metrics.ingest, silentLogger);
  observer.fetched({ topic: 'orders', partition: 0, records: 5, bytes: 10, lag: 0n });
  observer.placed({ topic: 'orders', partition: 0, lag: 5n });
  expect(await metrics.exposition()).toContain(
    'tidewater_consumer_lag_records{table="orders",topic="orders",partition="0",pipeline="demo"} 5',
  );
});

it('the lag of a partition that another process reads by now, or of which nobody knows it, is not told any more', async () => {
  const observer = observeIngest('moved', metrics.ingest, silentLogger);
  for (const partition of [0, 1]) observer.placed({ topic: 'orders', partition, lag: 5n });
  observer.placed({ topic: 'orders', partition: 2, lag: 5n });
  observer.discontinuity({ topic: 'orders', partition: 2, detail: 'the topic was made anew', hint: 'decide' });
  observer.assigned({ generation: 2, partitions: [1, 2].map((partition) => ({ topic: 'orders', partition })) });
  const told = (await metrics.exposition()).split('\n').filter((line) => line.startsWith('tidewater_consumer_lag_records{table="moved"'));
  expect(told).toEqual(['tidewater_consumer_lag_records{table="moved",topic="orders",partition="1",pipeline="demo"} 5']);
});

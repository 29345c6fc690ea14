import { expect, it } from 'vitest';
import { observeFeed } from '../../../../src/app/observe/observe-feed.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { FeedHarness } from '../../cdf/feed-harness.ts';

it('a version that takes several transactions counts as published with the last of them', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 0 }] }]);
  await harness.table.commit([{ kind: 'insert', rows: [1, 2, 3, 4, 5].map((id) => ({ id })) }]);
  const metrics = createMetrics({ pipeline: 'demo', version: '1', role: 'all', processMetrics: false });
  const seen: (string | undefined)[] = [];
  const look = async (): Promise<void> => {
    seen.push(/^tidewater_cdf_published_version\{.*\} (\d+)$/m.exec(await metrics.exposition())?.[1]);
  };
  const observer = observeFeed({ table: 'orders', topic: 'cdf.orders' }, metrics.feed, silentLogger);
  const running = harness.start(
    { maxTransactionRows: 2 },
    (name) => (name === 'before-transaction' ? look() : Promise.resolve()),
    observer,
  );
  await running.feed.drain(harness.table.latestVersion);
  await look();
  await running.stop();
  expect(seen).toEqual([undefined, undefined, undefined, '1']);
});

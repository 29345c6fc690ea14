import { StoredFeedWatermarks } from '../cdf/feed-watermarks.ts';
import { PositionStore } from '../cdf/position-store.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import type { Components } from './components.ts';

/** The slowest position of each table's feeds, read from the positions topics: the same answer in every process. */
export function feedWatermarks(components: Pick<Components, 'config' | 'kafka' | 'clock'>): FeedWatermarks {
  const { config, kafka, clock } = components;
  return new StoredFeedWatermarks({
    feeds: config.feeds.map((feed) => ({ ...feed, pipeline: config.pipeline })),
    admin: kafka.admin,
    openStore: (topic) => new PositionStore({ client: kafka, clock, topic }),
  });
}

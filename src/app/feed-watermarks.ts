import { isServiceError } from '../base/errors.ts';
import { StoredFeedWatermarks } from '../cdf/feed-watermarks.ts';
import { PositionStore } from '../cdf/position-store.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';
import type { Components } from './components.ts';

/**
 * The slowest position of each table's feeds, read from the positions topics, and the oldest version that a snapshot of its twin shows, read from the
 * twin: the same answer in every process.
 */
export function feedWatermarks(components: Pick<Components, 'config' | 'kafka' | 'clock' | 'catalog'>): FeedWatermarks {
  const feeds = positionsOfFeeds(components);
  return {
    lowWatermark: async (table) => {
      const needed = [await feeds.lowWatermark(table), await neededByTwin(components, table)].filter((version) => version !== undefined);
      return needed.length === 0 ? undefined : toVersion(Math.min(...needed));
    },
  };
}

/** What a version after the one shown has removed is still shown. A twin that shows nothing yet may be about to show anything. */
async function neededByTwin({ config, catalog }: Pick<Components, 'config' | 'catalog'>, table: string): Promise<Version | undefined> {
  const settings = config.tables.find(({ twinOf }) => twinOf === table);
  if (settings === undefined) return undefined;
  try {
    const shown = await (await catalog.load(settings.name)).twin?.oldestShown();
    return shown === undefined ? toVersion(0) : nextVersion(shown);
  } catch (error) {
    if (isServiceError(error, 'not-found')) return toVersion(0);
    throw error;
  }
}

function positionsOfFeeds(components: Pick<Components, 'config' | 'kafka' | 'clock'>): FeedWatermarks {
  const { config, kafka, clock } = components;
  return new StoredFeedWatermarks({
    feeds: config.feeds.map((feed) => ({ ...feed, pipeline: config.pipeline })),
    admin: kafka.admin,
    openStore: (topic) => new PositionStore({ client: kafka, clock, topic }),
  });
}

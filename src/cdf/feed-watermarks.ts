import type { KafkaAdmin } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import { toVersion, type Version } from '../table/version.ts';
import { firstNeededVersion } from './feed-position.ts';
import { type FeedSpec, feedIdOf } from './feed-spec.ts';
import type { PositionStore } from './position-store.ts';

interface StoredFeedWatermarksParts {
  readonly feeds: readonly FeedSpec[];
  readonly openStore: (topic: string) => Pick<PositionStore, 'readAll'>;
  readonly admin: Pick<KafkaAdmin, 'partitionCount' | 'offsets'>;
}

/**
 * The low watermark of the configured feeds, from the positions topics: what every instance of the service sees, wherever the feeds
 * run. A position may be seen late, never early, so the watermark errs towards keeping.
 */
export class StoredFeedWatermarks implements FeedWatermarks {
  readonly #options: StoredFeedWatermarksParts;

  constructor(options: StoredFeedWatermarksParts) {
    this.#options = options;
  }

  /**
   * The first version one of the table's feeds still has to read. A feed without a position holds what its start asks for: `snapshot`
   * nothing, `earliest` everything; but everything, too, when its topic was published to: then the position is lost, and what the feed still
   * needs is known only when it is found again.
   *
   * @throws ServiceError kind `unavailable` when the broker does not answer: nothing may be deleted then.
   */
  async lowWatermark(table: string): Promise<Version | undefined> {
    const feeds = this.#options.feeds.filter((feed) => feed.table === table);
    const needed: Version[] = [];
    for (const topic of new Set(feeds.map((feed) => feed.positionsTopic))) {
      const positions = await this.#options.openStore(topic).readAll();
      for (const feed of feeds.filter((candidate) => candidate.positionsTopic === topic)) {
        const position = positions.get(feedIdOf(feed))?.stored?.position;
        const lost = position === undefined && (await this.#wasPublishedTo(feed.topic));
        const version = lost ? toVersion(0) : neededBy(feed, position);
        if (version !== undefined) needed.push(version);
      }
    }
    return needed.length === 0 ? undefined : toVersion(Math.min(...needed));
  }

  async #wasPublishedTo(topic: string): Promise<boolean> {
    if ((await this.#options.admin.partitionCount(topic)) === undefined) return false;
    return (await this.#options.admin.offsets(topic)).some(({ latest }) => latest > 0n);
  }
}

function neededBy(feed: FeedSpec, position: FeedPosition | undefined): Version | undefined {
  if (position !== undefined) return firstNeededVersion(position);
  switch (feed.start.kind) {
    case 'snapshot':
      return undefined;
    case 'version':
      return toVersion(feed.start.version);
    case 'earliest':
      return toVersion(0);
  }
}

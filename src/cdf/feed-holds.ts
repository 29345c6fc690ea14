import type { KafkaAdmin } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { RetentionHold } from '../protocol/table-events.ts';
import { toVersion, type Version } from '../table/version.ts';
import { firstNeededVersion } from './feed-position.ts';
import { type FeedSpec, feedIdOf } from './feed-spec.ts';
import type { PositionStore } from './position-store.ts';

interface StoredFeedHoldsParts {
  readonly feeds: readonly FeedSpec[];
  /** Of the pipeline: other readers may have positions there, too. */
  readonly positionsTopic: string;
  readonly openStore: (topic: string) => Pick<PositionStore, 'readAll'>;
  readonly admin: Pick<KafkaAdmin, 'partitionCount' | 'offsets'>;
}

/**
 * What the feeds of a table still need, from the positions topics: what every instance of the service sees, wherever the feeds run. A position
 * may be seen late, never early, so holds err towards keeping.
 */
export class StoredFeedHolds {
  readonly #options: StoredFeedHoldsParts;

  constructor(options: StoredFeedHoldsParts) {
    this.#options = options;
  }

  /**
   * For each feed of the table the first version that it still has to read. A feed without a position holds what its start asks for: `snapshot`
   * nothing, `earliest` everything; but everything, too, when its topic was published to: then the position is lost, and what the feed still
   * needs is known only when it is found again. Positions of the table's identity that are of no feed of the settings are of registered readers, of
   * feeds that were taken out of the settings or of other pipelines: they hold what is behind them until they are dropped.
   *
   * @param tableId `undefined`: the table is not there, and others have nothing to read of it.
   * @throws ServiceError kind `unavailable` when the broker does not answer: nothing may be deleted then.
   */
  async holds(table: string, tableId: string | undefined): Promise<readonly RetentionHold[]> {
    const { positionsTopic, openStore } = this.#options;
    const feeds = this.#options.feeds.filter((feed) => feed.table === table);
    const known = new Set(this.#options.feeds.map(feedIdOf));
    const found: RetentionHold[] = [];
    for (const topic of new Set([positionsTopic, ...feeds.map((feed) => feed.positionsTopic)])) {
      const stored = await openStore(topic).readAll();
      for (const feed of feeds.filter((candidate) => candidate.positionsTopic === topic)) {
        const position = stored.get(feedIdOf(feed))?.stored?.position;
        const lost = position === undefined && (await this.#wasPublishedTo(feed.topic));
        const fromVersion = lost ? toVersion(0) : neededBy(feed, position);
        if (fromVersion !== undefined) found.push({ by: feedIdOf(feed), fromVersion, releasable: true });
      }
      for (const [id, { stored: other }] of stored) {
        if (other === undefined || known.has(id) || other.position.tableId !== tableId) continue;
        found.push({ by: id, fromVersion: firstNeededVersion(other.position), releasable: true });
      }
    }
    return found;
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

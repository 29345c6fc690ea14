import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { EncodedRecordBatch, KafkaClient } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { StoredFeed } from './feed-position.ts';
import { type FeedSpec, feedIdOf, transactionalIdOf } from './feed-spec.ts';
import { ensureFeedTopic, ensurePositionsTopic } from './feed-topics.ts';
import { type FeedAct, PositionStore } from './position-store.ts';
import { recordFormOf } from './record-form.ts';

const transactionTimeoutMs = 60_000;
/** A publisher that opens the feed again in between wins; by then it has read what was stored before. */
const maxAttempts = 5;
const attemptPauseMs = 500;

/** What tells where a feed's records are. */
export type OperatedFeed = Pick<FeedSpec, 'pipeline' | 'table' | 'name' | 'positionsTopic' | 'replicationFactor'>;

interface FeedOperatorParts {
  readonly client: KafkaClient;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * What operators do to feeds, while they are published or not. Each act is one transaction under the feed's own transactional id: whoever
 * publishes the feed is fenced before it, and opens the feed again behind it. So nothing is published between an act and its effect, and no
 * publisher can write its position over the one of a reset.
 */
export class FeedOperator {
  readonly #parts: FeedOperatorParts;

  constructor(parts: FeedOperatorParts) {
    this.#parts = parts;
  }

  /** What is stored of the feeds of a positions topic, by id. */
  stored(positionsTopic: string, signal?: AbortSignal): Promise<ReadonlyMap<string, StoredFeed>> {
    return this.#store(positionsTopic).readAll(signal);
  }

  /** From here on nothing is published, by whichever process, until `resume`. The position stays, and what the feed needs is kept. */
  async pause(feed: OperatedFeed, signal?: AbortSignal): Promise<void> {
    const since = new Date(this.#parts.clock.now()).toISOString();
    await this.#act(feed, 'pause', (store) => [store.encodePause(feedIdOf(feed), since)], signal);
  }

  async resume(feed: OperatedFeed, signal?: AbortSignal): Promise<void> {
    await this.#act(feed, 'resume', (store) => [store.encodePause(feedIdOf(feed), undefined)], signal);
  }

  /**
   * The feed goes on at the position, whatever and however it published: in the form of the settings, over all partitions that its topic has. One that is
   * paused stays so. Makes its topic where that is missing.
   */
  async reset(spec: FeedSpec, position: FeedPosition, signal?: AbortSignal): Promise<void> {
    const as = { ...(await ensureFeedTopic(this.#parts.client.admin, spec)), form: recordFormOf(spec) };
    await this.#act(
      spec,
      'reset',
      (store, positionsTopicId) => [store.encode(feedIdOf(spec), { position, positionsTopicId, ...as })],
      signal,
    );
  }

  /** Says where a reader stands that is no feed; until it is dropped what it still needs is kept. */
  async register(reader: OperatedFeed, position: FeedPosition, signal?: AbortSignal): Promise<void> {
    await this.#act(
      reader,
      'register',
      (store, positionsTopicId) => [store.encode(feedIdOf(reader), { position, positionsTopicId })],
      signal,
    );
  }

  /** All that is stored of a feed is another one's from here on. Whoever publishes it by its old name is fenced, and finds no position. */
  async rename(feed: OperatedFeed, to: OperatedFeed, { stored, pausedSince }: StoredFeed, signal?: AbortSignal): Promise<void> {
    await this.#act(
      feed,
      'rename',
      (store) => [
        ...store.encodeDrop(feedIdOf(feed)),
        ...(stored === undefined ? [] : [store.encode(feedIdOf(to), stored)]),
        ...(pausedSince === undefined ? [] : [store.encodePause(feedIdOf(to), pausedSince)]),
        store.encodeBarrier(feedIdOf(to), this.#parts.ids.uuid(), 'rename'),
      ],
      signal,
    );
  }

  /** Forgets the feed. What it published stays in its topic. */
  async drop(feed: OperatedFeed, signal?: AbortSignal): Promise<void> {
    await this.#act(feed, 'drop', (store) => store.encodeDrop(feedIdOf(feed)), signal);
  }

  #store(topic: string): PositionStore {
    const { client, clock } = this.#parts;
    return new PositionStore({ client, clock, topic });
  }

  async #act(
    feed: OperatedFeed,
    act: FeedAct,
    recordsOf: (store: PositionStore, positionsTopicId: string | undefined) => readonly EncodedRecordBatch[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { client, clock, ids } = this.#parts;
    const { positionsTopic } = feed;
    const positionsTopicId = await ensurePositionsTopic(client.admin, feed);
    const store = this.#store(positionsTopic);
    for (let attempt = 1; ; attempt++) {
      const producer = await client.openTransactional({ transactionalId: transactionalIdOf(feed), transactionTimeoutMs });
      try {
        const barrier = store.encodeBarrier(feedIdOf(feed), ids.uuid(), act);
        const records =
          act === 'drop' || act === 'rename'
            ? [barrier, ...recordsOf(store, positionsTopicId)]
            : [...recordsOf(store, positionsTopicId), barrier];
        const incarnations = new Map(positionsTopicId === undefined ? [] : [[positionsTopic, positionsTopicId]]);
        await producer.publish(records, { incarnations });
        return;
      } catch (error) {
        // The same records once more do no harm: after an act of unknown outcome, too.
        if (attempt === maxAttempts || !isServiceError(error, 'fenced', 'unavailable', 'unknown-outcome')) throw error;
      } finally {
        await producer.close();
      }
      await clock.sleep(attemptPauseMs, signal);
    }
  }
}

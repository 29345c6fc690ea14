import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { EncodedRecordBatch, KafkaClient, KafkaRecord } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import { parsePosition, printPosition, type StoredFeed, type StoredPosition } from './feed-position.ts';

// Longer than brokers let a transaction of another feed stay open (15 minutes at most, 60 seconds as a rule).
const maxBarrierWaitMs = 16 * 60_000;
const barrierPollMs = 50;
const barrierSuffix = '#opened';
const pauseSuffix = '#paused';
const positionsPartition = 0;

/** What an operator does to a feed. */
export type FeedAct = 'pause' | 'resume' | 'reset' | 'rename' | 'drop' | 'register';

/**
 * Positions of all feeds in one compacted topic. A position is written inside the transaction that publishes the rows before it, so
 * that both are visible or none.
 */
export class PositionStore {
  readonly topic: string;
  readonly #client: KafkaClient;
  readonly #clock: Clock;

  constructor(options: { readonly client: KafkaClient; readonly clock: Clock; readonly topic: string }) {
    this.topic = options.topic;
    this.#client = options.client;
    this.#clock = options.clock;
  }

  /** The record that stores a position; to be published in the transaction of the rows. */
  encode(feedId: string, { position, ...as }: StoredPosition): EncodedRecordBatch {
    return this.#record(feedId, printPosition(position, as));
  }

  /**
   * A record to publish right after opening, so that `readBehind` can tell how far it can see. `token` is unique per opening. `act`: it was an
   * operator's, who publishes no rows; whoever publishes the feed opens it again.
   */
  encodeBarrier(feedId: string, token: string, act?: FeedAct): EncodedRecordBatch {
    return this.#record(`${feedId}${barrierSuffix}`, printJson(act === undefined ? { token } : { token, act }));
  }

  /** The record that says that the feed is paused, or not any more. */
  encodePause(feedId: string, since: string | undefined): EncodedRecordBatch {
    return this.#record(`${feedId}${pauseSuffix}`, since === undefined ? undefined : printJson({ since }));
  }

  /** Records after which the topic knows nothing of the feed. */
  encodeDrop(feedId: string): readonly EncodedRecordBatch[] {
    return ['', pauseSuffix, barrierSuffix].map((suffix) => this.#record(`${feedId}${suffix}`, undefined));
  }

  /**
   * What is stored, by feed id, certainly the last that was committed before the barrier. Feeds share the partition, and an open transaction of another feed hides
   * what was committed after it began; so the read goes on until the barrier, which lies behind every older commit, is visible.
   *
   * @throws ServiceError `FEED_POSITION_UNREADABLE` (kind unavailable) when the barrier stays hidden, `FEED_POSITION_INVALID`.
   */
  async readBehind(feedId: string, token: string, signal?: AbortSignal): Promise<ReadonlyMap<string, StoredFeed>> {
    const deadlineMs = this.#clock.monotonicMs() + maxBarrierWaitMs;
    const found = new StoredFeeds();
    let from: bigint | undefined;
    for (;;) {
      for await (const record of this.#records(from, signal)) {
        from = record.offset + 1n;
        const { feedId: of, suffix } = keyOf(record);
        found.add(record);
        if (of === feedId && suffix === barrierSuffix && barrierOf(record)?.token === token) return found.all;
      }
      if (this.#clock.monotonicMs() > deadlineMs) throw unreadable(this.topic, feedId);
      await this.#clock.sleep(barrierPollMs, signal);
    }
  }

  /** The token of the feed's newest opening, as far as it is visible. */
  async newestOpening(feedId: string, signal?: AbortSignal): Promise<string | undefined> {
    let token: string | undefined;
    for await (const record of this.#records(undefined, signal)) {
      const key = keyOf(record);
      if (key.feedId === feedId && key.suffix === barrierSuffix) token = barrierOf(record)?.token;
    }
    return token;
  }

  /** What is stored, by feed id, as far as it is visible; positions may be older than what is reported, none is newer. Empty without a topic. */
  async readAll(signal?: AbortSignal): Promise<ReadonlyMap<string, StoredFeed>> {
    const found = new StoredFeeds();
    if ((await this.#client.admin.partitionCount(this.topic)) === undefined) return found.all;
    for await (const record of this.#records(undefined, signal)) found.add(record);
    return found.all;
  }

  /** The end of the topic as it is now; 0 without a topic. */
  async end(): Promise<bigint> {
    if ((await this.#client.admin.partitionCount(this.topic)) === undefined) return 0n;
    const offsets = await this.#client.admin.offsets(this.topic);
    return offsets.find(({ partition }) => partition === positionsPartition)?.latest ?? 0n;
  }

  /** The feeds that operators acted on in records from an offset on, and where to go on. */
  async actsFrom(from: bigint, signal?: AbortSignal): Promise<{ readonly feedIds: ReadonlySet<string>; readonly until: bigint }> {
    const feedIds = new Set<string>();
    let until = from;
    for await (const record of this.#records(from, signal)) {
      until = record.offset + 1n;
      const { feedId, suffix } = keyOf(record);
      if (suffix === barrierSuffix && barrierOf(record)?.act !== undefined) feedIds.add(feedId);
    }
    return { feedIds, until };
  }

  async *#records(from: bigint | undefined, signal: AbortSignal | undefined): AsyncIterable<KafkaRecord> {
    const offsets = await this.#client.admin.offsets(this.topic);
    const range = offsets.find((entry) => entry.partition === positionsPartition);
    if (range === undefined) return;
    const start = from === undefined || from < range.earliest ? range.earliest : from;
    if (start >= range.latest) return;
    yield* this.#client.readPartition({
      topic: this.topic,
      partition: positionsPartition,
      from: start,
      until: range.latest,
      readCommitted: true,
      signal,
    });
  }

  #record(key: string, value: string | undefined): EncodedRecordBatch {
    const bytes = value === undefined ? undefined : Buffer.from(value, 'utf8');
    const record = { key: Buffer.from(key, 'utf8'), value: bytes, timestampMs: this.#clock.now() };
    return encodeRecordBatch({ topic: this.topic, partition: positionsPartition, records: [record] });
  }
}

/** What records say, the later ones in place of the earlier ones. */
class StoredFeeds {
  readonly #found = new Map<string, StoredFeed>();

  get all(): ReadonlyMap<string, StoredFeed> {
    return this.#found;
  }

  add(record: KafkaRecord): void {
    const { feedId, suffix } = keyOf(record);
    const value = record.value === undefined ? undefined : textOf(record.value);
    const before = this.#found.get(feedId) ?? nothingStored;
    if (suffix === '') this.#set(feedId, { ...before, stored: value === undefined ? undefined : parsePosition(value, feedId) });
    if (suffix === pauseSuffix) this.#set(feedId, { ...before, pausedSince: value === undefined ? undefined : sinceOf(value) });
  }

  #set(feedId: string, now: StoredFeed): void {
    if (now.stored === undefined && now.pausedSince === undefined) this.#found.delete(feedId);
    else this.#found.set(feedId, now);
  }
}

const nothingStored: StoredFeed = { stored: undefined, pausedSince: undefined };

/** What a record is about. No part of a feed's id can hold a hash. */
function keyOf({ key }: KafkaRecord): { readonly feedId: string; readonly suffix: string } {
  const text = textOf(key);
  const hash = text.indexOf('#');
  return hash < 0 ? { feedId: text, suffix: '' } : { feedId: text.slice(0, hash), suffix: text.slice(hash) };
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** `undefined`: the feed was dropped. */
function barrierOf({ value }: KafkaRecord): { readonly token: string | undefined; readonly act: string | undefined } | undefined {
  if (value === undefined) return undefined;
  const root = parseJson(textOf(value), 'opening of a feed');
  const textIn = (name: string): string | undefined => {
    const member = isJsonObject(root) ? root[name] : undefined;
    return typeof member === 'string' ? member : undefined;
  };
  return { token: textIn('token'), act: textIn('act') };
}

function sinceOf(text: string): string {
  const root = parseJson(text, 'pause of a feed');
  const since = isJsonObject(root) ? root['since'] : undefined;
  return typeof since === 'string' ? since : '';
}

function unreadable(topic: string, feedId: string): ServiceError {
  return serviceError.unavailable(
    'FEED_POSITION_UNREADABLE',
    `topic "${topic}": an open transaction hides the position of feed "${feedId}"`,
    { hint: 'look for a transaction that hangs (kafka-transactions.sh find-hanging) and abort it' },
  );
}

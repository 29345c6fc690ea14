import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { EncodedRecordBatch, KafkaClient, KafkaRecord } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { parsePosition, printPosition, type StoredPosition } from './feed-position.ts';

// Longer than brokers let a transaction of another feed stay open (15 minutes at most, 60 seconds as a rule).
const maxBarrierWaitMs = 16 * 60_000;
const barrierPollMs = 50;
const barrierSuffix = '#opened';
const positionsPartition = 0;

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
  encode(feedId: string, { position, ...ids }: StoredPosition): EncodedRecordBatch {
    return this.#record(feedId, printPosition(position, ids));
  }

  /** A record to publish right after opening, so that `readBehind` can tell how far it can see. `token` is unique per opening. */
  encodeBarrier(feedId: string, token: string): EncodedRecordBatch {
    return this.#record(`${feedId}${barrierSuffix}`, printJson({ token }));
  }

  /**
   * The feed's position, certainly the last committed one. Feeds share the partition, and an open transaction of another feed hides
   * what was committed after it began; so the read goes on until the barrier, which lies behind every older commit, is visible.
   *
   * @throws ServiceError `FEED_POSITION_UNREADABLE` (kind unavailable) when the barrier stays hidden, `FEED_POSITION_INVALID`.
   */
  async readBehind(feedId: string, token: string, signal?: AbortSignal): Promise<StoredPosition | undefined> {
    const deadlineMs = this.#clock.monotonicMs() + maxBarrierWaitMs;
    const barrierKey = `${feedId}${barrierSuffix}`;
    let position: StoredPosition | undefined;
    let from: bigint | undefined;
    for (;;) {
      for await (const record of this.#records(from, signal)) {
        from = record.offset + 1n;
        const key = textOf(record.key);
        if (key === feedId) position = record.value === undefined ? undefined : parsePosition(textOf(record.value), feedId);
        if (key === barrierKey && tokenOf(record) === token) return position;
      }
      if (this.#clock.monotonicMs() > deadlineMs) throw unreadable(this.topic, feedId);
      await this.#clock.sleep(barrierPollMs, signal);
    }
  }

  /** The token of the feed's newest opening, as far as it is visible. */
  async newestOpening(feedId: string, signal?: AbortSignal): Promise<string | undefined> {
    let token: string | undefined;
    for await (const record of this.#records(undefined, signal)) {
      if (textOf(record.key) === `${feedId}${barrierSuffix}`) token = tokenOf(record);
    }
    return token;
  }

  /** Positions by feed id as far as they are visible; none may be older than what is reported. Empty without a topic. */
  async readAll(signal?: AbortSignal): Promise<ReadonlyMap<string, FeedPosition>> {
    const positions = new Map<string, FeedPosition>();
    if ((await this.#client.admin.partitionCount(this.topic)) === undefined) return positions;
    for await (const record of this.#records(undefined, signal)) {
      const key = textOf(record.key);
      if (key.endsWith(barrierSuffix)) continue;
      if (record.value === undefined) positions.delete(key);
      else positions.set(key, parsePosition(textOf(record.value), key).position);
    }
    return positions;
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

  #record(key: string, value: string): EncodedRecordBatch {
    const record = { key: Buffer.from(key, 'utf8'), value: Buffer.from(value, 'utf8'), timestampMs: this.#clock.now() };
    return encodeRecordBatch({ topic: this.topic, partition: positionsPartition, records: [record] });
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function tokenOf(record: KafkaRecord): string | undefined {
  const root = parseJson(textOf(record.value), 'barrier of a feed');
  const token = isJsonObject(root) ? root['token'] : undefined;
  return typeof token === 'string' ? token : undefined;
}

function unreadable(topic: string, feedId: string): ServiceError {
  return serviceError.unavailable(
    'FEED_POSITION_UNREADABLE',
    `topic "${topic}": an open transaction hides the position of feed "${feedId}"`,
    { hint: 'look for a transaction that hangs (kafka-transactions.sh find-hanging) and abort it' },
  );
}

import { printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import type { KafkaAdmin } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { FeedSpec } from './feed-spec.ts';
import { type FeedRun, standingRun } from './run-preparer.ts';

/** Says of a feed at rest, at an interval, up to which version everything is published: its consumers learn that the table is quiet. */
export class Heartbeat {
  readonly #spec: FeedSpec;
  readonly #clock: Clock;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(spec: FeedSpec, clock: Clock) {
    this.#spec = spec;
    this.#clock = clock;
  }

  /** Makes the topic where the feed has heartbeats and it is missing. */
  async ensureTopic(admin: KafkaAdmin): Promise<void> {
    const { heartbeatIntervalMs, heartbeatTopic: topic, replicationFactor } = this.#spec;
    if (heartbeatIntervalMs === undefined) return;
    await admin.ensureTopics([{ topic, partitions: 1, replicationFactor, config: { 'cleanup.policy': 'compact' } }]);
  }

  /** A transaction of the feed is through: consumers have heard of it. */
  heard(): void {
    this.#lastMs = this.#clock.monotonicMs();
  }

  isDue(): boolean {
    const { heartbeatIntervalMs } = this.#spec;
    return heartbeatIntervalMs !== undefined && this.#clock.monotonicMs() - this.#lastMs >= heartbeatIntervalMs;
  }

  /** The heartbeat of a feed that stands at the end of its table: a run without rows. */
  run(position: FeedPosition): FeedRun {
    const { pipeline, table, name, topic, heartbeatTopic } = this.#spec;
    const nowMs = this.#clock.now();
    const key = printJson({ serverName: pipeline, table, feed: name });
    const value = printJson({ ts_ms: nowMs, topic, version: position.version });
    const record = { key: Buffer.from(key), value: Buffer.from(value), timestampMs: nowMs };
    const batch = encodeRecordBatch({ topic: heartbeatTopic, partition: 0, records: [record] });
    return { ...standingRun(position), batches: [batch] };
  }
}

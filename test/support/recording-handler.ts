import { vi } from 'vitest';
import type {
  ConsumerHandler,
  FetchedPartition,
  KafkaRecord,
  PartitionOffsets,
  StartPosition,
  TopicPartition,
  TopicsChange,
} from '../../src/kafka/client.ts';
import { decodeRecords } from '../../src/kafka/records/record-batch.ts';

/** A fetch as a test wants to look at it: with its records decoded. */
export interface SeenFetch extends TopicPartition {
  readonly topicId: string;
  readonly fetchOffset: bigint;
  readonly untilOffset: bigint;
  readonly highWatermark: bigint;
  readonly records: readonly KafkaRecord[];
}

/** A consumer handler that writes down what it is told, in order, and starts where `startAt` says (default: offset 0). */
export class RecordingHandler implements ConsumerHandler {
  readonly events: string[] = [];
  readonly fetches: SeenFetch[] = [];
  readonly failures: unknown[] = [];
  readonly outOfRange: { readonly position: StartPosition; readonly held: PartitionOffsets }[] = [];
  readonly changes: TopicsChange[] = [];
  assigned: readonly TopicPartition[] = [];
  startAt: (at: TopicPartition) => Promise<bigint | undefined> | bigint | undefined = () => 0n;

  async onAssigned(partitions: readonly TopicPartition[], generation: number): Promise<readonly StartPosition[]> {
    this.events.push(`assigned ${generation}`);
    this.assigned = partitions;
    const positions: StartPosition[] = [];
    for (const at of partitions) {
      const offset = await this.startAt(at);
      if (offset !== undefined) positions.push({ ...at, offset });
    }
    this.events.push(`ready ${generation}`);
    return positions;
  }

  onRevoked(generation: number): Promise<void> {
    this.events.push(`revoked ${generation}`);
    return Promise.resolve();
  }

  onFetched(fetched: FetchedPartition): void {
    const records = fetched.batches
      .flatMap((batch) => decodeRecords(batch.bytes, fetched, { verifyCrc: batch.checked !== true }))
      .filter((record) => record.offset >= fetched.fetchOffset);
    const { topic, topicId, partition, fetchOffset, untilOffset, highWatermark } = fetched;
    this.events.push(`fetched ${topic}/${partition} ${String(fetchOffset)}-${String(untilOffset)}`);
    this.fetches.push({ topic, topicId, partition, fetchOffset, untilOffset, highWatermark, records });
  }

  onTopicsChanged(change: TopicsChange): Promise<void> {
    this.events.push('topics changed');
    this.changes.push(change);
    return Promise.resolve();
  }

  onOutOfRange(position: StartPosition, held: PartitionOffsets): void {
    this.events.push('out-of-range');
    this.outOfRange.push({ position, held });
  }

  onFailed(error: unknown): void {
    this.events.push('failed');
    this.failures.push(error);
  }

  /** The text of all values seen, in the order of arrival. */
  values(): readonly string[] {
    return this.fetches.flatMap((fetch) => fetch.records.map((record) => Buffer.from(record.value ?? []).toString()));
  }
}

/** Waits until `check` holds; fails with its own message after `timeoutMs`. */
export async function until(check: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
  await vi.waitFor(
    () => {
      if (!check()) throw new Error(`still waiting until ${what}`);
    },
    { timeout: timeoutMs, interval: 10 },
  );
}

import type { FetchedPartition } from '../kafka/client.ts';
import type { BatchRange, PackedRecordBatch, SealedBatch } from '../protocol/sealed-batch.ts';
import type { ReadFrom } from './start-positions.ts';

const initialBytes = 1 << 20;

/** Where one partition's part of the batches stands. */
interface PartitionTrack {
  /** First offset that is in no sealed batch. */
  from: bigint;
  /** First offset that was not fetched. */
  until: bigint;
  readonly topicId: string;
  readonly writerId: string;
  expectedMark: bigint | undefined;
  hasRecords: boolean;
}

/**
 * Packs fetched record batches of one table into one growing buffer. Copies bytes; parses nothing. Knows for each partition what
 * the sealed batches cover, so that consecutive batches join without gap or overlap.
 */
export class BatchBuilder {
  readonly #table: string;
  readonly #partitions = new Map<string, PartitionTrack>();
  #buffer = new ArrayBuffer(initialBytes);
  #view = new Uint8Array(this.#buffer);
  #recordBatches: PackedRecordBatch[] = [];
  #byteCount = 0;
  /** The size of the batch sealed last and an eighth: under load the next one needs as much, and growing straight to it saves copying. */
  #usualBytes = 0;
  #recordCount = 0;
  #sequence = 0;
  #openedAtMs: number | undefined;
  #maxTimestampMs = 0;

  constructor(table: string) {
    this.#table = table;
  }

  get byteCount(): number {
    return this.#byteCount;
  }

  get recordCount(): number {
    return this.#recordCount;
  }

  /** When the first bytes of the open batch arrived, `Clock.monotonicMs`; `undefined` while it is empty. */
  get openedAtMs(): number | undefined {
    return this.#openedAtMs;
  }

  /** Forgets everything that is not sealed and starts anew at these positions. */
  reset(positions: readonly ReadFrom[]): void {
    this.#partitions.clear();
    for (const { topic, partition, offset, topicId, writerId, expectedMark } of positions) {
      const track = { from: offset, until: offset, topicId, writerId, expectedMark, hasRecords: false };
      this.#partitions.set(keyOf(topic, partition), track);
    }
    this.#clearBatch();
  }

  /** Where the next fetch of the partition must have started, and in which incarnation; `undefined` when the partition is not ours. */
  next(topic: string, partition: number): { readonly offset: bigint; readonly topicId: string } | undefined {
    const track = this.#partitions.get(keyOf(topic, partition));
    return track === undefined ? undefined : { offset: track.until, topicId: track.topicId };
  }

  /** Adds what `fetched` brought; its `fetchOffset` must be what `next` says. */
  append(fetched: FetchedPartition, nowMs: number): void {
    const track = this.#partitions.get(keyOf(fetched.topic, fetched.partition));
    if (track === undefined) return;
    let from = track.until;
    for (const batch of fetched.batches) {
      // What was divided may come in several batches of the same offsets.
      if (batch.untilOffset !== track.until) from = track.until;
      if (batch.untilOffset <= from || batch.recordCount === 0) continue;
      this.#recordBatches.push({
        topic: fetched.topic,
        partition: fetched.partition,
        start: this.#byteCount,
        end: this.#byteCount + batch.bytes.byteLength,
        fromOffset: from,
        ...(batch.unmatched === true ? { unmatched: true } : {}),
        ...(batch.checked === true ? { checked: true } : {}),
      });
      this.#copy(batch.bytes);
      this.#recordCount += batch.recordCount;
      track.until = batch.untilOffset;
      track.hasRecords = true;
      this.#openedAtMs ??= nowMs;
      this.#maxTimestampMs = Math.max(this.#maxTimestampMs, batch.maxTimestampMs);
    }
    if (fetched.untilOffset > track.until) track.until = fetched.untilOffset;
  }

  /** Offsets have passed since the last batch, in which no record was. */
  get hasPassed(): boolean {
    return this.#openedAtMs === undefined && [...this.#partitions.values()].some(({ from, until }) => until > from);
  }

  /**
   * Closes the open batch; `undefined` when nothing is in it. The buffer belongs to the caller from here on.
   *
   * @param passedAtMs when given, offsets in which no record was are a batch too, opened then.
   */
  seal(sealedBy: SealedBatch['sealedBy'], passedAtMs?: number): SealedBatch | undefined {
    const openedAtMs = this.#openedAtMs ?? (this.hasPassed ? passedAtMs : undefined);
    if (openedAtMs === undefined) return undefined;
    const ranges: BatchRange[] = [];
    for (const [key, track] of this.#partitions) {
      const { from, until, writerId, expectedMark } = track;
      // Where reading began is stored with the first commit of any partition: one that stays idle may lose records before it has others.
      if (!track.hasRecords && expectedMark === from && (passedAtMs === undefined || until === from)) continue;
      ranges.push({ ...parseKey(key), from, until, writerId, expectedMark });
      track.from = track.until;
      track.expectedMark = track.until;
      track.hasRecords = false;
    }
    const batch: SealedBatch = {
      table: this.#table,
      sequence: this.#sequence++,
      bytes: this.#buffer,
      recordBatches: this.#recordBatches,
      ranges,
      recordCount: this.#recordCount,
      maxTimestampMs: this.#maxTimestampMs,
      sealedBy,
      openedAtMs,
    };
    this.#usualBytes = this.#byteCount + (this.#byteCount >> 3);
    this.#buffer = new ArrayBuffer(initialBytes);
    this.#view = new Uint8Array(this.#buffer);
    this.#clearBatch();
    return batch;
  }

  #clearBatch(): void {
    this.#recordBatches = [];
    this.#byteCount = 0;
    this.#recordCount = 0;
    this.#maxTimestampMs = 0;
    this.#openedAtMs = undefined;
  }

  #copy(bytes: Uint8Array): void {
    const needed = this.#byteCount + bytes.byteLength;
    if (needed > this.#view.byteLength) {
      const larger = new ArrayBuffer(Math.max(needed, this.#view.byteLength * 2, this.#usualBytes));
      const view = new Uint8Array(larger);
      view.set(this.#view.subarray(0, this.#byteCount));
      this.#buffer = larger;
      this.#view = view;
    }
    this.#view.set(bytes, this.#byteCount);
    this.#byteCount = needed;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${partition}:${topic}`;
}

function parseKey(key: string): { readonly topic: string; readonly partition: number } {
  const colon = key.indexOf(':');
  return { topic: key.slice(colon + 1), partition: Number(key.slice(0, colon)) };
}

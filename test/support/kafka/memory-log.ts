import type { EpochMs } from '../../../src/base/clock.ts';
import { toEpochMs } from '../../../src/base/clock.ts';
import type { RawRecordBatch } from '../../../src/kafka/client.ts';
import { type BatchHeader, batchField, batchFlag, readBatchHeader } from '../../../src/kafka/records/batch-header.ts';
import { crc32c } from '../../../src/kafka/records/crc32c.ts';
import { RecordBatchBuilder, stampRecordBatch } from '../../../src/kafka/records/record-batch-builder.ts';

interface StoredBatch {
  readonly header: BatchHeader;
  readonly bytes: Uint8Array;
}

/** Outcome of reading a log from an offset. */
export type LogRead =
  | { readonly kind: 'out-of-range'; readonly earliest: bigint; readonly latest: bigint }
  | { readonly kind: 'read'; readonly batches: readonly RawRecordBatch[]; readonly untilOffset: bigint; readonly highWatermark: bigint };

/** One partition of the memory broker: record batches in offset order, with open and aborted transactions. */
export class MemoryLog {
  #batches: StoredBatch[] = [];
  #earliest = 0n;
  #next = 0n;
  /** First offset of each producer's open transaction. */
  readonly #open = new Map<bigint, bigint>();
  /** Per producer the `[from, until)` ranges it aborted. */
  readonly #aborted: { readonly producerId: bigint; readonly from: bigint; readonly until: bigint }[] = [];

  get earliest(): bigint {
    return this.#earliest;
  }

  /** The offset the next record gets. */
  get next(): bigint {
    return this.#next;
  }

  /** What a read_committed reader sees the end as: the first open transaction hides everything from its start. */
  get lastStable(): bigint {
    let stable = this.#next;
    for (const from of this.#open.values()) if (from < stable) stable = from;
    return stable;
  }

  /** Where the first batch begins that has a record of that time or later; the end of the log without one. */
  firstSince(sinceMs: number): bigint {
    const found = this.#batches.find(({ header }) => header.maxTimestampMs >= sinceMs)?.header.baseOffset ?? this.#next;
    return found > this.#earliest ? found : this.#earliest;
  }

  /** Stores a copy of the batch at the end and resolves its base offset. */
  append(bytes: Uint8Array): bigint {
    const stored = new Uint8Array(bytes);
    const baseOffset = this.#next;
    new DataView(stored.buffer).setBigInt64(batchField.baseOffset, baseOffset);
    const header = readBatchHeader(stored);
    this.#batches.push({ header, bytes: stored });
    this.#next = header.lastOffset + 1n;
    if (header.transactional && !this.#open.has(header.producerId)) this.#open.set(header.producerId, baseOffset);
    return baseOffset;
  }

  /** Writes the marker that ends a producer's transaction here; nothing when it wrote nothing. */
  endTransaction(producer: { readonly producerId: bigint; readonly producerEpoch: number }, committed: boolean, now: EpochMs): void {
    const from = this.#open.get(producer.producerId);
    if (from === undefined) return;
    this.#open.delete(producer.producerId);
    if (!committed) this.#aborted.push({ producerId: producer.producerId, from, until: this.#next });
    this.#batches.push(this.#marker(producer, committed, now));
    this.#next += 1n;
  }

  /** Forgets records below `offset`, as retention does; batches go as a whole. */
  deleteBefore(offset: bigint): void {
    const until = offset < this.#next ? offset : this.#next;
    if (until <= this.#earliest) return;
    this.#earliest = until;
    this.#batches = this.#batches.filter((batch) => batch.header.lastOffset >= until);
  }

  /** Whole batches from the one that holds `from`, at least one, then as many as fit `maxBytes`. */
  read(from: bigint, options: { readonly readCommitted: boolean; readonly maxBytes: number }): LogRead {
    const end = options.readCommitted ? this.lastStable : this.#next;
    if (from < this.#earliest || from > this.#next) return { kind: 'out-of-range', earliest: this.#earliest, latest: end };
    const batches: RawRecordBatch[] = [];
    let untilOffset = from;
    let bytesLeft = options.maxBytes;
    for (const batch of this.#batches.slice(this.#indexOf(from))) {
      if (batch.header.baseOffset >= end || (bytesLeft < batch.bytes.length && untilOffset > from)) break;
      bytesLeft -= batch.bytes.length;
      untilOffset = batch.header.lastOffset + 1n;
      if (!batch.header.control && !(options.readCommitted && this.#isAborted(batch.header))) batches.push(toRaw(batch));
    }
    return { kind: 'read', batches, untilOffset, highWatermark: end };
  }

  /** Index of the first batch that ends at or after `offset`. */
  #indexOf(offset: bigint): number {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const batch = this.#batches[middle];
      if (batch !== undefined && batch.header.lastOffset < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isAborted(header: BatchHeader): boolean {
    return (
      header.transactional &&
      this.#aborted.some(
        (range) => range.producerId === header.producerId && header.baseOffset >= range.from && header.baseOffset < range.until,
      )
    );
  }

  #marker(producer: { readonly producerId: bigint; readonly producerEpoch: number }, committed: boolean, now: EpochMs): StoredBatch {
    const builder = new RecordBatchBuilder();
    // Control record key: version 0, type 0 (abort) or 1 (commit); value: version 0, coordinator epoch 0.
    builder.append({ key: Uint8Array.of(0, 0, 0, committed ? 1 : 0), value: new Uint8Array(6), timestampMs: now });
    const { bytes } = builder.finish();
    stampRecordBatch(bytes, { ...producer, baseSequence: -1, transactional: true });
    const view = new DataView(bytes.buffer);
    view.setInt16(batchField.attributes, batchFlag.transactional | batchFlag.control);
    view.setBigInt64(batchField.baseOffset, this.#next);
    view.setUint32(batchField.crc, crc32c(bytes, batchField.attributes));
    return { header: readBatchHeader(bytes), bytes };
  }
}

function toRaw(batch: StoredBatch): RawRecordBatch {
  return {
    baseOffset: batch.header.baseOffset,
    untilOffset: batch.header.lastOffset + 1n,
    recordCount: batch.header.recordCount,
    maxTimestampMs: toEpochMs(batch.header.maxTimestampMs),
    bytes: batch.bytes,
  };
}

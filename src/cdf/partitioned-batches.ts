import { present } from '../base/assert.ts';
import type { EncodedRecordBatch } from '../kafka/client.ts';
import { RecordBatchBuilder } from '../kafka/records/record-batch-builder.ts';
import type { EncodeSpec } from '../protocol/change-event.ts';
import type { RecordBuffer } from './encoding/record-buffer.ts';

/** A batch is closed at this size before compression: well below what brokers take by default (1 MiB). */
export const maxRecordBatchBytes: number = 512 * 1024;

/** Collects records by partition, in order, into record batches. */
export class PartitionedBatches {
  readonly #spec: EncodeSpec;
  readonly #builders: readonly RecordBatchBuilder[];
  readonly #closed: EncodedRecordBatch[][];
  #sizeBytes = 0;

  constructor(spec: EncodeSpec) {
    this.#spec = spec;
    this.#builders = Array.from({ length: spec.partitions }, () => new RecordBatchBuilder({ compression: spec.compression }));
    this.#closed = Array.from({ length: spec.partitions }, () => []);
  }

  /** Bytes of keys and values so far, before compression. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Appends a record that lies in `text`: the key in `[0, keyEnd)`, the value after it; -1 for null. */
  append(
    text: RecordBuffer,
    record: {
      readonly partition: number;
      readonly keyEnd: number;
      readonly valueEnd: number;
      readonly timestampMs: number;
      readonly headers: Uint8Array;
    },
  ): void {
    const builder = present(this.#builders[record.partition], `partition ${record.partition} exists`);
    const size = Math.max(record.keyEnd, record.valueEnd, 0);
    if (builder.recordCount > 0 && builder.sizeBytes + size > maxRecordBatchBytes) this.#close(record.partition);
    builder.appendRanges(text.bytes, {
      keyStart: record.keyEnd < 0 ? -1 : 0,
      keyEnd: record.keyEnd,
      valueStart: record.valueEnd < 0 ? -1 : Math.max(0, record.keyEnd),
      valueEnd: record.valueEnd,
      timestampMs: record.timestampMs,
      headers: record.headers,
    });
    this.#sizeBytes += size;
  }

  /** All batches: by partition, in each partition in order. */
  finish(): readonly EncodedRecordBatch[] {
    for (const partition of this.#builders.keys()) this.#close(partition);
    return this.#closed.flat();
  }

  #close(partition: number): void {
    const builder = this.#builders[partition];
    if (builder === undefined || builder.recordCount === 0) return;
    this.#closed[partition]?.push({ topic: this.#spec.topic, partition, ...builder.finish() });
  }
}

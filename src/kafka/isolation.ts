import { toEpochMs } from '../base/clock.ts';
import type { RawRecordBatch } from './client.ts';
import { splitRecordBatches } from './records/batch-header.ts';
import { RecordCursor } from './records/record-cursor.ts';

/** A transaction that a fetch response names as aborted. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

/** What a reader may see of the record batches of a fetch response. */
export interface VisibleBatches {
  readonly batches: readonly RawRecordBatch[];
  /** After the last whole batch, visible or not; `undefined` without one. */
  readonly untilOffset: bigint | undefined;
}

/**
 * Leaves out markers and the batches of aborted transactions. A transaction counts as aborted from its first offset until its abort marker; the
 * broker names those that reach into the response.
 *
 * @throws ServiceError as `splitRecordBatches` and `RecordCursor`.
 */
export function visibleBatches(records: Uint8Array, aborted: readonly AbortedTransaction[]): VisibleBatches {
  const waiting = [...aborted].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const aborting = new Set<bigint>();
  const batches: RawRecordBatch[] = [];
  let untilOffset: bigint | undefined;
  for (const { header, bytes } of splitRecordBatches(records)) {
    untilOffset = header.lastOffset + 1n;
    for (let next = waiting[0]; next !== undefined && next.firstOffset <= header.lastOffset; next = waiting[0]) {
      aborting.add(next.producerId);
      waiting.shift();
    }
    if (header.control) {
      if (isAbortMarker(bytes)) aborting.delete(header.producerId);
      continue;
    }
    if (header.transactional && aborting.has(header.producerId)) continue;
    batches.push({
      baseOffset: header.baseOffset,
      untilOffset,
      recordCount: header.recordCount,
      maxTimestampMs: toEpochMs(header.maxTimestampMs),
      bytes,
    });
  }
  return { batches, untilOffset };
}

/** Key of a control record: version, then type as 16 bits each; type 0 aborts, 1 commits. */
function isAbortMarker(batch: Uint8Array): boolean {
  const cursor = new RecordCursor(batch);
  const key = cursor.next() ? cursor.key() : undefined;
  return key !== undefined && key.length >= 4 && key[2] === 0 && key[3] === 0;
}

import type { FetchedPartition, RawRecordBatch } from '../../kafka/client.ts';
import type { BatchSpan, DividedPart } from '../../protocol/division.ts';

/** What one fetch brought, with bytes of its own. */
export interface FetchedPart {
  readonly fetched: FetchedPartition;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly spans: readonly BatchSpan[];
}

/** Copies what may be overwritten after the call. */
export function ownPart(fetched: FetchedPartition): FetchedPart {
  const length = fetched.batches.reduce((sum, batch) => sum + batch.bytes.length, 0);
  const bytes = new Uint8Array(length);
  const spans: BatchSpan[] = [];
  const batches: RawRecordBatch[] = [];
  let start = 0;
  for (const batch of fetched.batches) {
    const end = start + batch.bytes.length;
    bytes.set(batch.bytes, start);
    spans.push({ start, end });
    batches.push({ ...batch, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return { fetched: { ...fetched, batches }, bytes, spans };
}

/** What one table takes of it, as if it had been fetched for that table alone from `fetchOffset` on. */
export function partOf({ fetched }: FetchedPart, fetchOffset: bigint, divided: DividedPart | undefined): FetchedPartition {
  if (divided === undefined) return { ...fetched, fetchOffset };
  const batches = divided.batches.flatMap(({ source, start, end, recordCount, unmatched, checked }): readonly RawRecordBatch[] => {
    const whole = fetched.batches[source];
    if (whole === undefined) return [];
    const bytes = divided.bytes.subarray(start, end);
    return [{ ...whole, recordCount, bytes, ...(unmatched ? { unmatched } : {}), ...(checked ? { checked } : {}) }];
  });
  return { ...fetched, fetchOffset, batches };
}

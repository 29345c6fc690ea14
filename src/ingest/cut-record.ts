import { createHash } from 'node:crypto';
import type { OutgoingRecord } from '../kafka/client.ts';
import { encodeHeaders } from '../kafka/records/record-batch-builder.ts';
import type { CutPart, RejectedRecord } from '../protocol/sealed-batch.ts';

/** Rejected records above this size are cut where they are found: whole they would cross threads, and every reader of dead letters would hold them. */
export const maxWholeBytes: number = 16 * 1024 * 1024;
/** What is left of them: as much as brokers take by default. */
const keptBytes = 1024 * 1024;
/** The share of the room that a key, and the headers, may take of a record that is cut. */
const keyShare = 1 / 4;

/** Bytes of the record's own content. */
export function contentBytes({ key, value, headers = [] }: Pick<OutgoingRecord, 'key' | 'value' | 'headers'>): number {
  const ofHeaders = headers.reduce((sum, [name, content]) => sum + 3 * name.length + content.length + headerOverheadBytes, 0);
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders;
}

const headerOverheadBytes = 10;

/** The record, without most of its content when it is larger than `maxWholeBytes`. The bytes it holds are views. */
export function cutIfHuge(reject: RejectedRecord): RejectedRecord {
  return contentBytes(reject) <= maxWholeBytes ? reject : cutToRoom(reject, keptBytes);
}

/**
 * As much of the record as fits `room` bytes: headers go as a whole, the key and the value lose their end, and what each of them was is said in
 * `cut`. A part that had been cut before keeps the size and hash of the whole.
 */
export function cutToRoom(reject: RejectedRecord, room: number): RejectedRecord {
  const cut = new Map<CutPart['part'], CutPart>((reject.cut ?? []).map((each) => [each.part, each]));
  const shorten = (part: 'key' | 'value', bytes: Uint8Array | undefined, left: number): Uint8Array | undefined => {
    if (bytes === undefined || bytes.length <= left) return bytes;
    if (!cut.has(part)) cut.set(part, cutPart(part, bytes));
    return bytes.subarray(0, Math.max(0, left));
  };
  let headers = reject.headers;
  if (contentBytes({ headers }) > room * keyShare) {
    cut.set('headers', cutPart('headers', encodeHeaders(headers)));
    headers = [];
  }
  const key = shorten('key', reject.key, Math.floor(room * keyShare));
  const value = shorten('value', reject.value, room - contentBytes({ key, headers }));
  return { ...reject, headers, key, value, cut: [...cut.values()] };
}

function cutPart(part: CutPart['part'], bytes: Uint8Array): CutPart {
  return { part, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

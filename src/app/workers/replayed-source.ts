import type { SourceRecord } from '../../ingest/decode/source-record.ts';
import { type ReplayedRecord, type ReplayTarget, replayedOf } from '../../protocol/replayed-record.ts';

/** A record of a replay topic as it was in its own topic. */
export interface ReplayedSource {
  readonly replayed: ReplayedRecord;
  /** Read during the decoding of the record only. */
  readonly record: SourceRecord;
}

/** `undefined`: the record is for another table, pipeline or incarnation of the table, or nobody's. */
export function replayedSource(cursor: SourceRecord, target: ReplayTarget): ReplayedSource | undefined {
  const headers = cursor.headers();
  const replayed = replayedOf(headers);
  if (replayed === undefined || replayed.pipeline !== target.pipeline) return undefined;
  const isOwn = replayed.table === target.table ? replayed.tableId === target.tableId : target.together?.includes(replayed.table);
  if (isOwn !== true) return undefined;
  const { data, keyStart, keyEnd, valueStart, valueEnd } = cursor;
  const own = headers.slice(0, -1);
  const { offset, timestampMs } = replayed;
  return {
    replayed,
    record: { data, keyStart, keyEnd, valueStart, valueEnd, timestampMs, offset: () => offset, headers: () => own },
  };
}

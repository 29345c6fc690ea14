import { isServiceError, type ServiceError } from '../../base/errors.ts';
import { cutIfHuge } from '../../ingest/cut-record.ts';
import type { RecordDecoder } from '../../ingest/decode/record-decoder.ts';
import type { NoRow, Refusal, Rejection } from '../../ingest/decode/rejection.ts';
import { asRefusal, type DivisionKeys } from '../../ingest/divide/division-keys.ts';
import { readBatchHeader } from '../../kafka/records/batch-header.ts';
import { RecordCursor } from '../../kafka/records/record-cursor.ts';
import { withChecksum } from '../../kafka/records/record-subset.ts';
import { type DivisionOfTable, type DivisionSpec, unmatchedPart } from '../../protocol/division.ts';
import type { ReplayTarget } from '../../protocol/replayed-record.ts';
import type { PackedRecordBatch, PassReason, RejectedRecord } from '../../protocol/sealed-batch.ts';
import { type ReplayedSource, replayedSource } from './replayed-source.ts';

/** What a record batch brought beside the rows that are in the decoder. */
export interface DecodedRecordBatch {
  readonly rejects: readonly RejectedRecord[];
  /** Of the records that are no rows, why. */
  readonly passedOver: readonly PassReason[];
  /** Members that no column took. */
  readonly unread: number;
  /** Rows of replayed dead letters. */
  readonly replayed: number;
  /** Records read, whatever came of them. */
  readonly read: number;
  /** What its records take unpacked. */
  readonly unpackedBytes: number;
}

/** Errors of a record batch that every reader of the same bytes would have. */
export const unopenable: ReadonlySet<string> = new Set(['KAFKA_BATCH_CORRUPT', 'KAFKA_BATCH_TOO_LARGE', 'KAFKA_BATCH_UNSUPPORTED']);

export interface DecodeBatchOptions {
  readonly maxUnpackedBytes?: number | undefined;
  /** Told of each record that is a row, by its offset in the batch. */
  readonly onRow?: ((offsetDelta: number) => void) | undefined;
  /** What of its replay topic a table takes. */
  readonly replays?: ReplayTarget | undefined;
  /** Which records of the replay topic are the table's, where they are divided. Absent: those of its letters. */
  readonly division?: ReplayDivision | undefined;
}

/** A division, and what says which table a record is for. */
export interface ReplayDivision extends DivisionOfTable {
  readonly keys: DivisionKeys;
}

/**
 * Appends the rows of a record batch to the decoder. One that cannot be opened, or not to its end, is one reject for all its offsets, and none of
 * its records becomes a row.
 */
export function decodeRecordBatch(
  bytes: Uint8Array,
  packed: PackedRecordBatch,
  decoder: RecordDecoder,
  options: DecodeBatchOptions = {},
): DecodedRecordBatch {
  const { maxUnpackedBytes } = options;
  const { rowCount: rowsBefore, emptiedAt } = decoder;
  decoder.startPartition(packed.topic, packed.partition);
  try {
    return decodeRecords(openBatch(bytes, packed, maxUnpackedBytes), packed, decoder, options);
  } catch (error) {
    if (!isServiceError(error) || !unopenable.has(error.code)) throw error;
    decoder.reset(rowsBefore, emptiedAt);
    const reject = unopened(bytes, packed, error);
    return { rejects: [reject], passedOver: [], unread: 0, replayed: 0, read: reject.unopened?.records ?? 0, unpackedBytes: bytes.length };
  }
}

/** What was divided has been compared with its checksum there. */
function openBatch(bytes: Uint8Array, { checked }: PackedRecordBatch, maxUnpackedBytes: number | undefined): RecordCursor {
  return new RecordCursor(bytes, { maxUnpackedBytes, verifyCrc: checked !== true });
}

function decodeRecords(
  cursor: RecordCursor,
  packed: PackedRecordBatch,
  decoder: RecordDecoder,
  { onRow, replays, division }: DecodeBatchOptions,
): DecodedRecordBatch {
  const target = targetOf(packed, replays);
  const firstDelta = cursor.deltaOf(packed.fromOffset);
  const rejects: RejectedRecord[] = [];
  const passedOver: PassReason[] = [];
  const unreadBefore = decoder.unreadMembers;
  const rowsBefore = decoder.rowCount;
  let read = 0;
  while (cursor.next()) {
    if (cursor.offsetDelta < firstDelta) continue;
    read += 1;
    const refusal = target === undefined ? decoder.decode(cursor) : decodeReplayed(cursor, decoder, target, division);
    if (refusal === undefined) {
      onRow?.(cursor.offsetDelta);
      continue;
    }
    if (refusal.noRow !== undefined) {
      passedOver.push(refusal.noRow);
      continue;
    }
    rejects.push(rejectOf(cursor, packed, refusal, target));
  }
  const unread = decoder.unreadMembers - unreadBefore;
  const replayed = target === undefined ? 0 : decoder.rowCount - rowsBefore;
  return { rejects, passedOver, unread, replayed, read, unpackedBytes: cursor.data.length + decoder.unpackedBytes };
}

/** What of records that no table takes is told instead of a row. As with decoding, a batch that cannot be opened is one reject. */
export function refuseUnmatched(
  bytes: Uint8Array,
  packed: PackedRecordBatch,
  keys: DivisionKeys,
  { spec, maxUnpackedBytes }: { readonly spec: DivisionSpec } & Pick<DecodeBatchOptions, 'maxUnpackedBytes'>,
): DecodedRecordBatch {
  try {
    return refuseRecords(bytes, packed, keys, { spec, maxUnpackedBytes });
  } catch (error) {
    if (!isServiceError(error) || !unopenable.has(error.code)) throw error;
    const reject = unopened(bytes, packed, error);
    return { rejects: [reject], passedOver: [], unread: 0, replayed: 0, read: reject.unopened?.records ?? 0, unpackedBytes: bytes.length };
  }
}

function refuseRecords(
  bytes: Uint8Array,
  packed: PackedRecordBatch,
  keys: DivisionKeys,
  { spec, maxUnpackedBytes }: { readonly spec: DivisionSpec } & Pick<DecodeBatchOptions, 'maxUnpackedBytes'>,
): DecodedRecordBatch {
  keys.startPartition(packed.topic, packed.partition);
  const asked = openBatch(bytes, packed, maxUnpackedBytes);
  const firstDelta = asked.deltaOf(packed.fromOffset);
  while (asked.next()) if (asked.offsetDelta >= firstDelta) keys.put(asked);
  const refusals = keys.take();
  const cursor = new RecordCursor(bytes, { maxUnpackedBytes, verifyCrc: false });
  const rejects: RejectedRecord[] = [];
  const passedOver: PassReason[] = [];
  let read = 0;
  while (cursor.next()) {
    if (cursor.offsetDelta < firstDelta) continue;
    const found = refusals[read];
    read += 1;
    // Only a batch that could not be divided has records that a table would take.
    const refusal = unmatchedAs(found === undefined || typeof found === 'number' ? undivided : asRefusal(found, spec), spec.unmatched);
    if (refusal.noRow !== undefined) passedOver.push(refusal.noRow);
    else rejects.push(rejectOf(cursor, packed, refusal, undefined));
  }
  return { rejects, passedOver, unread: 0, replayed: 0, read, unpackedBytes: cursor.data.length };
}

const undivided: Refusal = { reason: 'no-table', message: 'the record batch could not be divided among the tables of its route' };

/** As the record that it was in its own topic. */
function decodeReplayed(
  cursor: RecordCursor,
  decoder: RecordDecoder,
  target: ReplayTarget,
  division: ReplayDivision | undefined,
): Unmatched | undefined {
  const source = replayedSource(cursor, target);
  if (source === undefined) return { noRow: 'not-for-table' };
  const elsewhere = division === undefined ? undefined : refusalOfDivision(source, division);
  if (elsewhere !== undefined) return elsewhere;
  decoder.setOrigin(source.replayed.topic, source.replayed.partition);
  return decoder.decode(source.record);
}

/** Replayed records are divided anew, by the route as it is now. */
function refusalOfDivision({ replayed, record }: ReplayedSource, { spec, index, keys }: ReplayDivision): Unmatched | undefined {
  keys.startPartition(replayed.topic, replayed.partition);
  keys.put(record);
  const [found] = keys.take();
  if (found === index) return undefined;
  if (index !== unmatchedPart(spec) || found === undefined || typeof found === 'number') return { noRow: 'not-for-table' };
  return unmatchedAs(asRefusal(found, spec), spec.unmatched);
}

type Unmatched = NoRow | (Rejection & { readonly suspends?: boolean });

/** What becomes of a record that no table takes. */
function unmatchedAs(refusal: Refusal, unmatched: DivisionSpec['unmatched']): Unmatched {
  if (refusal.reason !== 'no-table') return refusal;
  return unmatched === 'skip' ? { noRow: 'no-table' } : { ...refusal, suspends: unmatched === 'suspend' };
}

function targetOf({ topic }: PackedRecordBatch, replays: ReplayTarget | undefined): ReplayTarget | undefined {
  return replays?.topic === topic ? replays : undefined;
}

/** The records at these offsets of a record batch that has been decoded, rejected after all. */
export function rejectedRows(
  bytes: Uint8Array,
  packed: PackedRecordBatch,
  failures: ReadonlyMap<number, Pick<RejectedRecord, 'reason' | 'message' | 'suspends'>>,
  { maxUnpackedBytes, replays }: Pick<DecodeBatchOptions, 'maxUnpackedBytes' | 'replays'>,
): readonly RejectedRecord[] {
  const target = targetOf(packed, replays);
  const cursor = openBatch(bytes, packed, maxUnpackedBytes);
  const rejects: RejectedRecord[] = [];
  while (rejects.length < failures.size && cursor.next()) {
    const failure = failures.get(cursor.offsetDelta);
    if (failure !== undefined) rejects.push(rejectOf(cursor, packed, failure, target));
  }
  return rejects;
}

function rejectOf(
  cursor: RecordCursor,
  { topic, partition }: PackedRecordBatch,
  { reason, part, message, suspends }: Pick<RejectedRecord, 'reason' | 'part' | 'message' | 'suspends'>,
  target: ReplayTarget | undefined,
): RejectedRecord {
  const source = target === undefined ? undefined : replayedSource(cursor, target);
  const record = { topic, partition, offset: cursor.offset(), timestampMs: cursor.timestampMs };
  const parts = { key: cursor.key(), value: cursor.value(), headers: (source?.record ?? cursor).headers() };
  return owned(
    cutIfHuge({
      ...record,
      ...parts,
      reason,
      message,
      ...(part === undefined ? {} : { part }),
      ...(suspends === true ? { suspends } : {}),
      ...(source === undefined ? {} : { replayed: source.replayed }),
    }),
  );
}

/** The reject with bytes of its own instead of views. */
function owned(reject: RejectedRecord): RejectedRecord {
  const headers = reject.headers.map(([name, value]) => [name, value.slice()] as const);
  return { ...reject, key: reject.key?.slice(), value: reject.value?.slice(), headers };
}

/** A record batch as one reject, with its bytes as the broker has them for the value. */
export function unopened(bytes: Uint8Array, packed: PackedRecordBatch, cause: ServiceError): RejectedRecord {
  const { baseOffset, lastOffset, maxTimestampMs, recordCount } = readBatchHeader(bytes);
  const offset = packed.fromOffset > baseOffset ? packed.fromOffset : baseOffset;
  const until = lastOffset + 1n;
  return owned(
    cutIfHuge({
      topic: packed.topic,
      partition: packed.partition,
      offset,
      timestampMs: maxTimestampMs,
      key: undefined,
      value: packed.checked === true ? withChecksum(bytes) : bytes,
      headers: [],
      reason: cause.code === 'KAFKA_BATCH_TOO_LARGE' ? 'batch-too-large' : 'corrupt-batch',
      message: `the batch of offsets ${offset} to ${lastOffset} cannot be opened: ${cause.message}`,
      unopened: { until, records: Math.min(recordCount, Number(until - offset)) },
    }),
  );
}

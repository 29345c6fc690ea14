import type { Clock } from '../base/clock.ts';
import { toEpochMs } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { EncodedRecordBatch, KafkaRecord, OutgoingRecord } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import { printHistory } from '../protocol/replayed-record.ts';
import type { RejectedRecord, RejectReason } from '../protocol/sealed-batch.ts';
import { contentBytes, cutToRoom } from './cut-record.ts';
import type { OversizePolicy } from './settings.ts';
import { runsOf } from './size-runs.ts';

/** Says which record of which source a dead letter is. Always added, as the last header of its name. */
export const idHeader = 'tidewater.dlq.id';
/** Says where the record of a letter came from at first when it was a letter before and was replayed. */
export const replayedHeader = 'tidewater.dlq.replayed';
/** How many headers the record has, which come before those of the letter. Stands before the id. */
export const headerCountHeader = 'tidewater.dlq.headers';
/** Of several letters together, before they are packed. */
const maxBatchBytes = 512 * 1024;
const headerBytes = 1024;
/** A transaction ends at this size: a flood is not held encoded all at once, and none takes long. */
const parcelBytes = 16 * 1024 * 1024;
const utf8 = new TextEncoder();

const converters = { key: 'KEY_CONVERTER', value: 'VALUE_CONVERTER', headers: 'HEADER_CONVERTER' } as const;
const transformation = 'TRANSFORMATION';
/** Where records of a reason fail, in Kafka Connect's words; others are told by their key or value. */
const stages: ReadonlyMap<RejectReason, string> = new Map([
  ['corrupt-batch', 'KAFKA_CONSUME'],
  ['batch-too-large', 'KAFKA_CONSUME'],
  ['not-computed', transformation],
  ['expectation-failed', transformation],
  ['no-table', transformation],
]);

/** A rejected record with its name among all dead letters. */
export interface DeadLetter {
  readonly id: string;
  readonly reject: RejectedRecord;
}

/**
 * The same for one record of one incarnation of a topic however often it is rejected, and another for every other record.
 *
 * @param source the name of the source partition, `writerIdOf`.
 */
export function deadLetterIdOf(source: string, table: string, { offset, timestampMs }: RejectedRecord): string {
  return `${source}:${offset}:${timestampMs}:${table}`;
}

/** Which record a stored dead letter is. */
export interface DeadLetterName {
  /** `writerIdOf` of the source partition. */
  readonly source: string;
  readonly table: string;
  readonly offset: bigint;
  readonly timestampMs: number;
}

/** The name of a stored dead letter; `undefined` for a record without one. */
export function deadLetterNameOf(record: Pick<KafkaRecord, 'headers'>): DeadLetterName | undefined {
  const [, bytes] = record.headers.findLast(([name]) => name === idHeader) ?? [];
  if (bytes === undefined) return undefined;
  const id = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // Pipeline, topic, partition, cluster and incarnation, offset, time; the table's name may hold anything.
  const found = /^((?:[^:]*:){4}[^:]*):(\d+):(-?\d+):(.*)$/s.exec(id);
  if (found === null) return undefined;
  const [, source = '', offset = '', timestampMs, table = ''] = found;
  return { source, table, offset: BigInt(offset), timestampMs: Number(timestampMs) };
}

/** What dead letters are told beside their records. */
export interface DeadLetterContext {
  readonly pipeline: string;
  readonly table: string;
  readonly clock: Clock;
}

/** What goes into one transaction. */
export interface DeadLetterParcel {
  readonly letters: readonly DeadLetter[];
  /** In order, each small enough for a broker's default limit. */
  readonly batches: readonly EncodedRecordBatch[];
}

/** Where dead letters go, and how large a batch may be there. */
export interface DeadLetterDestination {
  readonly topic: string;
  readonly partition: number;
  readonly maxMessageBytes: number;
  readonly oversize: OversizePolicy;
}

/**
 * Dead letters for one partition, in order, encoded as they are asked for. All are packed with gzip, which every client reads.
 *
 * @throws ServiceError `INGEST_SUSPENDED` (kind invalid) at a letter that has to be cut where the policy is to stop there.
 */
export function* deadLetterParcels(
  at: DeadLetterDestination,
  letters: readonly DeadLetter[],
  context: DeadLetterContext,
): Generator<DeadLetterParcel, void, undefined> {
  let held: DeadLetter[] = [];
  let batches: EncodedRecordBatch[] = [];
  let bytes = 0;
  for (const run of runsOf(letters, sizeOf, Math.min(maxBatchBytes, at.maxMessageBytes / 2))) {
    const encoded = encodeRun(at, run, context);
    batches.push(encoded);
    for (const letter of run) held.push(letter);
    bytes += encoded.bytes.byteLength;
    if (bytes < parcelBytes) continue;
    yield { letters: held, batches };
    [held, batches, bytes] = [[], [], 0];
  }
  if (batches.length > 0) yield { letters: held, batches };
}

/** A run of several letters is small; a single one may be too large for the topic, even packed. */
function encodeRun(at: DeadLetterDestination, run: readonly DeadLetter[], context: DeadLetterContext): EncodedRecordBatch {
  const { topic, partition, maxMessageBytes, oversize } = at;
  const encode = (letters: readonly DeadLetter[]): EncodedRecordBatch =>
    encodeRecordBatch({ topic, partition, compression: 'gzip', records: letters.map((letter) => recordOf(letter, context)) });
  const huge = run.find(({ reject }) => reject.cut !== undefined);
  const whole = encode(run);
  const [only] = run;
  if (only === undefined || (whole.bytes.length <= maxMessageBytes && huge === undefined)) return whole;
  if (oversize === 'suspend') throw oversized(context.table, (huge ?? only).reject, maxMessageBytes);
  if (whole.bytes.length <= maxMessageBytes) return whole;
  const overhead = contentBytes(recordOf({ ...only, reject: { ...only.reject, key: undefined, value: undefined, headers: [] } }, context));
  const room = maxMessageBytes - overhead - envelopeBytes;
  return encode([{ ...only, reject: cutToRoom(only.reject, room) }]);
}

const sizeOf = ({ reject }: DeadLetter): number => contentBytes(reject) + headerBytes;

/** The header of a batch and of its record, what gzip adds to bytes it cannot pack, and the headers that tell of a cut. */
const envelopeBytes = 2 * 1024;

/**
 * The record, unchanged in key, value, headers and timestamp, with Kafka Connect's `__connect.errors.*` headers (Connect:
 * DeadLetterQueueReporter) and our own reason beside them.
 */
function recordOf({ id, reject }: DeadLetter, { pipeline, table, clock }: DeadLetterContext): OutgoingRecord {
  const stage = stages.get(reject.reason) ?? converters[reject.part ?? 'value'];
  // A record that was replayed is told by where it came from at first; the id says where it was read this time.
  const { topic, partition, offset } = reject.replayed ?? reject;
  const context: readonly (readonly [string, string])[] = [
    ['__connect.errors.topic', topic],
    ['__connect.errors.partition', String(partition)],
    ['__connect.errors.offset', String(offset)],
    ['__connect.errors.connector.name', pipeline],
    ['__connect.errors.task.id', table],
    ['__connect.errors.stage', stage],
    ['__connect.errors.class.name', `tidewater.ingest.${stage === transformation ? 'transform' : 'decode'}`],
    ['__connect.errors.exception.class.name', reject.reason],
    ['__connect.errors.exception.message', reject.message],
    ['tidewater.dlq.reason', reject.reason],
    ['tidewater.dlq.table', table],
    ['tidewater.dlq.rejected_at', new Date(clock.now()).toISOString()],
  ];
  const present = new Set(reject.headers.map(([name]) => name));
  // A header the record already carries is never overwritten: a dead letter may have been one before.
  const added = [
    ...context.filter(([name]) => !present.has(name)),
    ...rangeHeaders(reject),
    ...cutHeaders(reject),
    ...(reject.replayed === undefined ? [] : [[replayedHeader, printHistory(reject.replayed)] as const]),
    [headerCountHeader, String(reject.headers.length)] as const,
    [idHeader, id] as const,
  ];
  return {
    key: reject.key,
    value: reject.value,
    timestampMs: toEpochMs(reject.timestampMs),
    headers: [...reject.headers, ...added.map(([name, value]) => [name, utf8.encode(value)] as const)],
  };
}

/** Which offsets a letter stands for that holds a whole batch; the first is that of the letter. */
function rangeHeaders({ unopened }: RejectedRecord): readonly (readonly [string, string])[] {
  if (unopened === undefined) return [];
  return [
    ['tidewater.dlq.until_offset', String(unopened.until)],
    ['tidewater.dlq.records', String(unopened.records)],
  ];
}

/** What the parts of the record were that are not whole in the letter. */
function cutHeaders({ cut = [] }: RejectedRecord): readonly (readonly [string, string])[] {
  if (cut.length === 0) return [];
  return [
    ['tidewater.dlq.cut', cut.map(({ part }) => part).join(',')],
    ...cut.flatMap(({ part, bytes, sha256 }): [string, string][] => [
      [`tidewater.dlq.${part}.bytes`, String(bytes)],
      [`tidewater.dlq.${part}.sha256`, sha256],
    ]),
  ];
}

function oversized(table: string, reject: RejectedRecord, maxMessageBytes: number): ServiceError {
  const { topic, partition, offset, reason, message } = reject;
  return serviceError.invalid(
    'INGEST_SUSPENDED',
    `table "${table}": topic "${topic}" partition ${partition} offset ${offset} is too large for a dead letter of ${maxMessageBytes} bytes: ${message}`,
    {
      hint: 'raise max.message.bytes of the dead-letter topic, or set ingest.deadLetters.oversize to truncate, or onReject to skip; reading stands at this record',
      context: { table, topic, partition, offset, reason },
    },
  );
}

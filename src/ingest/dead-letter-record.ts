import type { Clock } from '../base/clock.ts';
import { toEpochMs } from '../base/clock.ts';
import type { EncodedRecordBatch, KafkaRecord, OutgoingRecord } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import type { RejectedRecord } from '../protocol/sealed-batch.ts';

/** Says which record of which source a dead letter is. Always added, as the last header of its name. */
const idHeader = 'tidewater.dlq.id';
const maxBatchBytes = 512 * 1024;
const headerBytes = 1024;
/** A transaction ends at this size: a flood is not held encoded all at once, and none takes long. */
const parcelBytes = 16 * 1024 * 1024;
const utf8 = new TextEncoder();

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
export function deadLetterNameOf(record: KafkaRecord): DeadLetterName | undefined {
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

/** Dead letters for one partition, in order, encoded as they are asked for. */
export function* deadLetterParcels(
  at: { readonly topic: string; readonly partition: number },
  letters: readonly DeadLetter[],
  context: DeadLetterContext,
): Generator<DeadLetterParcel, void, undefined> {
  let held: DeadLetter[] = [];
  let batches: EncodedRecordBatch[] = [];
  let bytes = 0;
  for (const batch of runsOf(letters)) {
    batches.push(encodeRecordBatch({ ...at, records: batch.map((letter) => recordOf(letter, context)) }));
    held = [...held, ...batch];
    bytes += batches.at(-1)?.bytes.byteLength ?? 0;
    if (bytes < parcelBytes) continue;
    yield { letters: held, batches };
    [held, batches, bytes] = [[], [], 0];
  }
  if (batches.length > 0) yield { letters: held, batches };
}

function* runsOf(letters: readonly DeadLetter[]): Generator<readonly DeadLetter[], void, undefined> {
  let run: DeadLetter[] = [];
  let bytes = 0;
  for (const letter of letters) {
    const size = (letter.reject.value?.byteLength ?? 0) + (letter.reject.key?.byteLength ?? 0) + headerBytes;
    if (run.length > 0 && bytes + size > maxBatchBytes) {
      yield run;
      [run, bytes] = [[], 0];
    }
    run.push(letter);
    bytes += size;
  }
  if (run.length > 0) yield run;
}

/**
 * The record, unchanged in key, value, headers and timestamp, with Kafka Connect's `__connect.errors.*` headers (Connect:
 * DeadLetterQueueReporter) and our own reason beside them.
 */
function recordOf({ id, reject }: DeadLetter, { pipeline, table, clock }: DeadLetterContext): OutgoingRecord {
  const context: readonly (readonly [string, string])[] = [
    ['__connect.errors.topic', reject.topic],
    ['__connect.errors.partition', String(reject.partition)],
    ['__connect.errors.offset', String(reject.offset)],
    ['__connect.errors.connector.name', pipeline],
    ['__connect.errors.task.id', table],
    ['__connect.errors.stage', 'VALUE_CONVERTER'],
    ['__connect.errors.class.name', 'tidewater.ingest.decode'],
    ['__connect.errors.exception.class.name', reject.reason],
    ['__connect.errors.exception.message', reject.message],
    ['tidewater.dlq.reason', reject.reason],
    ['tidewater.dlq.table', table],
    ['tidewater.dlq.rejected_at', new Date(clock.now()).toISOString()],
  ];
  const present = new Set(reject.headers.map(([name]) => name));
  // A header the record already carries is never overwritten: a dead letter may have been one before.
  const added = [...context.filter(([name]) => !present.has(name)), [idHeader, id] as const];
  return {
    key: reject.key,
    value: reject.value,
    timestampMs: toEpochMs(reject.timestampMs),
    headers: [...reject.headers, ...added.map(([name, value]) => [name, utf8.encode(value)] as const)],
  };
}

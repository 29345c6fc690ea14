import type { Field } from '../schema/types.ts';
import type { KeyedRows } from '../table/keyed.ts';
import type { StagedFile, WriteSpec } from '../table/staged-file.ts';
import type { DivisionOfTable } from './division.ts';
import type { PayloadEncoding, RegisteredSchema, ValueEncoding } from './payload-encoding.ts';
import type { ReplayHistory, ReplayTarget } from './replayed-record.ts';
import type { SourceRange } from './source-offsets.ts';
import type { EvolutionSpec, TableNeed } from './table-needs.ts';
import type { TransformSpec } from './transform-spec.ts';

/** One record batch inside a sealed batch's `bytes`. */
export interface PackedRecordBatch {
  readonly topic: string;
  readonly partition: number;
  /** Where its bytes lie in `SealedBatch.bytes`. */
  readonly start: number;
  readonly end: number;
  /** Records below this offset are skipped (the fetch started inside the batch). */
  readonly fromOffset: bigint;
  /** No table of the route takes its records, or nobody knows which: none of them becomes a row. Absent: the table takes them. */
  readonly unmatched?: boolean | undefined;
  /** Its checksum was compared when it was divided, and need not be there any more. */
  readonly checked?: boolean | undefined;
}

/** Where the value of a table column comes from. */
export type ColumnSource =
  /** The member of that name in the record's value. */
  | { readonly kind: 'value'; readonly name: string }
  /** The record's key as it is; with a name, the member of that name in it. */
  | { readonly kind: 'key'; readonly name?: string | undefined }
  | { readonly kind: 'headers' }
  | { readonly kind: 'topic' }
  | { readonly kind: 'partition' }
  | { readonly kind: 'offset' }
  | { readonly kind: 'timestamp' }
  /** Whether the record has no value. Where a column has it, such a record is a row of nulls but for what is not of the value. */
  | { readonly kind: 'tombstone' }
  /** What of the value has no place in the other columns, as JSON text. */
  | { readonly kind: 'rescue' }
  /** Which of these columns the record leaves as they are: a bit for each, no bytes where it has a value for all. */
  | { readonly kind: 'absent'; readonly columns: readonly string[]; readonly when: AbsentWhen };

/** When a record leaves a column as it is: its member is not there, or (also) has the value that Debezium gives what did not change. */
export type AbsentWhen = 'missing' | 'unavailable';

/** How the rows of a batch are one for each key. */
export interface KeyedSpec {
  readonly keyColumns: readonly string[];
  /** None: the order of the batch. */
  readonly orderColumns: readonly string[];
  readonly deleted: DeletedMark;
  /** The column behind those of the table that says what of `columns` a row leaves as it is. Absent: rows are whole. */
  readonly absent?: { readonly field: Field; readonly columns: readonly string[] } | undefined;
  /** What an event that truncates its table does. */
  readonly onTruncate: OnTruncate;
}

/** All rows end, or it is a dead letter, or it is passed over. */
export type OnTruncate = 'apply' | 'reject' | 'ignore';

/** What says of a row that its key is deleted: nothing, a column of the table, or one that rows have behind those of the table. */
export type DeletedMark =
  | { readonly kind: 'none' }
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'added'; readonly field: Field };

/**
 * How payloads of a table are decoded: plain data, sent to worker threads. `sources[i]` feeds `schema.fields[i]` of the table, or with a transform
 * `transform.record.fields[i]`; behind the table's columns comes the one that `keyed` adds.
 */
export interface DecodeSpec {
  readonly sources: readonly ColumnSource[];
  /** A member of the payload that no column takes: `ignore` it, or `reject` the record. */
  readonly unknownMembers: 'ignore' | 'reject';
  /** Of values. Default: JSON. */
  readonly value?: ValueEncoding | undefined;
  /** Of keys whose members are read. Default: JSON. */
  readonly key?: PayloadEncoding | undefined;
  /** Schemas that payloads refer to, beside those that the thread was given before. */
  readonly schemas?: readonly RegisteredSchema[] | undefined;
  /** Records of the replay topic are decoded as what they were in their own. Absent: no topic is one. */
  readonly replays?: ReplayTarget | undefined;
  /** What rows are made of decoded records by. Absent: they are the rows. */
  readonly transform?: TransformSpec | undefined;
  /** How records come to the table that are divided among several. Absent: they are not. */
  readonly division?: DivisionOfTable | undefined;
  /** The table has one row for each key. Absent: one for each record. */
  readonly keyed?: KeyedSpec | undefined;
  /** What of the table the records may change. Absent: nothing. */
  readonly evolve?: EvolutionSpec | undefined;
}

/** What a batch covers of one partition. */
export interface BatchRange extends SourceRange {
  /** The mark that moves: it names the incarnation of the topic that the offsets belong to. A batch has one of each partition. */
  readonly writerId: string;
  /** The table's mark when the batch's turn comes: `from`, or `undefined` for the first batch of a partition without a mark. */
  readonly expectedMark: bigint | undefined;
}

/** A closed micro-batch of one table: raw record batches packed into one buffer. */
export interface SealedBatch {
  readonly table: string;
  readonly sequence: number;
  readonly bytes: ArrayBuffer;
  readonly recordBatches: readonly PackedRecordBatch[];
  readonly ranges: readonly BatchRange[];
  /** Records the batch headers announce (an upper bound of the rows). */
  readonly recordCount: number;
  /** Newest record timestamp, epoch milliseconds. */
  readonly maxTimestampMs: number;
  /** `memory`: others wait for the room it takes. */
  readonly sealedBy: 'rows' | 'bytes' | 'age' | 'memory' | 'drain';
  /** When the oldest of its records was fetched, `Clock.monotonicMs`. */
  readonly openedAtMs: number;
}

/** What was cut off a rejected record that is too large to be kept whole. */
export interface CutPart {
  readonly part: 'key' | 'value' | 'headers';
  /** Of the whole part, as the source has it. */
  readonly bytes: number;
  /** SHA-256 of the whole part, in hexadecimal digits; of headers in their wire form. */
  readonly sha256: string;
}

/** The records of a batch that cannot be opened, whatever is in it. */
export interface UnopenedRecords {
  /** Offset after the last one. */
  readonly until: bigint;
  /** How many the batch's header announces in the range. */
  readonly records: number;
}

/** A record that does not fit the table, with everything needed to look at it and to send it again. */
export interface RejectedRecord {
  /** Instead of one record these from `offset` on, with the bytes of their batch as the value. */
  readonly unopened?: UnopenedRecords | undefined;
  /** The parts that are not whole here. Absent: all are. */
  readonly cut?: readonly CutPart[] | undefined;
  /** It is a dead letter that was replayed: where it came from at first. Topic, partition and offset are those of the replay topic. */
  readonly replayed?: ReplayHistory | undefined;
  /** The table is to stand still at it, whatever is done with others. */
  readonly suspends?: boolean | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestampMs: number;
  readonly key: Uint8Array | undefined;
  readonly value: Uint8Array | undefined;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  readonly reason: RejectReason;
  /** What is at fault besides the value. */
  readonly part?: RejectedPart | undefined;
  /** What, where and with which value, lower case: `column "amount": "abc" is not a decimal(12,2)`. */
  readonly message: string;
}

export type RejectedPart = 'key' | 'headers';

export type RejectReason =
  | 'invalid-json'
  | 'invalid-avro'
  | 'invalid-csv'
  | 'invalid-protobuf'
  | 'unknown-schema'
  | 'not-an-object'
  | 'not-an-event'
  | 'null-value'
  | 'wrong-type'
  | 'out-of-range'
  | 'missing-required'
  | 'unknown-member'
  | 'duplicate-member'
  | 'invalid-utf8'
  | 'too-deep'
  | 'too-large'
  | 'not-computed'
  | 'expectation-failed'
  | 'no-table'
  | 'corrupt-payload'
  | 'corrupt-batch'
  | 'batch-too-large';

/** What the worker is told to do with a sealed batch. */
export interface StageTask {
  readonly batch: SealedBatch;
  readonly write: WriteSpec;
  readonly decode: DecodeSpec;
  /** Unique file name stem; the worker appends partition number and extension. */
  readonly fileNameStem: string;
}

/**
 * Why a record is no row although nothing is wrong with it. `filtered`: by `where`; `no-elements`: the list whose elements become rows has none;
 * `no-table`: no table of the
 * route takes it; `not-for-table`: a record of the replay topic that another table rejected.
 */
export type PassReason =
  | 'tombstone'
  | 'truncate'
  | 'message'
  | 'heartbeat'
  | 'transaction'
  | 'filtered'
  | 'no-elements'
  | 'no-table'
  | 'not-for-table';

/** How many records of the source the rejects stand for. */
export function countRejected(rejects: readonly RejectedRecord[]): number {
  return rejects.reduce((count, { unopened }) => count + (unopened?.records ?? 1), 0);
}

/** How many records were read. */
export function countRead({ recordsWithRows, rejects, passedOver }: StageResult): number {
  return recordsWithRows + countRejected(rejects) + countPassedOver(passedOver);
}

export function countPassedOver(passedOver: StageResult['passedOver']): number {
  return Object.values(passedOver).reduce((sum, count) => sum + count, 0);
}

/** What came of it: `countRead` records, none lost. */
export interface StageResult {
  readonly files: readonly StagedFile[];
  readonly rowCount: number;
  /** What the records say of their keys, of a keyed table. */
  readonly keyed?: KeyedRows | undefined;
  /** Records that the rows are of: as many, unless a transform makes several rows of a record, or the table has one row for each key. */
  readonly recordsWithRows: number;
  readonly rejects: readonly RejectedRecord[];
  /** Dead letters that were replayed and decoded, whose rows have the offsets they had at first. Absent: none. */
  readonly replayed?: number | undefined;
  /** Records that are no rows, by why. */
  readonly passedOver: Readonly<Partial<Record<PassReason, number>>>;
  /** Members of payloads that no column took. */
  readonly unreadMembers: number;
  /** Records that did not meet an expectation, by its name. */
  readonly unmet: Readonly<Record<string, number>>;
  /** Records read, whatever came of them, by topic. */
  readonly recordsByTopic: Readonly<Record<string, number>>;
  /** What the table must change to before the batch can be staged; then nothing is, and nothing of it is counted. Absent: nothing. */
  readonly needs?: readonly TableNeed[] | undefined;
  /** What no change of the table would take, and why. Absent: nothing. */
  readonly left?: readonly { readonly name: string; readonly why: string }[] | undefined;
  readonly timings: { readonly decodeMs: number; readonly transformMs: number; readonly encodeMs: number; readonly storeMs: number };
}

/** Turns sealed batches into staged files, off the main thread. */
export interface BatchStager {
  stage(task: StageTask, signal?: AbortSignal): Promise<StageResult>;
}

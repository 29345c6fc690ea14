import type { TopicPartition } from '../kafka/client.ts';
import type { VersionChanges } from '../table/changes.ts';
import type { TableFormat } from '../table/formats.ts';
import type { Version } from '../table/version.ts';

export type Envelope = 'debezium' | 'flat' | 'after' | 'cloudevents';

/** How keys and values are encoded; all but `json` name their schema in a registry. */
export type EventEncoding = 'json' | 'json-schema' | 'avro' | 'protobuf';

/** Names of subjects: `<topic>-value`, the record's full name, or both with a dash. */
export type SubjectStrategy = 'topic' | 'record' | 'topic-record';

/** How schemas get their numbers: new ones are registered, or somebody registered them, or the newest of the subject is as good. */
export type Registration = 'register' | 'registered' | 'latest';

/** How keys and values of a feed are told. Plain data, sent to worker threads. */
export interface RecordSettings {
  readonly encoding: EventEncoding;
  /** `undefined`: that of the values. */
  readonly keyEncoding: EventEncoding | undefined;
  readonly cloudEventMode: 'structured' | 'binary';
  readonly subjectStrategy: SubjectStrategy;
  readonly registration: Registration;
  /** By the words of Debezium's `decimal.handling.mode`; `undefined`: what is usual in the encoding. */
  readonly decimals: 'precise' | 'double' | 'string' | undefined;
  /** `time.precision.mode`; `text` is `isostring` without the zone that local times do not have. `undefined`: as above. */
  readonly times: 'adaptive' | 'connect' | 'isostring' | 'text' | undefined;
  /** `binary.handling.mode`. */
  readonly binary: 'bytes' | 'base64' | 'base64-url-safe' | 'hex';
}

/** As feeds have them whose settings say nothing. */
export const plainRecords: RecordSettings = {
  encoding: 'json',
  keyEncoding: undefined,
  cloudEventMode: 'structured',
  subjectStrategy: 'topic',
  registration: 'register',
  decimals: undefined,
  times: undefined,
  binary: 'bytes',
};

/** The numbers that a registry gave the schemas of a version's records. */
export interface EventSchemaIds {
  readonly key: number | undefined;
  readonly value: number | undefined;
}

/**
 * Where a feed stands: everything before `ordinal` of `version` is published. `snapshot` says that `version` is being (or was)
 * published as the initial snapshot rather than as changes.
 */
export interface FeedPosition {
  readonly version: Version;
  /** Rows of `version` that are published, in the version's row order; `complete` when that was the last one. */
  readonly ordinal: number;
  readonly complete: boolean;
  readonly snapshot: boolean;
  /** Identity of the table; a feed refuses to continue on a table that was replaced. */
  readonly tableId: string;
  /**
   * Fingerprint of what decides the row order inside `version` (envelope and key columns). A feed refuses to continue in the middle of
   * a version when it differs; between versions it does not matter.
   */
  readonly order: string;
  /** Events of `version` that are published, while it is not complete, of a feed that tells where its transactions begin and end. */
  readonly events?: number | undefined;
  /** What was last told of the table's columns, of a feed that tells how they change: `SchemaChanges` knows what it says. */
  readonly schema?: string | undefined;
  /** `VersionLink.id` of the last version read that has one: what comes next must follow it. */
  readonly link?: string | undefined;
  /** What `EncodedChanges.keys` told of the last version read that has rows. */
  readonly keys?: string | undefined;
}

/** How change rows become records: plain data, sent to worker threads. */
export interface EncodeSpec {
  /** Name of the pipeline, `source.name` of an event. */
  readonly pipeline: string;
  readonly envelope: Envelope;
  readonly records: RecordSettings;
  /** Keys and values come with their schemas, as Kafka Connect has them. */
  readonly schemas: boolean;
  /** The columns that are published, the key's among them; empty: all. */
  readonly select: readonly string[];
  /** Condition in SQL over the table's columns; `undefined`: all rows. */
  readonly where: string | undefined;
  readonly topic: string;
  readonly partitions: number;
  /** Columns of the record key; empty: no key, rows are spread by ordinal. */
  readonly keyColumns: readonly string[];
  /** A debezium delete of a keyed feed is followed by a record with the same key and a null value, for compacted topics. */
  readonly tombstones: boolean;
  /** The debezium envelope numbers the events of a version, and rows of snapshots are in no transaction. */
  readonly transactions: boolean;
  /** A version that empties the table is one event, not a delete for each row. */
  readonly truncates: boolean;
  readonly table: string;
  readonly tableId: string;
  readonly format: TableFormat;
  readonly location: string;
  readonly compression: 'none' | 'lz4' | 'gzip';
}

/**
 * A bounded run of a version's rows to encode: rows `[fromOrdinal, untilOrdinal)` in the version's row order (docs/spec/change-event.md:
 * removals of all files, then additions of all files, files in order). The run ends at `maxRows` rows, one more where an update pair
 * would be torn, or when the events reach `maxBytes` before compression; it holds at least one event while rows are left.
 */
export interface EncodeTask {
  readonly spec: EncodeSpec;
  readonly changes: VersionChanges;
  readonly snapshot: boolean;
  readonly fromOrdinal: number;
  /** Events of the version before `fromOrdinal`. Default: 0. */
  readonly fromEvent?: number | undefined;
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Of the encodings that have schemas in a registry. */
  readonly schemaIds?: EventSchemaIds | undefined;
}

export interface EncodedChanges {
  readonly batches: readonly (TopicPartition & { readonly recordCount: number; readonly bytes: Uint8Array })[];
  readonly untilOrdinal: number;
  /** True when no row of the version is left after `untilOrdinal`. */
  readonly complete: boolean;
  /** Events by `c`, `u`, `d`, `r` (and `t`, where there is one), or by change type in the flat envelope; tombstones are not counted. */
  readonly rowsByOperation: Readonly<Record<string, number>>;
  /** Bytes of keys and values before compression. */
  readonly sizeBytes: number;
  /** What decides the bytes of the version's keys beside the values in them; `undefined`: it has no rows, or they have no keys. */
  readonly keys?: string | undefined;
}

/** Reads change rows and turns them into record batches, off the main thread. Deterministic: the same task gives the same bytes. */
export interface ChangeEncoder {
  encode(task: EncodeTask, signal?: AbortSignal): Promise<EncodedChanges>;
}

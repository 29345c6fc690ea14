/** How a part of a record, its value or its key, is encoded. Plain data, sent to worker threads. */
export type PayloadEncoding =
  /** A JSON object. `framed`: behind the byte 0 and the 4-byte id of its schema in a registry, which are passed over. */
  | { readonly kind: 'json'; readonly framed: boolean }
  /** What Kafka Connect's JSON converter writes with its schemas: an object of `schema` and `payload`. */
  | { readonly kind: 'connect-json' }
  /** Avro whose schema is in a registry; the record says which, before the payload or in a header. `reader`: the schema that it is read as. */
  | { readonly kind: 'avro'; readonly schemas: 'registry'; readonly idIn: 'prefix' | 'header'; readonly reader?: string | undefined }
  /** Avro by one schema. `framed`: behind the mark of Avro's single-object encoding, whose fingerprint must be the schema's. */
  | { readonly kind: 'avro'; readonly schemas: 'given'; readonly schema: string; readonly framed: boolean }
  /** Protobuf whose schema is in a registry; which message of it follows the id. `message`: its name, whatever the payload says. */
  | { readonly kind: 'protobuf'; readonly schemas: 'registry'; readonly idIn: 'prefix' | 'header'; readonly message: string | undefined }
  /** Protobuf by one message of one `.proto` file. */
  | { readonly kind: 'protobuf'; readonly schemas: 'given'; readonly schema: string; readonly message: string }
  /** One record of CSV, its fields in this order. */
  | { readonly kind: 'csv'; readonly fields: readonly string[]; readonly delimiter: string }
  /** The whole of it is one value. */
  | { readonly kind: 'string' }
  | { readonly kind: 'bytes' };

/** Records of a dead-letter topic: what they tell of themselves, and the record in them. Not only the value is read. */
export interface LetterEncoding {
  readonly kind: 'letter';
}

/** How values are encoded, and what they hold. */
export type ValueEncoding = (PayloadEncoding | LetterEncoding) & {
  /** `debezium`: change events, whose rows are taken out of them. Absent: rows. */
  readonly envelope?: 'debezium' | undefined;
  /** What producers have compressed values with; `header`: the header `content-encoding` says. Absent: nothing. */
  readonly compression?: 'gzip' | 'zstd' | 'header' | undefined;
  /** What becomes of records without a value when columns read it. Default: they are rejected. */
  readonly tombstones?: 'skip' | undefined;
};

/** Where a registry has a schema, below its `/schemas`: `ids/7`, `guids/…`. */
export type SchemaKey = string;

/** A schema as a registry has it, or that it has none of this key. */
export interface RegisteredSchema {
  readonly key: SchemaKey;
  /** `undefined`: the registry has no such schema. */
  readonly schema: SchemaText | undefined;
}

export interface SchemaText {
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF';
  readonly text: string;
  /** Schemas that this one names, each behind those that it names itself. */
  readonly references: readonly { readonly name: string; readonly text: string }[];
}

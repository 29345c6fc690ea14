import { type ServiceError, serviceError } from '../../../base/errors.ts';
import type { PayloadEncoding, SchemaKey } from '../../../protocol/payload-encoding.ts';
import type { DecodeSpec } from '../../../protocol/sealed-batch.ts';
import type { NeedsOfRecords } from '../../evolve/needs-of-records.ts';
import type { FoundRow } from '../../infer/found-row.ts';
import { rowOfProtobuf } from '../../infer/row-of-protobuf.ts';
import { type RecordPart, type Reference, referenceOf, type SchemaReference } from '../avro/schema-reference.ts';
import type { KnownSchemas } from '../known-schemas.ts';
import type { PayloadDecoder, PayloadMember, UnreadMembers } from '../payload-decoder.ts';
import type { Rejection } from '../rejection.ts';
import type { SourceRecord } from '../source-record.ts';
import { refusedValue, ValueRefused } from '../value-refused.ts';
import { MessageReader } from './message-reader.ts';
import { type ProtoMessage, type ProtoSchema, readProtoSchema } from './proto-schema.ts';
import { messageOfSchema, readMessage, registeredSchema } from './registered-message.ts';
import { WireCursor, WireFault } from './wire-cursor.ts';

export interface ProtobufPayloadOptions {
  readonly encoding: Extract<PayloadEncoding, { readonly kind: 'protobuf' }>;
  readonly part: RecordPart;
  readonly unknownMembers: DecodeSpec['unknownMembers'];
  readonly schemas: KnownSchemas;
  readonly unread: UnreadMembers;
  readonly needs?: NeedsOfRecords | undefined;
}

/** More schemas, and messages of them, than a topic has at a time; what is dropped is made again. */
const maxSchemas = 256;
const given = 'given';

/** What is made of one schema. */
interface Prepared {
  readonly schema: ProtoSchema;
  /** By the message as payloads tell it; a text says why payloads of that message cannot be read. */
  readonly readers: Map<string, PreparedReader | string>;
}

interface PreparedReader {
  readonly reader: MessageReader;
  /** What the message has, where the table has no place for all of it. */
  readonly row: FoundRow | undefined;
}

/** Protobuf (docs/spec/protobuf-decoding.md): each payload by the schema that its record names, whose fields fill the columns of their names. */
export class ProtobufPayload implements PayloadDecoder {
  readonly #members: readonly PayloadMember[];
  readonly #options: ProtobufPayloadOptions;
  readonly #cursor = new WireCursor();
  readonly #prepared = new Map<SchemaKey, Prepared | string>();
  readonly #given: PreparedReader | undefined;

  /** @throws ServiceError `PROTOBUF_SCHEMA_INVALID` (kind invalid) when the schema of the route cannot be read, or has not the message. */
  constructor(members: readonly PayloadMember[], options: ProtobufPayloadOptions) {
    this.#members = members;
    this.#options = options;
    this.#given = options.encoding.schemas === 'given' ? this.#readerOfGiven(options.encoding) : undefined;
  }

  decode(record: SourceRecord, start: number, end: number): Rejection | undefined {
    const reference = this.#referenceOf(record, start, end);
    if (typeof reference === 'string') return { reason: 'invalid-protobuf', message: `the ${this.#options.part} ${reference}` };
    const cursor = this.#cursor;
    cursor.load(record.data, reference.from, end);
    try {
      const prepared = this.#given ?? this.#readerFor(reference, cursor);
      if (typeof prepared === 'string') return { reason: 'unknown-schema', message: prepared };
      const { reader, row } = prepared;
      if (row !== undefined) this.#options.needs?.seeRow(row);
      reader.begin();
      reader.scan(cursor);
      reader.append(cursor);
      this.#options.unread.count += reader.unread;
      return undefined;
    } catch (error) {
      if (error instanceof WireFault) return { reason: 'invalid-protobuf', message: `not valid Protobuf: ${error.message}` };
      if (!(error instanceof ValueRefused)) throw error;
      return refusedValue(error);
    }
  }

  #referenceOf(record: SourceRecord, start: number, end: number): Reference {
    const { encoding, part } = this.#options;
    if (encoding.schemas === 'given') return { key: given, from: start };
    return referenceOf(record, { idIn: encoding.idIn, part }, start, end);
  }

  #readerOfGiven({ schema: text, message }: { readonly schema: string; readonly message: string }): PreparedReader {
    let schema: ProtoSchema;
    try {
      schema = readProtoSchema(text, []);
    } catch (cause) {
      throw schemaInvalid(
        `the Protobuf schema of a route cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      );
    }
    const found = schema.message(message) ?? schema.message(`${schema.package}.${message}`);
    if (found === undefined) throw schemaInvalid(`the Protobuf schema of a route has no message "${message}"`);
    return this.#readerOf(found);
  }

  /** Reads which message the payload is; the cursor goes behind that. A text says why it cannot be read. */
  #readerFor({ key, message }: SchemaReference, cursor: WireCursor): PreparedReader | string {
    const which = readMessage(message, cursor);
    const prepared = this.#prepared.get(key) ?? this.#prepare(key);
    if (typeof prepared === 'string') return prepared;
    const known = prepared.readers.get(which);
    if (known !== undefined) return known;
    const made = this.#make(prepared.schema, which, key);
    if (prepared.readers.size >= maxSchemas) prepared.readers.clear();
    prepared.readers.set(which, made);
    return made;
  }

  #prepare(key: SchemaKey): Prepared | string {
    const found = this.#options.schemas.find(key);
    // Not kept: the thread is given the schema and asked again.
    if (found === undefined) return `the schema ${key} is not known yet`;
    if (found.schema === undefined) return `the registry has no schema ${key}`;
    if (this.#prepared.size >= maxSchemas) this.#prepared.clear();
    const schema = registeredSchema(key, found.schema);
    const prepared = typeof schema === 'string' ? schema : { schema, readers: new Map<string, PreparedReader | string>() };
    this.#prepared.set(key, prepared);
    return prepared;
  }

  #make(schema: ProtoSchema, which: string, key: SchemaKey): PreparedReader | string {
    const message = messageOfSchema(schema, this.#options.encoding.message ?? which, key);
    return typeof message === 'string' ? message : this.#readerOf(message);
  }

  #readerOf(message: ProtoMessage): PreparedReader {
    const { needs, unknownMembers } = this.#options;
    const row = needs?.relevant(rowOfProtobuf(message, needs.spec));
    return { reader: new MessageReader(message, this.#members, unknownMembers), row };
  }
}

function schemaInvalid(message: string, cause?: unknown): ServiceError {
  return serviceError.invalid('PROTOBUF_SCHEMA_INVALID', message, {
    hint: 'give the text of a .proto file (https://protobuf.dev/reference/protobuf/proto3-spec/) and the name of a message in it',
    cause,
  });
}

import { isServiceError } from '../../../base/errors.ts';
import type { AvroType } from '../../../codec/avro/avro-type.ts';
import { ByteCursor } from '../../../codec/avro/byte-cursor.ts';
import { resolveSchemas } from '../../../codec/avro/resolve-schemas.ts';
import type { PayloadEncoding, SchemaKey, ValueEncoding } from '../../../protocol/payload-encoding.ts';
import type { DecodeSpec, PassReason } from '../../../protocol/sealed-batch.ts';
import type { NeedsOfRecords } from '../../evolve/needs-of-records.ts';
import type { FoundRow } from '../../infer/found-row.ts';
import { rowOfAvro } from '../../infer/row-of-avro.ts';
import type { KnownSchemas } from '../known-schemas.ts';
import type { PayloadDecoder, PayloadMember, UnreadMembers } from '../payload-decoder.ts';
import type { Refusal, Rejection } from '../rejection.ts';
import type { SourceRecord } from '../source-record.ts';
import { refusedValue, ValueRefused } from '../value-refused.ts';
import { eventReader, rowOfEvent, unreadInEvent } from './event-reader.ts';
import { type GivenSchema, readGivenSchema } from './given-schema.ts';
import { type RecordReader, recordReader, unreadFields, valueReader } from './payload-readers.ts';
import { registeredAvro } from './registered-avro.ts';
import { type RecordPart, type Reference, referenceOf } from './schema-reference.ts';

type AvroEncoding = Extract<PayloadEncoding, { readonly kind: 'avro' }>;

export interface AvroPayloadOptions {
  readonly encoding: AvroEncoding;
  readonly part: RecordPart;
  readonly envelope: ValueEncoding['envelope'];
  readonly unknownMembers: DecodeSpec['unknownMembers'];
  readonly schemas: KnownSchemas;
  readonly unread: UnreadMembers;
  readonly needs?: NeedsOfRecords | undefined;
}

interface PayloadReader {
  readonly read: RecordReader;
  /** What its schema has, where the table has no place for all of it. */
  readonly row?: FoundRow | undefined;
  /** Fields of each payload that no column takes. */
  readonly unread: number;
}

/** More writers' schemas than a topic has at a time; what is dropped is made again. */
const maxReaders = 256;

/** Avro (docs/spec/avro-decoding.md): each payload by the schema it was written with, whose fields fill the columns of their names. */
export class AvroPayload implements PayloadDecoder {
  readonly #members: readonly PayloadMember[];
  readonly #options: AvroPayloadOptions;
  readonly #given: GivenSchema | undefined;
  /** What payloads are read as, whatever wrote them. */
  readonly #readAs: AvroType | undefined;
  readonly #cursor = new ByteCursor(new Uint8Array(0), 'the payload');
  /** By schema; a text says why payloads of that one cannot be read. */
  readonly #readers = new Map<SchemaKey, PayloadReader | string>();

  /** @throws ServiceError as `readGivenSchema`. */
  constructor(members: readonly PayloadMember[], options: AvroPayloadOptions) {
    this.#members = members;
    this.#options = options;
    const { encoding } = options;
    this.#given = encoding.schemas === 'given' ? readGivenSchema(encoding.schema) : undefined;
    this.#readAs = encoding.schemas === 'given' || encoding.reader === undefined ? undefined : readGivenSchema(encoding.reader).type;
  }

  decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const reference = this.#referenceOf(record, start, end);
    if (typeof reference === 'string') return { reason: 'invalid-avro', message: `the ${this.#options.part} ${reference}` };
    const reader = this.#readers.get(reference.key) ?? this.#make(reference.key);
    if (typeof reader === 'string') return { reason: 'unknown-schema', message: reader };
    if (reader.row !== undefined) this.#options.needs?.seeRow(reader.row);
    const cursor = this.#cursor;
    cursor.load(record.data, reference.from, end);
    let noRow: PassReason | undefined;
    try {
      noRow = reader.read(cursor);
    } catch (error) {
      return rejectionOf(error, start);
    }
    if (cursor.remaining === 0) {
      if (noRow !== undefined) return { noRow };
      this.#options.unread.count += reader.unread;
      return undefined;
    }
    return {
      reason: 'invalid-avro',
      message: `not valid Avro: ${cursor.remaining} bytes follow the value of its schema (${reference.key})`,
    };
  }

  #referenceOf(record: SourceRecord, start: number, end: number): Reference {
    const { encoding, part } = this.#options;
    if (encoding.schemas === 'registry') return referenceOf(record, { idIn: encoding.idIn, part }, start, end);
    if (!encoding.framed) return { key: given, from: start };
    return this.#given !== undefined && isSingleObject(record.data, start, end, this.#given.fingerprint)
      ? { key: given, from: start + singleObjectBytes }
      : 'does not begin with the mark of single-object encoding (C3 01) and the fingerprint of the schema of the route';
  }

  #make(key: SchemaKey): PayloadReader | string {
    const { schemas, unknownMembers } = this.#options;
    const found = this.#given === undefined ? schemas.find(key) : undefined;
    // Not kept: the thread is given the schema and asked again.
    if (this.#given === undefined && found === undefined) return `the schema ${key} is not known yet`;
    if (this.#given === undefined && found?.schema === undefined) return `the registry has no schema ${key}`;
    if (this.#readers.size >= maxReaders) this.#readers.clear();
    const made = this.#given === undefined ? registeredAvro(key, found?.schema) : this.#given.type;
    const reader = typeof made === 'string' ? made : this.#resolved(key, made, unknownMembers);
    this.#readers.set(key, reader);
    return reader;
  }

  #resolved(key: SchemaKey, writer: AvroType, unknownMembers: DecodeSpec['unknownMembers']): PayloadReader | string {
    if (this.#readAs === undefined) return this.#readerOf(writer, unknownMembers);
    const resolved = resolveSchemas(writer, this.#readAs);
    return typeof resolved === 'string'
      ? `the schema ${key} of the registry cannot be read as the schema of the route: ${resolved}`
      : this.#readerOf(resolved, unknownMembers);
  }

  #readerOf(type: AvroType, unknownMembers: DecodeSpec['unknownMembers']): PayloadReader | string {
    const [only, ...more] = this.#members;
    const { needs, envelope } = this.#options;
    if (type.kind === 'record' && only?.name !== wholeValue) {
      // As the route reads them: what old writers do not have is a column too.
      const whole = this.#readAs?.kind === 'record' ? this.#readAs : type;
      const stored = envelope === undefined ? whole : rowOfEvent(type);
      const row = stored === undefined ? undefined : needs?.relevant(rowOfAvro(stored, needs.spec));
      return envelope === undefined
        ? { row, read: recordReader(type, this.#members, unknownMembers), unread: unreadFields(type, this.#members) }
        : { row, read: eventReader(type, this.#members, unknownMembers), unread: unreadInEvent(type, this.#members) };
    }
    if (only !== undefined && more.length === 0) return { read: valueReader(type, only, unknownMembers), unread: 0 };
    return `the ${this.#options.part} is of Avro type ${type.kind}, not a record with a field for each of ${this.#members.length} columns`;
  }
}

/** Instead of a member's name: the column takes all of the payload. */
export const wholeValue = '';

const given = 'given';
const singleObjectBytes = 10;

function isSingleObject(data: Uint8Array, start: number, end: number, fingerprint: Uint8Array): boolean {
  if (end - start < singleObjectBytes || data[start] !== 0xc3 || data[start + 1] !== 0x01) return false;
  return fingerprint.every((byte, index) => data[start + 2 + index] === byte);
}

function rejectionOf(error: unknown, start: number): Rejection {
  if (error instanceof ValueRefused) return refusedValue(error);
  if (!isServiceError(error) || error.code !== 'AVRO_FILE_CORRUPT') throw error;
  // Places are counted in the bytes of the whole batch.
  const message = error.message
    .replace(/^the payload: /, '')
    .replace(/ at byte (\d+)$/, (_, at: string) => ` at byte ${Number(at) - start}`);
  return { reason: 'invalid-avro', message: `not valid Avro: ${message}` };
}

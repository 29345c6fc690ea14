import { assertNever } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { ValueEncoding } from '../../protocol/payload-encoding.ts';
import type { DecodeSpec } from '../../protocol/sealed-batch.ts';
import type { NeedsOfRecords } from '../evolve/needs-of-records.ts';
import { rowOfConnect } from '../infer/row-of-connect.ts';
import { AvroPayload } from './avro/avro-payload.ts';
import { type RecordPart, referenceInPrefix } from './avro/schema-reference.ts';
import { CompressedPayload, type UnpackBudget } from './compressed-payload.ts';
import { ConnectJson } from './connect/connect-payload.ts';
import { connectReader } from './connect/connect-readers.ts';
import type { ConnectSchema } from './connect/connect-schema.ts';
import { CsvPayload } from './csv-payload.ts';
import { DebeziumJson } from './debezium/debezium-json.ts';
import { deletedColumn } from './debezium/deleted-column.ts';
import { eventMembers } from './debezium/event-members.ts';
import { JsonPayload, type JsonRoot } from './json/json-payload.ts';
import { type Member, ObjectReader } from './json/object-reader.ts';
import type { KnownSchemas } from './known-schemas.ts';
import { LetterPayload } from './letter-payload.ts';
import type { PayloadDecoder, PayloadMember, UnreadMembers } from './payload-decoder.ts';
import { ProtobufPayload } from './protobuf/protobuf-payload.ts';
import type { Refusal } from './rejection.ts';
import type { RescuedMembers } from './rescued-members.ts';
import type { SourceRecord } from './source-record.ts';
import { WholePayload } from './whole-payload.ts';

export interface PayloadDecoderOptions {
  readonly part: RecordPart;
  readonly members: readonly PayloadMember[];
  readonly unknownMembers: DecodeSpec['unknownMembers'];
  readonly maxDepth: number;
  readonly schemas: KnownSchemas;
  readonly budget: UnpackBudget;
  readonly unread: UnreadMembers;
  /** What the table lacks for the records, where it may change. */
  readonly needs?: NeedsOfRecords | undefined;
  /** Takes what has no place. */
  readonly rescued?: RescuedMembers | undefined;
}

/**
 * The decoder of an encoding.
 *
 * @throws ServiceError `DECODE_SPEC_INVALID`, `DECODE_TYPE_UNSUPPORTED`, `AVRO_SCHEMA_INVALID` when the columns or the schema cannot be read so.
 */
export function createPayloadDecoder(encoding: ValueEncoding, options: PayloadDecoderOptions): PayloadDecoder {
  const decoder = unpackedDecoder(encoding, options);
  return encoding.compression === undefined ? decoder : new CompressedPayload(decoder, encoding.compression, options.budget);
}

function unpackedDecoder(encoding: ValueEncoding, options: PayloadDecoderOptions): PayloadDecoder {
  const { members, part, unknownMembers, maxDepth, schemas, unread, needs, rescued } = options;
  if (rescued !== undefined && encoding.kind !== 'json' && encoding.kind !== 'connect-json') throw nothingToRescue(encoding.kind);
  if (encoding.envelope !== undefined) deletedColumn(eventMembers(members).deleted);
  switch (encoding.kind) {
    case 'json': {
      const json = new JsonPayload(jsonRoot(undefined, encoding, options), maxDepth, needs);
      return encoding.framed ? new FramedPayload(json, part) : json;
    }
    case 'connect-json': {
      // Payloads of any schema must be readable into the columns at all: refused here, not at the first record.
      jsonRoot(undefined, encoding, options);
      return new JsonPayload(new ConnectJson((schema) => connectRoot(schema, encoding, options)), maxDepth);
    }
    case 'avro':
      return new AvroPayload(members, { encoding, part, envelope: encoding.envelope, unknownMembers, schemas, unread, needs });
    case 'protobuf':
      return new ProtobufPayload(members, { encoding, part, unknownMembers, schemas, unread, needs });
    case 'csv':
      return new CsvPayload(members, { ...encoding, unread });
    case 'letter':
      return new LetterPayload(members);
    case 'string':
    case 'bytes': {
      const [only, ...more] = members;
      if (only === undefined || more.length > 0) throw notOneColumn(encoding.kind, members);
      return new WholePayload(only, encoding.kind);
    }
    default:
      return assertNever(encoding);
  }
}

/** What reads an object into the members: it is their row, or an event that has it. `schema`: the one it was written with. */
function jsonRoot(
  schema: ConnectSchema | undefined,
  encoding: ValueEncoding,
  { members, unknownMembers, unread: counted, needs, rescued }: PayloadDecoderOptions,
): JsonRoot {
  // Where a schema says what members there are, values are not looked at.
  const noticed = schema === undefined ? needs : undefined;
  const unread = noticed === undefined ? counted : noticed.noticing(counted);
  const nested = withinMembers(noticed, rescued);
  const readable = (part: ConnectSchema | undefined, all: readonly PayloadMember[]): readonly Member[] =>
    all.map(({ name, label, nullable, column, onAbsent }) => {
      return {
        name,
        label,
        nullable,
        onAbsent,
        reader: connectReader(part?.fields.get(name), column, rescued === undefined ? unknownMembers : 'ignore', nested),
      };
    });
  if (encoding.envelope === undefined) return new ObjectReader(readable(schema, members), unknownMembers, unread, rescued);
  const { row, event, source, transaction, deleted } = eventMembers(members);
  const part = (name: string): ConnectSchema | undefined => schema?.fields.get(name);
  const read = {
    row: readable(part('after'), row),
    before: readable(part('before'), row),
    event: readable(schema, event),
    source: readable(part('source'), source),
    transaction: readable(part('transaction'), transaction),
    deleted: deletedColumn(deleted),
  };
  return new DebeziumJson(read, unknownMembers, unread, rescued);
}

/** What is told of members of structs that have no place. */
function withinMembers(needs: NeedsOfRecords | undefined, rescued: RescuedMembers | undefined): UnreadMembers | undefined {
  const noticed = needs?.noticing({ count: 0 });
  if (rescued === undefined) return noticed;
  return {
    count: 0,
    notice: (cursor) => {
      rescued.isPartial = true;
      noticed?.notice?.(cursor);
    },
  };
}

/** The same, and what the schema has for which the table has no place is told with each record. */
function connectRoot(schema: ConnectSchema | undefined, encoding: ValueEncoding, options: PayloadDecoderOptions): JsonRoot {
  const root = jsonRoot(schema, encoding, options);
  const { needs } = options;
  const stored = encoding.envelope === undefined ? schema : schema?.fields.get('after');
  const row = stored === undefined ? undefined : needs?.relevant(rowOfConnect(stored, needs.spec));
  if (row === undefined) return root;
  return {
    get noRow(): JsonRoot['noRow'] {
      return root.noRow;
    },
    read: (cursor) => {
      needs?.seeRow(row);
      return root.read(cursor);
    },
  };
}

function nothingToRescue(kind: string): ServiceError {
  return serviceError.invalid(
    'DECODE_SPEC_INVALID',
    `payloads of format ${kind} have nothing for a column from the rescue: only members of JSON are kept as text`,
    { hint: 'leave the column out; fields that a schema adds can become columns: tables[].evolve.addColumns' },
  );
}

function notOneColumn(kind: string, members: readonly PayloadMember[]): ServiceError {
  return serviceError.invalid(
    'DECODE_SPEC_INVALID',
    `payloads of format ${kind} are one value, and ${members.length} columns take it: ${members.map(({ label }) => label).join(', ')}`,
    { hint: 'leave one column from the value; fill the others from key, headers, topic, partition, offset or timestamp' },
  );
}

/** A payload behind the prefix of a registry's serializer, whose schema is not needed to read it. */
class FramedPayload implements PayloadDecoder {
  readonly #inner: PayloadDecoder;
  readonly #part: RecordPart;

  constructor(inner: PayloadDecoder, part: RecordPart) {
    this.#inner = inner;
    this.#part = part;
  }

  decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const reference = referenceInPrefix(record, start, end);
    if (typeof reference === 'string') return { reason: 'invalid-json', message: `the ${this.#part} ${reference}` };
    return this.#inner.decode(record, reference.from, end);
  }
}

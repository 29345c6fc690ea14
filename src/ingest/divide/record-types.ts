import { isJsonObject, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { PayloadEncoding, SchemaKey, SchemaText, ValueEncoding } from '../../protocol/payload-encoding.ts';
import { registeredAvro } from '../decode/avro/registered-avro.ts';
import { type Reference, referenceInPrefix, referenceOf } from '../decode/avro/schema-reference.ts';
import type { KnownSchemas } from '../decode/known-schemas.ts';
import type { ProtoSchema } from '../decode/protobuf/proto-schema.ts';
import { messageOfSchema, readMessage, registeredSchema } from '../decode/protobuf/registered-message.ts';
import { WireCursor, WireFault } from '../decode/protobuf/wire-cursor.ts';
import type { Refusal } from '../decode/rejection.ts';
import type { SourceRecord } from '../decode/source-record.ts';

/** Far more than a topic has; what is dropped is read again. */
const maxSchemas = 1_024;

/** Encodings whose records name the schema that describes them. */
type Named = Extract<PayloadEncoding, { readonly schemas: 'registry' }> | { readonly kind: 'json'; readonly framed: true };

/** Of a schema: its name, its messages, or why it has neither. */
type Found = { readonly name: string } | { readonly messages: ProtoSchema } | { readonly fault: string };

/** Whether records of the encoding name a schema, and so have a type. */
export function hasRecordTypes(value: ValueEncoding): value is ValueEncoding & Named {
  return ('schemas' in value && value.schemas === 'registry') || (value.kind === 'json' && value.framed);
}

/** The types of records whose values name a schema of the registry: its full name, of JSON Schema its title, of Protobuf the message's. */
export class RecordTypes {
  readonly #value: ValueEncoding & Named;
  readonly #schemas: KnownSchemas;
  readonly #found = new Map<SchemaKey, Found>();
  readonly #cursor = new WireCursor();

  constructor(value: ValueEncoding & Named, schemas: KnownSchemas) {
    this.#value = value;
    this.#schemas = schemas;
  }

  of(record: SourceRecord): string | Refusal {
    const { valueStart, valueEnd } = record;
    if (valueStart < 0) {
      return this.#value.tombstones === 'skip' ? { noRow: 'tombstone' } : { reason: 'null-value', message: 'the record has no value' };
    }
    const reference = this.#referenceOf(record, valueStart, valueEnd);
    if (typeof reference === 'string') return { reason: 'unknown-schema', message: `the value ${reference}` };
    const found = this.#schemaOf(reference.key);
    if ('name' in found) return found.name;
    if ('fault' in found) return { reason: 'unknown-schema', message: found.fault };
    try {
      this.#cursor.load(record.data, reference.from, valueEnd);
      const message = messageOfSchema(found.messages, readMessage(reference.message, this.#cursor), reference.key);
      return typeof message === 'string' ? { reason: 'unknown-schema', message } : message.name;
    } catch (error) {
      if (error instanceof WireFault) return { reason: 'invalid-protobuf', message: `not valid Protobuf: ${error.message}` };
      throw error;
    }
  }

  #referenceOf(record: SourceRecord, start: number, end: number): Reference {
    const value = this.#value;
    return value.kind === 'json'
      ? referenceInPrefix(record, start, end)
      : referenceOf(record, { idIn: value.idIn, part: 'value' }, start, end);
  }

  #schemaOf(key: SchemaKey): Found {
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const given = this.#schemas.find(key);
    // Not kept: the thread is given the schema and asked again.
    if (given === undefined) return { fault: `the schema ${key} is not known yet` };
    const found = this.#read(key, given.schema);
    if (this.#found.size >= maxSchemas) this.#found.clear();
    if (given.schema !== undefined) this.#found.set(key, found);
    return found;
  }

  #read(key: SchemaKey, schema: SchemaText | undefined): Found {
    if (schema === undefined) return { fault: `the registry has no schema ${key}` };
    if (schema.type === 'JSON') return titleOf(key, schema.text);
    if (schema.type === 'AVRO') {
      const type = registeredAvro(key, schema);
      if (typeof type === 'string') return { fault: type };
      return 'name' in type
        ? { name: type.name }
        : { fault: `the schema ${key} of the registry is of Avro type ${type.kind}, which has no name` };
    }
    const messages = registeredSchema(key, schema);
    return typeof messages === 'string' ? { fault: messages } : { messages };
  }
}

function titleOf(key: SchemaKey, text: string): Found {
  try {
    const schema = parseJson(text, key);
    const title = isJsonObject(schema) ? schema['title'] : undefined;
    return typeof title === 'string' ? { name: title } : { fault: `the schema ${key} of the registry has no title` };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { fault: `the schema ${key} of the registry cannot be used: ${error.message}` };
  }
}

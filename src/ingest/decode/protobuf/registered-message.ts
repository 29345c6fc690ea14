import type { SchemaKey, SchemaText } from '../../../protocol/payload-encoding.ts';
import type { MessageInHeader } from '../avro/schema-reference.ts';
import { messageAt } from './declared-messages.ts';
import { type ProtoMessage, type ProtoSchema, readProtoSchema } from './proto-schema.ts';
import { WireCursor, WireFault } from './wire-cursor.ts';

const maxIndexes = 32;
/** Of the first field, a text. */
const nameTag = 0x0a;

/** A schema of the registry; a text says why it cannot be used. */
export function registeredSchema(key: SchemaKey, schema: SchemaText): ProtoSchema | string {
  if (schema.type !== 'PROTOBUF') return `the schema ${key} of the registry is ${schema.type}, not Protobuf`;
  try {
    return readProtoSchema(schema.text, schema.references);
  } catch (error) {
    return `the schema ${key} of the registry cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Which message of its schema a payload is: its numbers with commas between, or its name. They stand before the payload, behind which the cursor goes, or
 * in a header. Source: Confluent's wire format, Apicurio's headers.
 *
 * @throws WireFault
 */
export function readMessage(inHeader: MessageInHeader | undefined, cursor: WireCursor): string {
  if (inHeader === undefined) return readIndexes(cursor);
  const { indexes, name } = inHeader;
  if (name !== '') {
    skipName(cursor, name);
    return name;
  }
  if (indexes.length === 0) return '';
  const ofHeader = new WireCursor();
  ofHeader.load(indexes, 0, indexes.length);
  return readIndexes(ofHeader);
}

/** How many numbers, then the numbers, as zigzag varints; a single 0 is [0]. */
function readIndexes(cursor: WireCursor): string {
  const count = zigzag(cursor);
  if (count === 0) return '0';
  if (count < 0 || count > maxIndexes) throw new WireFault(`names a message by ${count} numbers`);
  return Array.from({ length: count }, () => zigzag(cursor)).join(',');
}

/** Some of Apicurio's serializers also write the name before the payload, as a message of one text with its length. */
function skipName(cursor: WireCursor, name: string): void {
  const text = Buffer.from(name, 'utf8');
  if (text.length >= 0x7e) return;
  const before = Buffer.concat([Uint8Array.of(text.length + 2, nameTag, text.length), text]);
  if (before.equals(cursor.bytes.subarray(cursor.at, Math.min(cursor.at + before.length, cursor.end)))) cursor.at += before.length;
}

/** The message of those numbers, or of that name, as `readMessage` gives them; a text says why there is none. */
export function messageOfSchema(schema: ProtoSchema, which: string, key: SchemaKey): ProtoMessage | string {
  if (which === '') return `its header names the schema ${key} of the registry, and no message of it: set the message of the route`;
  const at = /^-?[0-9]/u.test(which) ? messageAt(schema.messages, which.split(',').map(Number)) : { name: which };
  if ('fault' in at) return `the schema ${key} of the registry: ${at.fault}`;
  const message = schema.message(schema.package === '' ? at.name : `${schema.package}.${at.name}`) ?? schema.message(at.name);
  return message ?? `the schema ${key} of the registry has no message "${at.name}"`;
}

function zigzag(cursor: WireCursor): number {
  cursor.varint();
  return (cursor.low >>> 1) ^ -(cursor.low & 1);
}

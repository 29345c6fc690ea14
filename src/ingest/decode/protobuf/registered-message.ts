import type { SchemaKey, SchemaText } from '../../../protocol/payload-encoding.ts';
import { messageAt } from './declared-messages.ts';
import { type ProtoMessage, type ProtoSchema, readProtoSchema } from './proto-schema.ts';
import { type WireCursor, WireFault } from './wire-cursor.ts';

const maxIndexes = 32;

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
 * Which message of its schema a payload is: how many numbers, then the numbers, as zigzag varints; a single 0 is [0]. The cursor goes behind that.
 * Source: Confluent's wire format.
 *
 * @throws WireFault
 */
export function readIndexes(cursor: WireCursor): readonly number[] {
  const count = zigzag(cursor);
  if (count === 0) return [0];
  if (count < 0 || count > maxIndexes) throw new WireFault(`names a message by ${count} numbers`);
  return Array.from({ length: count }, () => zigzag(cursor));
}

/** The message of those numbers, or of the name that is given; a text says why there is none. */
export function messageOfSchema(
  schema: ProtoSchema,
  which: { readonly indexes: readonly number[]; readonly name?: string | undefined; readonly key: SchemaKey },
): ProtoMessage | string {
  const { indexes, name, key } = which;
  const at = name === undefined ? messageAt(schema.messages, indexes) : { name };
  if ('fault' in at) return `the schema ${key} of the registry: ${at.fault}`;
  const message = schema.message(schema.package === '' ? at.name : `${schema.package}.${at.name}`) ?? schema.message(at.name);
  return message ?? `the schema ${key} of the registry has no message "${at.name}"`;
}

function zigzag(cursor: WireCursor): number {
  cursor.varint();
  return (cursor.low >>> 1) ^ -(cursor.low & 1);
}

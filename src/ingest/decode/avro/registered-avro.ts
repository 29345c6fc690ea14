import { parseJson } from '../../../base/bigint-json.ts';
import { isServiceError } from '../../../base/errors.ts';
import { type AvroType, parseAvroType } from '../../../codec/avro/avro-type.ts';
import type { SchemaKey, SchemaText } from '../../../protocol/payload-encoding.ts';

/** A schema of the registry, `undefined` when it has none of the key; a text says why it cannot be used. */
export function registeredAvro(key: SchemaKey, schema: SchemaText | undefined): AvroType | string {
  if (schema === undefined) return `the registry has no schema ${key}`;
  if (schema.type !== 'AVRO') return `the schema ${key} of the registry is ${schema.type}, not Avro`;
  try {
    const references = schema.references.map(({ text, name }) => parseJson(text, name));
    return parseAvroType(parseJson(schema.text, key), key, references);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return `the schema ${key} of the registry cannot be used: ${error.message}`;
  }
}

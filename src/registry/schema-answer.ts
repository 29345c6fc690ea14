import type { JsonObject } from '../base/bigint-json.ts';
import type { SchemaText } from '../protocol/payload-encoding.ts';
import { registryFailures } from './registry-errors.ts';

export function typeOf(found: JsonObject, shown: string): SchemaText['type'] {
  // Absent in the API's first versions, which knew nothing else.
  const type = found['schemaType'] ?? 'AVRO';
  if (type === 'AVRO' || type === 'JSON' || type === 'PROTOBUF') return type;
  throw registryFailures.invalidAnswer(shown, 'has a schemaType that is none of AVRO, JSON, PROTOBUF');
}

export function textOf(found: JsonObject, shown: string): string {
  const text = found['schema'];
  if (typeof text !== 'string') throw registryFailures.invalidAnswer(shown, 'has no schema');
  return text;
}

import { isJsonObject } from '../../../base/bigint-json.ts';
import type { JsonValue } from '../../../base/json-value.ts';

/** A schema as Kafka Connect's JSON converter writes it before each payload. */
export interface ConnectSchema {
  readonly type: string;
  /** The logical type, or the name of a struct. */
  readonly name: string | undefined;
  /** Digits behind the point, of decimals. */
  readonly scale: number | undefined;
  /** Of a struct, by name. */
  readonly fields: ReadonlyMap<string, ConnectSchema>;
  /** Of an array. */
  readonly items: ConnectSchema | undefined;
  /** Of a map. */
  readonly values: ConnectSchema | undefined;
}

const maxDepth = 100;

/** The schema, or what is wrong with it, to be read after "the schema": `has a field without name`. */
export function parseConnectSchema(json: JsonValue | undefined, depth = 0): ConnectSchema | string {
  if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
  if (!isJsonObject(json) || typeof json['type'] !== 'string') return 'has no "type"';
  const { type, name, parameters } = json;
  const fields = fieldsOf(json['fields'], depth);
  if (typeof fields === 'string') return fields;
  const [items, values] = [json['items'], json['values']].map((inner) =>
    inner === undefined || inner === null ? undefined : parseConnectSchema(inner, depth + 1),
  );
  if (typeof items === 'string') return items;
  if (typeof values === 'string') return values;
  const scale = isJsonObject(parameters) ? Number(parameters['scale']) : Number.NaN;
  return {
    type,
    name: typeof name === 'string' ? name : undefined,
    scale: Number.isInteger(scale) ? scale : undefined,
    fields,
    items,
    values,
  };
}

function fieldsOf(list: JsonValue | undefined, depth: number): ReadonlyMap<string, ConnectSchema> | string {
  const fields = new Map<string, ConnectSchema>();
  if (!Array.isArray(list)) return fields;
  for (const field of list as readonly JsonValue[]) {
    const name = isJsonObject(field) ? field['field'] : undefined;
    if (typeof name !== 'string') return 'has a field without name';
    const schema = parseConnectSchema(field, depth + 1);
    if (typeof schema === 'string') return schema;
    fields.set(name, schema);
  }
  return fields;
}

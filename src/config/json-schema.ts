import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printIndentedJson, printJson } from '../base/bigint-json.ts';
import type { ConfigPath } from './config-node.ts';
import { configFile } from './settings.ts';

let made: JsonObject | undefined;

/** The JSON Schema of the configuration file, for editors, Helm and the reference page. Made once: it costs more than reading a file with it. */
export function configJsonSchema(): JsonObject {
  made ??= makeSchema();
  return made;
}

function makeSchema(): JsonObject {
  const generated = z.toJSONSchema(configFile, { io: 'input', target: 'draft-7' });
  // Through text once: what zod gives may hold more than JSON values.
  const schema = parseJson(printJson(generated as JsonObject), 'configuration schema');
  if (!isJsonObject(schema)) return {};
  const { $schema, ...rest } = schema;
  return { $schema, title: 'Tidewater configuration', ...simplifyObject(rest) };
}

/** `configJsonSchema` as the text of `config/config.schema.json`. */
export function printConfigSchema(): string {
  return `${printIndentedJson(configJsonSchema())}\n`;
}

/** The part of the schema that describes the value at `path`; `undefined` when nothing does. */
export function schemaAt(schema: JsonObject, path: ConfigPath): JsonObject | undefined {
  let current: JsonObject | undefined = schema;
  for (const part of path) {
    if (current === undefined) return undefined;
    current = typeof part === 'number' ? firstObject(current['items']) : memberOf(current, part);
  }
  return current;
}

/** Names of the keys a map described by `schema` can have; empty when it takes any or is no map. */
export function keysOf(schema: JsonObject | undefined): readonly string[] {
  return schema === undefined
    ? []
    : alternativesOf(schema).flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : []));
}

/** The schema itself and, when it is a choice, its alternatives. */
export function alternativesOf(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? [schema, ...anyOf.filter(isJsonObject)] : [schema];
}

function memberOf(schema: JsonObject, name: string): JsonObject | undefined {
  for (const { properties, additionalProperties } of alternativesOf(schema)) {
    const member = isJsonObject(properties) ? properties[name] : undefined;
    if (isJsonObject(member)) return member;
    if (isJsonObject(additionalProperties)) return additionalProperties;
  }
  return undefined;
}

function firstObject(value: JsonObject[string]): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** A field that says its `type` itself does not repeat it as a choice of bare types. */
function simplify(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    return items.map((item) => simplify(item) ?? null);
  }
  return isJsonObject(value) ? simplifyObject(value) : value;
}

function simplifyObject(schema: JsonObject): JsonObject {
  const choices: readonly JsonValue[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const bare = choices.length > 0 && choices.every((choice) => isJsonObject(choice) && Object.keys(choice).join() === 'type');
  const kept = Object.entries(schema).filter(([key]) => !(key === 'anyOf' && bare && schema['type'] !== undefined));
  return Object.fromEntries(kept.map(([key, value]) => [key, simplify(value)]));
}

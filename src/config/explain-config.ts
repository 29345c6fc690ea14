import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/bigint-json.ts';
import { mask, shownJson } from '../base/redaction.ts';
import { type ConfigNode, type ConfigPath, plainValue, printOrigin, printPath } from './config-node.ts';
import { alternativesOf, configJsonSchema } from './json-schema.ts';
import type { LoadedConfig } from './load-config.ts';

/** One setting with its value in effect, secrets masked. */
export interface SettingExplanation {
  readonly path: string;
  readonly value: JsonValue;
  /** A file's position, an environment variable, `--set …`, or `default`. */
  readonly source: string;
  readonly description: string | undefined;
}

/** The settings in effect as the file would have them, defaults filled in, secrets masked, by their names and as parts of addresses: safe to print. */
export function redactConfig(loaded: LoadedConfig): JsonObject {
  const value = effective(loaded.written, configJsonSchema());
  return isJsonObject(value) ? value : {};
}

/** `redactConfig` as YAML. */
export function printConfig(loaded: LoadedConfig): string {
  return stringify(redactConfig(loaded), { lineWidth: 0 });
}

/** Every setting in effect with its source, in the order of the schema. */
export function explainConfig(loaded: LoadedConfig): readonly SettingExplanation[] {
  return [...explain(loaded.written, configJsonSchema(), [], 'default')];
}

function* explain(node: ConfigNode | undefined, schema: JsonObject, path: ConfigPath, source: string): Generator<SettingExplanation> {
  const from = node === undefined ? source : printOrigin(node.origin);
  const described = schema['description'];
  const description = typeof described === 'string' ? described : undefined;
  const properties = groupOf(schema, node);
  if (properties !== undefined && (node === undefined || node.kind === 'map')) {
    for (const [key, member] of Object.entries(properties)) {
      const child = node?.entries.get(key)?.node;
      if (child !== undefined || hasDefault(member)) yield* explain(child, member, [...path, key], 'default');
    }
    return;
  }
  const items = schema['items'];
  if (node?.kind === 'list' && isJsonObject(items) && propertiesOf(items) !== undefined) {
    for (const [index, item] of node.items.entries()) yield* explain(item, items, [...path, index], from);
    return;
  }
  yield { path: printPath(path), value: effective(node, schema), source: from, description };
}

function effective(node: ConfigNode | undefined, schema: JsonObject): JsonValue {
  if (schema['x-secret'] === true) return secretText(node);
  const properties = groupOf(schema, node);
  if (properties !== undefined && (node === undefined || node.kind === 'map')) {
    const known = Object.entries(properties).flatMap(([key, member]): readonly (readonly [string, JsonValue])[] => {
      const child = node?.entries.get(key)?.node;
      return child === undefined && !hasDefault(member) ? [] : [[key, effective(child, member)]];
    });
    return Object.fromEntries(known);
  }
  const items = schema['items'];
  if (node?.kind === 'list' && isJsonObject(items)) return node.items.map((item) => effective(item, items));
  // Checked by the schema: what is left are plain values, lists and maps of them.
  if (node === undefined) return schema['default'] ?? null;
  return shownJson(node.kind === 'scalar' ? typedScalar(node.value, schema) : (plainValue(node) as JsonValue));
}

/** Environment variables are text; a number or truth value among them is shown as what it is read as. */
function typedScalar(value: string | number | boolean, schema: JsonObject): JsonValue {
  const { type } = schema;
  if (!Array.isArray(type) || typeof value !== 'string') return value;
  if (type.includes('integer') && /^-?\d+$/.test(value)) return Number(value);
  return type.includes('boolean') && (value === 'true' || value === 'false') ? value === 'true' : value;
}

/** The members to show one by one; `undefined` for plain values and for groups that are absent as a whole. */
function groupOf(schema: JsonObject, node: ConfigNode | undefined): Readonly<Record<string, JsonObject>> | undefined {
  return node === undefined && !isJsonObject(schema['default']) && hasDefault(schema) ? undefined : propertiesOf(schema);
}

/** An empty secret is shown as empty: it says that none is set. */
function secretText(node: ConfigNode | undefined): string {
  return node?.kind === 'scalar' && node.value === '' ? '' : mask;
}

function hasDefault(schema: JsonObject): boolean {
  return schema['default'] !== undefined;
}

function propertiesOf(schema: JsonObject): Readonly<Record<string, JsonObject>> | undefined {
  const found = alternativesOf(schema).find(({ properties }) => isJsonObject(properties))?.['properties'];
  if (!isJsonObject(found)) return undefined;
  return Object.fromEntries(Object.entries(found).flatMap(([key, value]) => (isJsonObject(value) ? [[key, value]] : [])));
}

import { assertNever } from '../../base/assert.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import type { NewSchema } from '../../protocol/schema-subjects.ts';

/** What keeps a registered schema from being that of records which are written by `ours`; `undefined`: nothing. */
export function differenceOnTheWire(ours: NewSchema, registered: NewSchema): string | undefined {
  if (ours.type !== registered.type) return `it is of type ${registered.type}, not ${ours.type}`;
  switch (ours.type) {
    case 'AVRO':
      return different(canonicalAvro(ours.text), canonicalAvro(registered.text));
    case 'PROTOBUF':
      return different(bareProtobuf(ours.text), bareProtobuf(registered.text));
    case 'JSON':
      // Readers of JSON need no schema to find values.
      return undefined;
    default:
      return assertNever(ours.type);
  }
}

const shownCharacters = 60;

function different(ours: string, registered: string): string | undefined {
  if (ours === registered) return undefined;
  let at = 0;
  while (ours[at] === registered[at]) at++;
  const from = Math.max(0, at - shownCharacters / 2);
  const shown = (text: string): string => text.slice(from, from + shownCharacters);
  return `it has …${shown(registered)}… where the records have …${shown(ours)}…`;
}

/** The parsing canonical form: names, types and their order, which alone decide the bytes. */
function canonicalAvro(text: string): string {
  return printJson(canonical(parseJson(text, 'schema'), ''));
}

function canonical(schema: JsonValue, namespace: string): JsonValue {
  if (typeof schema === 'string')
    return primitives.has(schema) || schema.includes('.') || namespace === '' ? schema : `${namespace}.${schema}`;
  if (Array.isArray(schema)) return schema.map((branch: JsonValue) => canonical(branch, namespace));
  if (!isJsonObject(schema)) return schema;
  const { type, name, fields, items, values, symbols, size } = schema;
  if (typeof type === 'string' && primitives.has(type)) return type;
  if (typeof name !== 'string') {
    if (items !== undefined) return { type: type ?? null, items: canonical(items, namespace) };
    return values === undefined ? canonical(type ?? null, namespace) : { type: type ?? null, values: canonical(values, namespace) };
  }
  const own = name.includes('.') ? '' : typeof schema['namespace'] === 'string' ? schema['namespace'] : namespace;
  const fullName = own === '' ? name : `${own}.${name}`;
  const within = fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
  return {
    name: fullName,
    type: type ?? null,
    ...(Array.isArray(fields) ? { fields: fields.map((field: JsonValue) => canonicalField(field, within)) } : {}),
    ...(symbols === undefined ? {} : { symbols }),
    ...(size === undefined ? {} : { size }),
  };
}

function canonicalField(field: JsonValue, namespace: string): JsonObject {
  const { name = null, type = null } = isJsonObject(field) ? field : {};
  return { name, type: canonical(type, namespace) };
}

const primitives: ReadonlySet<string> = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);

/** Without comments and spacing. */
function bareProtobuf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}=;,<>[\]]) ?/g, '$1')
    .trim();
}

import { present } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { EncodeSpec, EncodeTask, EventEncoding } from '../../protocol/change-event.ts';
import { avroNotation } from './avro-notation.ts';
import { avroSchema } from './avro-schema.ts';
import type { ValueEncoding } from './column-writers.ts';
import { connectSchema } from './connect-schema.ts';
import { keySchema, valueSchema } from './event-schemas.ts';
import type { EventField, StructShape } from './event-type.ts';
import { jsonNotation } from './json-notation.ts';
import { jsonSchema } from './json-schema.ts';
import type { Notation } from './notation.ts';
import { protobufNotation } from './protobuf-notation.ts';
import { protobufSchema } from './protobuf-schema.ts';
import type { ValueForms } from './value-forms.ts';

/** What says how records are encoded. */
export type Encoded = Pick<EncodeSpec, 'records' | 'schemas'>;

interface EncodingKind {
  readonly notation: Notation;
  readonly usual: Pick<ValueForms, 'decimals' | 'times'>;
  readonly textMaps: ValueForms['textMaps'];
  /** Of a registry; `undefined`: the encoding has none there. */
  readonly registered: { readonly type: 'AVRO' | 'JSON' | 'PROTOBUF'; readonly text: (schema: StructShape) => string } | undefined;
  /** What stands between the number of the schema and the payload. */
  readonly behindId: readonly number[];
}

const asText = { decimals: 'string', times: 'text' } as const;
const asNumbers = { decimals: 'precise', times: 'adaptive' } as const;

const kinds: Readonly<Record<EventEncoding, EncodingKind>> = {
  json: { notation: jsonNotation, usual: asText, textMaps: 'of-scalars', registered: undefined, behindId: [] },
  'json-schema': {
    notation: jsonNotation,
    usual: asText,
    textMaps: 'of-scalars',
    registered: { type: 'JSON', text: jsonSchema },
    behindId: [],
  },
  avro: { notation: avroNotation, usual: asNumbers, textMaps: 'of-text', registered: { type: 'AVRO', text: avroSchema }, behindId: [] },
  protobuf: {
    notation: protobufNotation,
    usual: asNumbers,
    textMaps: 'none',
    registered: { type: 'PROTOBUF', text: protobufSchema },
    // The message is the first of its file.
    behindId: [0],
  },
};

/** How a feed's values, or its keys, are told. */
export function valueEncoding(spec: Encoded, part: 'key' | 'value'): ValueEncoding {
  const encoding = encodingOf(spec, part);
  const { notation, usual, textMaps } = kinds[encoding];
  const { decimals = usual.decimals, times = usual.times, binary } = spec.records;
  // Without a schema a variant is told as what it is.
  const variants = encoding === 'json' && !spec.schemas ? 'json' : 'text';
  return { notation, forms: { decimals, times, binary, variants, textMaps } };
}

function encodingOf({ records }: Pick<Encoded, 'records'>, part: 'key' | 'value'): EventEncoding {
  return part === 'key' ? (records.keyEncoding ?? records.encoding) : records.encoding;
}

/** A schema to be registered. */
export interface EventSchema {
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF';
  readonly text: string;
  /** Full name of the record that it is of. */
  readonly recordName: string;
}

/** The schema of a version's keys or values; `undefined`: the encoding has none in a registry. */
export function registeredSchema(task: EncodeTask, part: 'key' | 'value'): EventSchema | undefined {
  const isKeyless = part === 'key' && task.spec.keyColumns.length === 0;
  return isKeyless ? undefined : schemaToRegister(task.spec, part, () => schemaOf(task, part));
}

/** A schema as a registry has it; `undefined`: the encoding has none there. */
export function schemaToRegister(spec: Encoded, part: 'key' | 'value', schemaOfPart: () => StructShape): EventSchema | undefined {
  const { registered } = kinds[encodingOf(spec, part)];
  if (registered === undefined) return undefined;
  const schema = schemaOfPart();
  return { type: registered.type, text: registered.text(schema), recordName: present(schema.name, 'schemas of records have a name') };
}

/** `EncodedChanges.keys`: the number of the schema, or columns and types. Integers of all widths are the same digits where no schema stands beside them. */
export function keysOf(task: EncodeTask): string | undefined {
  const { spec, changes, schemaIds } = task;
  if (spec.keyColumns.length === 0 || changes.files.length === 0) return undefined;
  if (kinds[encodingOf(spec, 'key')].registered !== undefined)
    return `of schema ${present(schemaIds?.key, 'keys of the encoding have a schema')}`;
  return schemaOf(task, 'key')
    .fields.map((field) => `${field.name} ${keyTypeOf(field, spec.schemas)}`)
    .join(', ');
}

function keyTypeOf({ type, optional }: EventField, withSchema: boolean): string {
  if (type.kind !== 'scalar') return type.kind;
  const { primitive, name, parameters } = type;
  const meaning = `${name === undefined ? '' : ` ${name}`}${parameters === undefined ? '' : ` ${printJson(parameters)}`}`;
  const digits = primitive.startsWith('int') && !withSchema ? 'integer' : primitive;
  return `${digits}${meaning}${optional && withSchema ? ' or null' : ''}`;
}

/** What stands around a key or a value. */
export interface Framing {
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
}

/** The schema around the payload, the number of the schema in front of it, or nothing. */
export function framingOf(task: EncodeTask, part: 'key' | 'value'): Framing {
  const { spec, schemaIds } = task;
  if (part === 'key' && spec.keyColumns.length === 0) return { before: nothing, behind: nothing };
  return framingBy(spec, part, { id: schemaIds?.[part], schema: () => schemaOf(task, part) });
}

/** `id`: the number of the schema, where the encoding has schemas in a registry. */
export function framingBy(
  spec: Encoded,
  part: 'key' | 'value',
  by: { readonly id: number | undefined; readonly schema: () => StructShape },
): Framing {
  const { registered, behindId } = kinds[encodingOf(spec, part)];
  if (registered !== undefined) {
    const id = present(by.id, 'records of the encoding have a schema');
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(id, 1);
    return { before: Buffer.concat([head, Uint8Array.from(behindId)]), behind: nothing };
  }
  if (!spec.schemas) return { before: nothing, behind: nothing };
  const before = Buffer.from(`{"schema":${connectSchema(by.schema())},"payload":`, 'utf8');
  return { before, behind: Uint8Array.of(0x7d) };
}

const nothing = new Uint8Array(0);
/** Byte 0 and the number of the schema. */
const headBytes = 5;

function schemaOf(task: EncodeTask, part: 'key' | 'value'): StructShape {
  const { forms } = valueEncoding(task.spec, part);
  return part === 'key' ? keySchema(task, forms) : valueSchema(task, forms);
}

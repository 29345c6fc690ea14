import { type AvroType, withoutNull } from '../../codec/avro/avro-type.ts';
import type { SchemaKey, SchemaText } from '../../protocol/payload-encoding.ts';
import { registeredAvro } from '../decode/avro/registered-avro.ts';
import { type MessageInHeader, referenceOf } from '../decode/avro/schema-reference.ts';
import { messageOfSchema, readMessage, registeredSchema } from '../decode/protobuf/registered-message.ts';
import { WireCursor, WireFault } from '../decode/protobuf/wire-cursor.ts';
import {
  emptyRow,
  envelope,
  type FindPayloadOptions,
  type FoundPayload,
  isMost,
  objectsOf,
  type Sample,
  type Settings,
  withEventColumns,
} from './found-payload.ts';
import type { ColumnLimits } from './found-row.ts';
import { mergeRows } from './merge-rows.ts';
import { rowOfAvro } from './row-of-avro.ts';
import { rowOfJson } from './row-of-json.ts';
import { rowOfProtobuf } from './row-of-protobuf.ts';

/** Schemas that are asked for; records of older ones are few. */
const maxSchemas = 16;

interface RegisteredPayload {
  readonly bytes: Uint8Array;
  readonly message: MessageInHeader | undefined;
}

/** Payloads that name schemas of a registry. */
export interface Registered {
  readonly idIn: 'prefix' | 'header';
  /** Each schema with the newest payload of it, behind its id; the newest first. */
  readonly payloads: ReadonlyMap<SchemaKey, RegisteredPayload>;
  /** All payloads, behind their ids. */
  readonly bodies: readonly Uint8Array[];
}

/** `undefined`: records name no schemas. */
export function registeredIn(samples: readonly Sample[]): Registered | undefined {
  for (const idIn of ['header', 'prefix'] as const) {
    const payloads = new Map<SchemaKey, RegisteredPayload>();
    const bodies: Uint8Array[] = [];
    for (const { value, headers } of samples.toReversed()) {
      const record = { ...unplaced, data: value, headers: () => headers };
      const found = referenceOf(record, { idIn, part: 'value' }, 0, value.length);
      // Of a header alone: the rest of them would be of the other kind.
      if (typeof found === 'string' || (idIn === 'header' && found.message === undefined)) continue;
      const bytes = value.subarray(found.from);
      bodies.push(bytes);
      if (!payloads.has(found.key)) payloads.set(found.key, { bytes, message: found.message });
    }
    if (isMost(bodies.length, samples.length)) return { idIn, payloads, bodies };
  }
  return undefined;
}

const unplaced = { keyStart: -1, keyEnd: -1, valueStart: 0, valueEnd: 0, timestampMs: 0, offset: () => 0n };

/** Columns for the fields of the schemas. @throws ServiceError of the registry, that does not answer. */
export async function findRegistered(
  { idIn, payloads, bodies }: Registered,
  { limits, schemaOf, wholeEvents = false }: FindPayloadOptions,
): Promise<FoundPayload> {
  const schemaId: Settings = idIn === 'header' ? [['schemaId', idIn]] : [];
  const shown = [...payloads.keys()].slice(0, 5).join(', ');
  if (schemaOf === undefined) {
    const notes = [`Values name schemas of a registry (${shown}): give --registry, or schemaRegistry.url of a configuration.`];
    return { value: [['format', 'avro'], ...schemaId], row: emptyRow, notes };
  }
  const found: FoundPayload[] = [];
  for (const [key, payload] of [...payloads].slice(0, maxSchemas)) {
    const { schema } = await schemaOf(key);
    if (schema?.type === 'JSON') return findSchemaJson(bodies, idIn, limits);
    if (schema === undefined)
      found.push({ value: [['format', 'avro'], ...schemaId], row: emptyRow, notes: [`The registry has no schema ${key}.`] });
    else found.push((schema.type === 'AVRO' ? findAvro : findProtobuf)(schema, payload, { key, limits, schemaId, wholeEvents }));
  }
  const [newest] = found;
  if (newest === undefined) return { value: [], row: emptyRow, notes: [] };
  const alike = found.filter(({ value }) => String(value) === String(newest.value));
  const notes = [`Columns are those of the schemas that the records name (${shown}).`, ...new Set(found.flatMap((each) => each.notes))];
  return { ...newest, row: mergeRows([newest.row, ...alike.slice(1).map(({ row }) => row)]), notes };
}

/** Schemas of JSON say less than the values do. */
function findSchemaJson(bodies: readonly Uint8Array[], idIn: Registered['idIn'], limits: ColumnLimits): FoundPayload {
  const objects = objectsOf(bodies);
  const prefix: Settings = idIn === 'prefix' ? [['schemaId', 'prefix']] : [];
  return { value: [['format', 'json'], ...prefix], row: rowOfJson(objects, limits), notes: ['Columns are those that the values have.'] };
}

interface SchemaFacts {
  readonly key: SchemaKey;
  readonly limits: ColumnLimits;
  readonly schemaId: Settings;
  readonly wholeEvents: boolean;
}

function findProtobuf(schema: SchemaText, payload: RegisteredPayload, { key, limits, schemaId }: SchemaFacts): FoundPayload {
  const value: Settings = [['format', 'protobuf'], ...schemaId];
  const read = registeredSchema(key, schema);
  if (typeof read === 'string') return { value, row: emptyRow, notes: [`${read}.`] };
  const message = messageOfSchema(read, messageIn(payload), key);
  if (typeof message === 'string') return { value, row: emptyRow, notes: [`${message}.`] };
  return { value, row: rowOfProtobuf(message, limits), notes: [`Records are the message ${message.name}.`] };
}

function messageIn({ bytes, message }: RegisteredPayload): string {
  const cursor = new WireCursor();
  cursor.load(bytes, 0, bytes.length);
  try {
    return readMessage(message, cursor);
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    return '0';
  }
}

function findAvro(schema: SchemaText, _payload: RegisteredPayload, { key, limits, schemaId, wholeEvents }: SchemaFacts): FoundPayload {
  const format: Settings = [['format', 'avro'], ...schemaId];
  const type = registeredAvro(key, schema);
  if (typeof type === 'string') return { value: format, row: emptyRow, notes: [`${type}.`] };
  if (type.kind !== 'record') {
    return { value: format, row: emptyRow, notes: [`The schema ${key} is of type ${type.kind}: give the one column that takes it.`] };
  }
  const field = (name: string): AvroType | undefined => {
    const found = type.fields.find((each) => each.name === name);
    return found === undefined ? undefined : withoutNull(found.type).type;
  };
  const after = field('after');
  if (wholeEvents || field('op') === undefined || field('source') === undefined || after?.kind !== 'record')
    return { value: format, row: rowOfAvro(type, limits), notes: [] };
  return { value: [...format, ...envelope], row: withEventColumns(rowOfAvro(after, limits)), notes: [] };
}

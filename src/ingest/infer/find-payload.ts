import { isJsonObject, type JsonObject } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { decompress } from '../../codec/compression.ts';
import { parseConnectSchema } from '../decode/connect/connect-schema.ts';
import { fieldsOfCsv, rowOfCsv } from './csv-samples.ts';
import { findRegistered, registeredIn } from './find-registered.ts';
import {
  emptyRow,
  envelope,
  type FindPayloadOptions,
  type FoundPayload,
  isMost,
  objectsOf,
  type Sample,
  type SampledRecord,
  type Settings,
  textOf,
  withEventColumns,
} from './found-payload.ts';
import { rowOfConnect } from './row-of-connect.ts';
import { rowOfJson } from './row-of-json.ts';

const maxUnpackedBytes = 64 * 1024 * 1024;
const singleObjectMark = [0xc3, 0x01] as const;
const magics = { gzip: [0x1f, 0x8b], zstd: [0x28, 0xb5, 0x2f, 0xfd] } as const;

/** Looks at records, the newest last, and says how their values are read. What most of them are counts: the others would be dead letters. */
export async function findPayload(records: readonly SampledRecord[], options: FindPayloadOptions): Promise<FoundPayload> {
  const samples = records.flatMap(({ value, headers }): readonly Sample[] => (value === undefined ? [] : [{ value, headers }]));
  if (samples.length === 0) return { value: [], row: emptyRow, notes: ['No record with a value was found: the format is a guess.'] };
  const packed = (['gzip', 'zstd'] as const).find((codec) => most(samples, ({ value }) => startsWith(value, magics[codec])));
  const found = await findUnpacked(packed === undefined ? samples : unpacked(samples, packed), options);
  const tombstones = records.length - samples.length;
  const settings: Settings = [...found.value, ...(packed === undefined ? [] : [['compression', packed] as const])];
  if (tombstones === 0) return { ...found, value: settings };
  const isEvent = settings.some(([setting]) => setting === 'envelope');
  const skip: Settings = isEvent ? [] : [['tombstones', 'skip']];
  const note = `${tombstones} of ${records.length} records have no value (tombstones): they are counted and passed over.`;
  return { ...found, value: [...settings, ...skip], notes: [...found.notes, note] };
}

function findUnpacked(samples: readonly Sample[], options: FindPayloadOptions): Promise<FoundPayload> | FoundPayload {
  const registered = registeredIn(samples);
  if (registered !== undefined) return findRegistered(registered, options);
  if (most(samples, ({ value }) => startsWith(value, singleObjectMark))) {
    const notes = ['Values are Avro in its single-object encoding: give the schema that wrote them, and columns for its fields.'];
    return {
      value: [
        ['format', 'avro'],
        ['schemaId', 'single-object'],
        ['schema', ''],
      ],
      row: emptyRow,
      notes,
    };
  }
  const objects = objectsOf(samples.map(({ value }) => value));
  if (isMost(objects.length, samples.length)) return findObjects(objects, samples.length, options);
  const texts = samples.flatMap(({ value }) => textOf(value) ?? []);
  if (texts.length < samples.length) return whole('bytes', 'binary');
  const csv = fieldsOfCsv(texts);
  if (csv === undefined) return whole('string', 'string');
  const notes = ['Lines do not tell the names of their fields: give each of `fields`, and its column, the name that it has.'];
  const delimiter: Settings = csv.delimiter === ',' ? [] : [['delimiter', csv.delimiter]];
  return { value: [['format', 'csv'], ['fields', csv.fields], ...delimiter], row: rowOfCsv(csv, options.limits), notes };
}

function whole(format: 'string' | 'bytes', kind: 'string' | 'binary'): FoundPayload {
  const notes = ['Values are no JSON, no CSV, and name no schema: each is one column, as it is.'];
  return { value: [['format', format]], row: { columns: [{ name: 'value', type: { kind } }], left: [] }, notes };
}

function findObjects(objects: readonly JsonObject[], sampleCount: number, options: FindPayloadOptions): FoundPayload {
  const { limits, wholeEvents = false } = options;
  const connect = objects.filter(isConnect);
  if (isMost(connect.length, objects.length)) return findConnect(connect, sampleCount, options);
  const events = wholeEvents ? [] : objects.filter(isEvent);
  if (!isMost(events.length, objects.length))
    return { value: [['format', 'json']], row: rowOfJson(objects, limits), notes: unlike(objects, sampleCount, 'no JSON object') };
  const rows = events.flatMap(({ after, before }) => (isJsonObject(after) ? [after] : isJsonObject(before) ? [before] : []));
  const notes = [
    ...unlike(events, sampleCount, 'no change event'),
    'JSON without schemas does not tell times and decimals from numbers and text: see docs/spec/debezium-events.md.',
  ];
  return { value: [['format', 'json'], ...envelope], row: withEventColumns(rowOfJson(rows, limits)), notes };
}

function findConnect(
  objects: readonly JsonObject[],
  sampleCount: number,
  { limits, wholeEvents = false }: FindPayloadOptions,
): FoundPayload {
  const notes = unlike(objects, sampleCount, 'not what Connect’s converter writes');
  const schema = parseConnectSchema(objects.at(-1)?.['schema'] ?? undefined);
  const payloads = objects.flatMap(({ payload }) => (isJsonObject(payload) ? [payload] : []));
  const isEvents = !wholeEvents && isMost(payloads.filter(isEvent).length, payloads.length);
  const format: Settings = [['format', 'connect-json'], ...(isEvents ? envelope : [])];
  if (typeof schema === 'string') return { value: format, row: emptyRow, notes: [...notes, `The newest schema ${schema}.`] };
  const rowSchema = isEvents ? (schema.fields.get('after') ?? schema) : schema;
  const row = rowOfConnect(rowSchema, limits);
  return { value: format, row: isEvents ? withEventColumns(row) : row, notes };
}

function unlike(alike: readonly JsonObject[], sampleCount: number, what: string): readonly string[] {
  const others = sampleCount - alike.length;
  return others === 0 ? [] : [`${others} of ${sampleCount} values are ${what}, and would be dead letters.`];
}

/** Those of a truncate and of a logical message have no row. */
const withoutRow: ReadonlySet<unknown> = new Set(['t', 'm']);

function isEvent({ op, source, after, before }: JsonObject): boolean {
  return typeof op === 'string' && isJsonObject(source) && (isJsonObject(after) || isJsonObject(before) || withoutRow.has(op));
}

function isConnect(value: JsonObject): boolean {
  return 'schema' in value && 'payload' in value && Object.keys(value).length === 2;
}

/** The newest, as far as they unpack to what may be held all together. */
function unpacked(samples: readonly Sample[], codec: 'gzip' | 'zstd'): readonly Sample[] {
  let left = maxUnpackedBytes;
  const newestFirst = samples.toReversed().flatMap(({ value: packed, headers }): readonly Sample[] => {
    try {
      const value = decompress(codec, packed, { maxBytes: left });
      left -= value.length;
      return [{ value, headers }];
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return [];
    }
  });
  return newestFirst.toReversed();
}

function startsWith(value: Uint8Array, bytes: readonly number[]): boolean {
  return value.length > bytes.length && bytes.every((byte, index) => value[index] === byte);
}

function most(samples: readonly Sample[], test: (sample: Sample) => boolean): boolean {
  return isMost(samples.filter(test).length, samples.length);
}

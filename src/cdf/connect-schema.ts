import { assertNever } from '../base/assert.ts';
import { type JsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import type { EncodeSpec, Envelope } from '../protocol/change-event.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import { keyPositions } from './row-writers.ts';

/** What stands before the payload of a key and of a value; a brace ends both. */
export interface SchemaPrefixes {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * The schemas of a version's records as Kafka Connect's JsonConverter has them with `schemas.enable`, by the names that Debezium gives them. Each
 * type is that of the text a value is printed as.
 *
 * @throws ServiceError `CDF_TYPE_WITHOUT_SCHEMA` (kind unsupported) for a column whose values have no type of their own.
 */
export function schemaPrefixes({ topic, envelope, keyColumns }: EncodeSpec, schema: StructType): SchemaPrefixes {
  const keys = keyPositions(schema, keyColumns).flatMap((position) => schema.fields[position] ?? []);
  return {
    key: prefixOf(structOf(keys.map(memberOf), { name: `${topic}.Key` })),
    value: prefixOf(valueSchema(envelope, topic, schema)),
  };
}

function prefixOf(schema: JsonObject): Uint8Array {
  return Buffer.from(`{"schema":${printJson(schema)},"payload":`, 'utf8');
}

function valueSchema(envelope: Envelope, topic: string, { fields }: StructType): JsonObject {
  const row = fields.map(memberOf);
  const name = `${topic}.Value`;
  switch (envelope) {
    case 'after':
      return structOf(row, { name });
    case 'flat':
      return structOf([...row, text('_change_type'), int64('_commit_version'), { ...zoned, field: '_commit_timestamp' }], { name });
    case 'debezium':
    case 'cloudevents': {
      const image = (field: string): JsonObject => structOf(row, { name, optional: true, field });
      const members = [
        image('before'),
        image('after'),
        structOf(sourceMembers, { name: 'tidewater.Source', field: 'source' }),
        text('op'),
        int64('ts_ms'),
        int64('ts_us'),
        structOf([text('id'), int64('total_order')], { name: 'tidewater.Transaction', field: 'transaction' }),
      ];
      return structOf(members, { name: `${topic}.Envelope`, version: 1 });
    }
    default:
      return assertNever(envelope);
  }
}

const text = (field: string): JsonObject => ({ type: 'string', optional: false, field });
const int64 = (field: string): JsonObject => ({ type: 'int64', optional: false, field });
const zoned: JsonObject = { type: 'string', optional: false, name: 'io.debezium.time.ZonedTimestamp', version: 1 };

const sourceMembers: readonly JsonObject[] = [
  ...['version', 'connector', 'name', 'db', 'table'].map(text),
  int64('ts_ms'),
  text('snapshot'),
  int64('tableVersion'),
  int64('seq'),
];

function structOf(fields: readonly JsonObject[], more: JsonObject): JsonObject {
  return { type: 'struct', fields, optional: false, ...more };
}

function memberOf({ name, type, nullable }: Field): JsonObject {
  return { ...typeSchema(type, nullable, name), field: name };
}

function typeSchema(type: DataType, optional: boolean, column: string): JsonObject {
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map((field) => memberOf(field)), optional };
    case 'list':
      return { type: 'array', items: typeSchema(type.element, type.elementNullable, column), optional };
    case 'map':
      return { ...mapSchema(type, column), optional };
    case 'timestamp':
    case 'timestamp_ns':
      return { ...zoned, optional };
    case 'variant':
      throw serviceError.unsupported('CDF_TYPE_WITHOUT_SCHEMA', `column "${column}" is a variant, whose values have no schema`, {
        hint: 'leave out "schemas" of the feed',
      });
    default:
      return { type: connectTypes[type.kind], optional };
  }
}

/** As the maps are printed: objects, whose names are text, or lists of entries. */
function mapSchema({ key, value, valueNullable }: Extract<DataType, { kind: 'map' }>, column: string): Readonly<Record<string, JsonValue>> {
  const values = typeSchema(value, valueNullable, column);
  if (!['struct', 'list', 'map'].includes(key.kind)) return { type: 'map', keys: { type: 'string', optional: false }, values };
  const entry = [
    { ...typeSchema(key, false, column), field: 'key' },
    { ...values, field: 'value' },
  ];
  return { type: 'array', items: { type: 'struct', fields: entry, optional: false } };
}

const connectTypes: Readonly<
  Record<Exclude<DataType['kind'], 'struct' | 'list' | 'map' | 'timestamp' | 'timestamp_ns' | 'variant'>, string>
> = {
  boolean: 'boolean',
  byte: 'int8',
  short: 'int16',
  integer: 'int32',
  long: 'int64',
  float: 'float',
  double: 'double',
  decimal: 'string',
  string: 'string',
  binary: 'bytes',
  date: 'string',
  timestamp_ntz: 'string',
  timestamp_ntz_ns: 'string',
  time: 'string',
  void: 'string',
};

import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import { ByteCursor } from '../codec/avro/byte-cursor.ts';
import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../schema/date-text.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import { unscaledOf } from '../table/partitioning/unscaled-bytes.ts';

type ValueReader = (cursor: ByteCursor) => JsonValue;

/** Reads values of one Avro schema as the feed's JSON has them: decimals, dates and times as text, bytes as base64. */
export class AvroValues {
  readonly #read: ValueReader;
  readonly #cursor = new ByteCursor(new Uint8Array(0), 'a record');

  /** @throws ServiceError `CONSUMER_SCHEMA_UNKNOWN` (kind unsupported) for what is no schema of a feed. */
  constructor(schema: string) {
    this.#read = new Readers().of(parseJson(schema, 'schema'), '');
  }

  /** @throws ServiceError (kind corrupt) when the bytes are no value of the schema. */
  read(bytes: Uint8Array): JsonValue {
    this.#cursor.load(bytes, 0, bytes.length);
    return this.#read(this.#cursor);
  }
}

class Readers {
  readonly #named = new Map<string, ValueReader>();

  of(schema: JsonValue, namespace: string): ValueReader {
    if (typeof schema === 'string') return primitives[schema] ?? this.#reference(schema, namespace);
    if (Array.isArray(schema)) return this.#union(schema.map((branch: JsonValue) => this.of(branch, namespace)));
    if (!isJsonObject(schema)) throw unknownSchema(schema);
    const { type = null, items, values } = schema;
    if (type === 'record') return this.#record(schema, namespace);
    if (type === 'array') return listOf(this.of(items ?? null, namespace));
    if (type === 'map') return mapOf(this.of(values ?? null, namespace));
    return told(schema, this.of(type, namespace));
  }

  #reference(name: string, namespace: string): ValueReader {
    const fullName = name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
    // Looked up when it is read: a record may name itself.
    return (cursor) => {
      const read = this.#named.get(fullName) ?? this.#named.get(name);
      if (read === undefined) throw unknownSchema(name);
      return read(cursor);
    };
  }

  #record(schema: JsonObject, namespace: string): ValueReader {
    const { name, namespace: own = namespace, fields } = schema;
    if (typeof name !== 'string' || typeof own !== 'string' || !Array.isArray(fields)) throw unknownSchema(schema);
    const fullName = name.includes('.') || own === '' ? name : `${own}.${name}`;
    const within = fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
    const members: [string, ValueReader][] = [];
    const read: ValueReader = (cursor) => Object.fromEntries(members.map(([member, of]) => [member, of(cursor)]));
    this.#named.set(fullName, read);
    for (const field of fields as readonly JsonValue[]) {
      if (!isJsonObject(field) || typeof field['name'] !== 'string') throw unknownSchema(field);
      members.push([field['name'], this.of(field['type'] ?? null, within)]);
    }
    return read;
  }

  #union(branches: readonly ValueReader[]): ValueReader {
    return (cursor) => {
      const branch = branches[cursor.int()];
      if (branch === undefined) throw cursor.fail('a union has no such branch');
      return branch(cursor);
    };
  }
}

const plainLong = (value: bigint): number | bigint => (BigInt.asIntN(54, value) === value ? Number(value) : value);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

const primitives: Readonly<Record<string, ValueReader>> = {
  null: () => null,
  boolean: (cursor) => cursor.boolean(),
  int: (cursor) => cursor.int(),
  long: (cursor) => plainLong(cursor.long()),
  float: (cursor) => cursor.float(),
  double: (cursor) => cursor.double(),
  bytes: (cursor) => base64(cursor.bytes()),
  string: (cursor) => cursor.text(),
};

/** What the name of a value's meaning makes of it, as text. */
function told({ 'connect.name': name, scale }: JsonObject, read: ValueReader): ValueReader {
  switch (name) {
    case 'org.apache.kafka.connect.data.Decimal':
      return (cursor) => formatDecimal(unscaledOf(cursor.bytes()), Number(scale ?? 0));
    case 'io.debezium.time.Date':
    case 'org.apache.kafka.connect.data.Date':
      return (cursor) => formatDate(cursor.int());
    case 'io.debezium.time.MicroTime':
      return (cursor) => formatTime(cursor.long());
    case 'org.apache.kafka.connect.data.Time':
      return (cursor) => formatTime(BigInt(cursor.int()) * 1_000n);
    case 'io.debezium.time.MicroTimestamp':
      return (cursor) => dateTime(dateTimeParts(cursor.long()));
    case 'io.debezium.time.NanoTimestamp':
      return (cursor) => dateTime(dateTimeNanosParts(cursor.long()));
    case 'org.apache.kafka.connect.data.Timestamp':
      return (cursor) => dateTime(dateTimeParts(cursor.long() * 1_000n));
    default:
      return read;
  }
}

function dateTime({ date, time, fraction }: { readonly date: string; readonly time: string; readonly fraction: string }): string {
  return `${date}T${time}.${fraction}`;
}

/** Items of a feed's lists and maps take a byte at least. */
const leastItemBytes = 1;

function listOf(item: ValueReader): ValueReader {
  return (cursor) => {
    const items: JsonValue[] = [];
    for (let left = cursor.blockLength(leastItemBytes); left > 0; left = cursor.blockLength(leastItemBytes))
      for (; left > 0; left--) items.push(item(cursor));
    return items;
  };
}

function mapOf(value: ValueReader): ValueReader {
  return (cursor) => {
    const members: [string, JsonValue][] = [];
    for (let left = cursor.blockLength(leastItemBytes); left > 0; left = cursor.blockLength(leastItemBytes))
      for (; left > 0; left--) members.push([cursor.text(), value(cursor)]);
    return Object.fromEntries(members);
  };
}

function unknownSchema(schema: JsonValue | undefined): Error {
  return serviceError.unsupported(
    'CONSUMER_SCHEMA_UNKNOWN',
    `this is no schema of a feed's records: ${printJson(schema ?? null).slice(0, 200)}`,
    {
      hint: 'read the topic of a feed of encoding json, json-schema or avro',
    },
  );
}

import avsc from 'avsc';
import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';

/** A value as its producer means it, whatever it is written in. */
export type Meant =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'double' | 'float'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'decimal'; readonly unscaled: bigint; readonly scale: number }
  /** Days since 1970, and as text. */
  | { readonly kind: 'date'; readonly days: number; readonly text: string }
  /** Microseconds since 1970, and as text. */
  | { readonly kind: 'timestamp'; readonly micros: bigint; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Meant[]; readonly of: Meant }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: string, value: Meant])[]; readonly of: Meant }
  | { readonly kind: 'struct'; readonly members: Readonly<Record<string, Meant>> };

/** What a payload has: a value, null where the encoding tells it from nothing, or nothing. Of the type of `like`. */
export type Given = Meant | Missing;

export interface Missing {
  readonly kind: 'null' | 'absent';
  readonly like: Meant;
}

export function isMissing(given: Given): given is Missing {
  return given.kind === 'null' || given.kind === 'absent';
}

/** One encoding: how a producer writes a payload with one member `v`, and how a route says that it is read. */
export interface Encoding {
  readonly name: string;
  /** Kinds of values that it does not have, and why. */
  readonly lacks: Readonly<Partial<Record<Given['kind'], string>>>;
  write(given: Given): { readonly payload: Uint8Array; readonly value: ValueEncoding };
}

function meantOf(given: Given): Meant {
  return isMissing(given) ? given.like : given;
}

export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}

/** The least bytes of a two's complement number, the highest first. */
function bigEndian(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length += 1;
  return Buffer.from(
    BigInt.asUintN(8 * length, value)
      .toString(16)
      .padStart(2 * length, '0'),
    'hex',
  );
}

function jsonText(meant: Meant): string {
  switch (meant.kind) {
    case 'boolean':
    case 'integer':
      return meant.value.toString();
    case 'double':
    case 'float':
      return Object.is(meant.value, -0) ? '-0.0' : String(meant.value);
    case 'text':
      return JSON.stringify(meant.value);
    case 'bytes':
      return JSON.stringify(Buffer.from(meant.value).toString('base64'));
    case 'decimal':
      return decimalText(meant.unscaled, meant.scale);
    case 'date':
    case 'timestamp':
      return JSON.stringify(meant.text);
    case 'list':
      return `[${meant.items.map(jsonText).join(',')}]`;
    case 'map':
      return `{${meant.entries.map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`).join(',')}}`;
    case 'struct':
      return `{${Object.entries(meant.members)
        .map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`)
        .join(',')}}`;
  }
}

function member(given: Given, text: (meant: Meant) => string): string {
  if (given.kind === 'absent') return '{}';
  return `{"v":${isMissing(given) ? 'null' : text(given)}}`;
}

const json: Encoding = {
  name: 'json',
  lacks: {},
  write: (given) => ({ payload: Buffer.from(member(given, jsonText)), value: { kind: 'json', framed: false } }),
};

function connectText(meant: Meant): string {
  switch (meant.kind) {
    case 'decimal':
      return JSON.stringify(bigEndian(meant.unscaled).toString('base64'));
    case 'date':
      return String(meant.days);
    case 'list':
      return `[${meant.items.map(connectText).join(',')}]`;
    case 'map':
      return `{${meant.entries.map(([key, value]) => `${JSON.stringify(key)}:${connectText(value)}`).join(',')}}`;
    case 'struct':
      return `{${Object.entries(meant.members)
        .map(([name, value]) => `${JSON.stringify(name)}:${connectText(value)}`)
        .join(',')}}`;
    default:
      return jsonText(meant);
  }
}

function connectSchema(meant: Meant): Readonly<Record<string, unknown>> {
  const optional = true;
  switch (meant.kind) {
    case 'boolean':
    case 'double':
    case 'float':
    case 'bytes':
      return { type: meant.kind, optional };
    case 'integer':
      return { type: 'int64', optional };
    case 'text':
      return { type: 'string', optional };
    case 'decimal':
      return { type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters: { scale: String(meant.scale) }, optional };
    case 'date':
      return { type: 'int32', name: 'org.apache.kafka.connect.data.Date', optional };
    case 'timestamp':
      return { type: 'string', name: 'io.debezium.time.ZonedTimestamp', optional };
    case 'list':
      return { type: 'array', items: connectSchema(meant.of), optional };
    case 'map':
      return { type: 'map', keys: { type: 'string' }, values: connectSchema(meant.of), optional };
    case 'struct':
      return {
        type: 'struct',
        optional,
        fields: Object.entries(meant.members).map(([field, value]) => ({ ...connectSchema(value), field })),
      };
  }
}

const connectJson: Encoding = {
  name: 'connect-json',
  lacks: {},
  write: (given) => {
    const fields = given.kind === 'absent' ? [] : [{ ...connectSchema(meantOf(given)), field: 'v' }];
    const schema = JSON.stringify({ type: 'struct', fields });
    return { payload: Buffer.from(`{"schema":${schema},"payload":${member(given, connectText)}}`), value: { kind: 'connect-json' } };
  },
};

/** Records in a schema need names of their own. */
let records = 0;

function avroType(meant: Meant): unknown {
  switch (meant.kind) {
    case 'boolean':
    case 'double':
    case 'float':
    case 'bytes':
      return meant.kind;
    case 'integer':
      return 'long';
    case 'text':
      return 'string';
    case 'decimal':
      return { type: 'bytes', logicalType: 'decimal', precision: 38, scale: meant.scale };
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'timestamp':
      return { type: 'long', logicalType: 'timestamp-micros' };
    case 'list':
      return { type: 'array', items: ['null', avroType(meant.of)] };
    case 'map':
      return { type: 'map', values: ['null', avroType(meant.of)] };
    case 'struct':
      records += 1;
      return {
        type: 'record',
        name: `r${records}`,
        fields: Object.entries(meant.members).map(([name, value]) => ({ name, type: ['null', avroType(value)] })),
      };
  }
}

/** Longs as the bytes that `longType` writes: numbers do not hold them all. */
const longType = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: (value: unknown) => value,
  toJSON: (value: bigint) => Number(value),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b)),
});

function avroValue(meant: Meant): unknown {
  switch (meant.kind) {
    case 'bytes':
      return Buffer.from(meant.value);
    case 'decimal':
      return bigEndian(meant.unscaled);
    case 'date':
      return meant.days;
    case 'timestamp':
      return meant.micros;
    case 'list':
      return meant.items.map((item) => branch(item));
    case 'map':
      return Object.fromEntries(meant.entries.map(([key, value]) => [key, branch(value)]));
    case 'struct':
      return Object.fromEntries(Object.entries(meant.members).map(([name, value]) => [name, branch(value)]));
    default:
      return meant.value;
  }
}

/** A value in a union with null: avsc wants the name of its branch. */
function branch(meant: Meant): unknown {
  return { branch: meant };
}

const avro: Encoding = {
  name: 'avro',
  lacks: {},
  write: (given) => {
    const type = avroType(meantOf(given));
    const fields = given.kind === 'absent' ? [] : [{ name: 'v', type: ['null', type] }];
    const schema = { type: 'record', name: 'R', fields };
    const text = JSON.stringify(schema);
    const made = avsc.Type.forSchema(stored(JSON.parse(text)) as avsc.Schema, { registry: { long: longType }, wrapUnions: 'never' });
    const value = given.kind === 'absent' ? {} : { v: isMissing(given) ? null : avroValue(given) };
    return { payload: made.toBuffer(unwrapped(value)), value: { kind: 'avro', schemas: 'given', schema: text, framed: false } };
  },
};

/** The schema without the meaning of its types: values are given as they are stored. */
function stored(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stored);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('logicalType' in schema && 'type' in schema) return schema.type;
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, stored(value)]));
}

function unwrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if ('branch' in value) return unwrapped(avroValue(value.branch as Meant));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unwrapped(inner)]));
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  return Buffer.from([...bytes, Number(left)]);
}

const tagged = (number: number, wireType: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt((number << 3) | wireType)), wireType === 2 ? varint(BigInt(bytes.length)) : Buffer.alloc(0), bytes]);

function float64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function protoField(number: number, meant: Meant): Buffer {
  switch (meant.kind) {
    case 'boolean':
      return tagged(number, 0, varint(meant.value ? 1n : 0n));
    case 'integer':
      return tagged(number, 0, varint(meant.value));
    case 'double':
      return tagged(number, 1, float64(meant.value));
    case 'float':
      return tagged(number, 5, float32(meant.value));
    case 'text':
      return tagged(number, 2, Buffer.from(meant.value));
    case 'bytes':
      return tagged(number, 2, meant.value);
    case 'decimal':
      return tagged(number, 2, Buffer.from(decimalText(meant.unscaled, meant.scale)));
    case 'date': {
      const [year = 0, month = 0, day = 0] = meant.text.split('-').map(Number);
      return tagged(number, 2, Buffer.concat([year, month, day].map((part, index) => tagged(index + 1, 0, varint(BigInt(part))))));
    }
    case 'timestamp': {
      const micros = ((meant.micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
      const parts = [tagged(1, 0, varint((meant.micros - micros) / 1_000_000n)), tagged(2, 0, varint(micros * 1000n))];
      return tagged(number, 2, Buffer.concat(parts));
    }
    case 'list':
      return Buffer.concat(meant.items.map((item) => protoField(number, item)));
    case 'map':
      return Buffer.concat(
        meant.entries.map(([key, value]) => tagged(number, 2, Buffer.concat([tagged(1, 2, Buffer.from(key)), protoField(2, value)]))),
      );
    case 'struct':
      return tagged(number, 2, Buffer.concat(Object.values(meant.members).map((value, index) => protoField(index + 1, value))));
  }
}

function protoType(meant: Meant, messages: string[]): string {
  switch (meant.kind) {
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int64';
    case 'text':
    case 'decimal':
      return 'string';
    case 'date':
      return 'google.type.Date';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'list':
      return `repeated ${protoType(meant.of, messages)}`;
    case 'map':
      return `map<string, ${protoType(meant.of, messages)}>`;
    case 'struct': {
      const fields = Object.entries(meant.members).map(([name, value], index) => {
        const type = protoType(value, messages);
        return `${/^(repeated|map)/.test(type) ? '' : 'optional '}${type} ${name} = ${index + 1};`;
      });
      messages.push(`message S${messages.length} { ${fields.join(' ')} }`);
      return `S${messages.length - 1}`;
    }
    default:
      return meant.kind;
  }
}

const protobuf: Encoding = {
  name: 'protobuf',
  lacks: { null: 'a field is there or not' },
  write: (given) => {
    const meant = meantOf(given);
    const messages: string[] = [];
    const type = protoType(meant, messages);
    const field = given.kind === 'absent' ? '' : `${/^(repeated|map)/.test(type) ? '' : 'optional '}${type} v = 1;`;
    const schema = `syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/type/date.proto"; ${messages.join(' ')} message M { ${field} }`;
    const payload = isMissing(given) ? Buffer.alloc(0) : protoField(1, given);
    return { payload, value: { kind: 'protobuf', schemas: 'given', schema, message: 'M' } };
  },
};

/** The same as the row of a change event. */
function asEvent(name: string, row: Encoding, wrap: (written: Written) => Written): Encoding {
  return { name, lacks: row.lacks, write: (given) => wrap(row.write(given)) };
}

type Written = ReturnType<Encoding['write']>;

const eventOfJson = asEvent('json in change events', json, ({ payload, value }) => ({
  payload: Buffer.from(`{"before":null,"op":"c","after":${Buffer.from(payload).toString('utf8')},"source":{"lsn":1}}`),
  value: { ...value, envelope: 'debezium' },
}));

const eventOfConnect = asEvent('connect-json in change events', connectJson, ({ payload, value }) => {
  const { row, schema } = /^\{"schema":(?<schema>.*),"payload":(?<row>.*)\}$/s.exec(Buffer.from(payload).toString('utf8'))?.groups ?? {};
  const fields = `[{"type":"string","field":"op"},{"field":"after",${(schema ?? '').slice(1)}]`;
  return {
    payload: Buffer.from(`{"schema":{"type":"struct","fields":${fields}},"payload":{"op":"u","after":${row ?? ''}}}`),
    value: { ...value, envelope: 'debezium' },
  };
});

const eventOfAvro = asEvent('avro in change events', avro, ({ payload, value }) => {
  const row = 'schema' in value ? value.schema : '';
  const schema = `{"type":"record","name":"Envelope","fields":[{"name":"after","type":["null",${row}]},{"name":"op","type":"string"}]}`;
  return {
    payload: Buffer.concat([Buffer.from([2]), payload, Buffer.from([2]), Buffer.from('r')]),
    value: { kind: 'avro', schemas: 'given', schema, framed: false, envelope: 'debezium' },
  };
});

const csv: Encoding = {
  name: 'csv',
  lacks: {
    absent: 'each line has all fields; an empty one is null',
    list: 'a field has no parts',
    map: 'a field has no parts',
    struct: 'a field has no parts',
  },
  write: (given) => {
    const text = isMissing(given) ? '' : csvText(given);
    return { payload: Buffer.from(text), value: { kind: 'csv', fields: ['v'], delimiter: ',' } };
  },
};

function csvText(meant: Meant): string {
  const text = meant.kind === 'text' ? meant.value : meant.kind === 'date' || meant.kind === 'timestamp' ? meant.text : jsonText(meant);
  return meant.kind === 'text' ? `"${text.replaceAll('"', '""')}"` : text;
}

export const encodings: readonly Encoding[] = [json, connectJson, avro, protobuf, csv, eventOfJson, eventOfConnect, eventOfAvro];

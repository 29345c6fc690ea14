import avsc from 'avsc';
import { bigEndian, type Encoding, isMissing, jsonText, type Meant, meantOf } from './meant.ts';

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
    case 'symbol':
      records += 1;
      return { type: 'enum', name: `e${records}`, symbols: meant.symbols };
    case 'union':
      return meant.of.map(avroType);
    case 'oneof':
      return avroType({ kind: 'struct', members: meant.members });
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
    case 'union':
      return branch(meant.value);
    case 'oneof':
      return Object.fromEntries(Object.entries(meant.members).map(([name, value]) => [name, name === meant.chosen ? branch(value) : null]));
    default:
      return meant.value;
  }
}

/** A value in a union with null: avsc wants the name of its branch. */
function branch(meant: Meant): unknown {
  return { branch: meant };
}

export const avro: Encoding = {
  name: 'avro',
  lacks: {},
  write: (given) => {
    const type = [avroType(meantOf(given))].flat();
    const fields = given.kind === 'absent' || given.kind === 'default' ? [] : [{ name: 'v', type: ['null', ...type] }];
    const text = JSON.stringify({ type: 'record', name: 'R', fields });
    if (given.kind === 'default') {
      const reader = {
        type: 'record',
        name: 'R',
        fields: [{ name: 'v', type: [...type, 'null'], default: JSON.parse(jsonText(given.like)) as unknown }],
      };
      const value = { kind: 'avro', schemas: 'registry', idIn: 'prefix', reader: JSON.stringify(reader) } as const;
      return { payload: Buffer.from([0, 0, 0, 0, 7]), value, writer: text };
    }
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

import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../src/schema/types.ts';
import { goldenPayloads } from '../support/golden-payloads.ts';
import { recordOf, rowsOf, type Value } from '../unit/ingest/decode/decoding.ts';

const { schemas, records } = goldenPayloads('protobuf');
const registry: ValueEncoding = { kind: 'protobuf', schemas: 'registry', idIn: 'prefix', message: undefined, tombstones: 'skip' };

function known(): KnownSchemas {
  const found = new KnownSchemas();
  const textOf = (subject: string, version: number): string =>
    schemas.find(({ subjects }) => subjects.some(([name, number]) => name === subject && number === version))?.schema ?? '';
  found.add(
    schemas.map(({ id, schema, references }) => ({
      key: `ids/${id}`,
      schema: {
        type: 'PROTOBUF',
        text: schema,
        references: references.map(({ name, subject, version }) => ({ name, text: textOf(subject, version) })),
      },
    })),
  );
  return found;
}

function decoderOf(columns: Readonly<Record<string, string>>, value: ValueEncoding | undefined): RecordDecoder {
  const schema: StructType = {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
  const sources = schema.fields.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder(schema, { sources, unknownMembers: 'ignore', value }, { schemas: known() });
}

const address = 'struct<street:string,no:integer,lines:array<string>>';
const topics: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'enc.proto.types': {
    id: 'long',
    d: 'double',
    f: 'float',
    i32: 'integer',
    i64: 'long',
    u32: 'long',
    u64: 'decimal(20,0)',
    s32: 'integer',
    s64: 'long',
    f32: 'long',
    f64: 'decimal(20,0)',
    sf32: 'integer',
    sf64: 'long',
    b: 'boolean',
    s: 'string',
    by: 'binary',
    color: 'string',
    home: address,
    others: `array<${address}>`,
    packed: 'array<integer>',
    names: 'array<string>',
    m: 'map<string,long>',
    opt: 'string',
    opti: 'integer',
    card: 'string',
    bank: address,
    cash: 'long',
    wl: 'long',
    ws: 'string',
    wb: 'boolean',
    wby: 'binary',
    wd: 'double',
    any: 'struct<type_url:string,value:binary>',
    inner: 'struct<x:integer,kind:string,deep:struct<z:string,at:timestamp>>',
    times: 'array<timestamp_ns>',
    camelCase: 'string',
    snake_case_2: 'string',
  },
  'enc.proto.nested': { z: 'string', at: 'timestamp' },
  'enc.proto.late': { q: 'string' },
  'enc.proto.known': {
    id: 'integer',
    price: 'decimal(38,2)',
    day: 'struct<year:integer,month:integer,day:integer>',
    cost: 'struct<currency_code:string,units:long,nanos:integer>',
  },
  'enc.proto.orders': {
    id: 'long',
    amount: 'double',
    amount2: 'double',
    qty: 'long',
    status: 'string',
    channel: 'string',
    ship: 'struct<city:string,zip:string>',
    tags: 'array<string>',
  },
  'enc.proto.auto': { id: 'long', s: 'string', at: 'timestamp' },
};

describe('Protobuf payloads of another serializer', () => {
  it.each(Object.keys(topics))('%s become their rows', (topic) => {
    const columns = topics[topic] ?? {};
    const decoder = decoderOf(columns, registry);
    const account = decoderOf(columns, undefined);
    const own = records.filter(({ record }) => record.topic === topic);
    let rows = 0;
    for (const { record, row } of own) {
      const refusal = decoder.decode(recordOf(record.value === null ? undefined : Buffer.from(record.value, 'base64')));
      expect(refusal, row).toEqual(row === 'null' ? { noRow: 'tombstone' } : undefined);
      if (row === 'null') continue;
      rows += 1;
      // A number without a name is the number, in text.
      expect(account.decode(recordOf(row.replace(/"color": (\d+)/, '"color": "$1"'))), row).toBeUndefined();
    }
    expect(rows).toBeGreaterThan(0);
    const [found, wanted] = [rowsOf(decoder.finish()), rowsOf(account.finish())];
    expect(found.map(compared)).toEqual(wanted.map(compared));
  });
});

/** Lists that a message does not have are empty, and the account leaves them out; entries of a map have no order. */
function compared(value: Value): Value {
  if (Array.isArray(value)) {
    const isMap = value.length > 0 && value.every((entry) => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string');
    const all = value.map(compared) as unknown[];
    return (isMap
      ? all.toSorted((left, right) => (String((left as unknown[])[0]) < String((right as unknown[])[0]) ? -1 : 1))
      : all) as unknown as Value;
  }
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    Array.isArray(member) && member.length === 0 ? null : compared(member),
  ]);
  return Object.fromEntries(members) as Value;
}

import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { PayloadEncoding } from '../../src/protocol/payload-encoding.ts';
import type { ColumnSource } from '../../src/protocol/sealed-batch.ts';
import type { StructType } from '../../src/schema/types.ts';
import { goldenPayloads } from '../support/golden-payloads.ts';
import { recordOf, rowsOf, type Value } from '../unit/ingest/decode/decoding.ts';

const { schemas, records } = goldenPayloads();

const registry: PayloadEncoding = { kind: 'avro', schemas: 'registry', idIn: 'prefix' };

function known(): KnownSchemas {
  const found = new KnownSchemas();
  const textOf = (subject: string, version: number): string =>
    schemas.find(({ subjects }) => subjects.some(([name, number]) => name === subject && number === version))?.schema ?? '';
  found.add(
    schemas.map(({ id, schema, references }) => ({
      key: `ids/${id}`,
      schema: {
        type: 'AVRO',
        text: schema,
        references: references.map(({ name, subject, version }) => ({ name, text: textOf(subject, version) })),
      },
    })),
  );
  return found;
}

function schemaOf(columns: Readonly<Record<string, string>>): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
}

interface Decoding {
  readonly value?: PayloadEncoding;
  readonly key?: PayloadEncoding;
  readonly sources?: readonly ColumnSource[];
}

function decoderOf(schema: StructType, { value, key, sources }: Decoding): RecordDecoder {
  const named = schema.fields.map(({ name }): ColumnSource => ({ kind: 'value', name }));
  return new RecordDecoder(schema, { sources: sources ?? named, unknownMembers: 'ignore', value, key }, { schemas: known() });
}

/** The same rows as JSON make of themselves, by the decoder of JSON. */
function asJson(schema: StructType, rows: readonly string[]): readonly Value[] {
  const decoder = decoderOf(schema, {});
  for (const row of rows) expect(decoder.decode(recordOf(row))).toBeUndefined();
  return rowsOf(decoder.finish());
}

const inner = 'struct<x:integer,y:string,at:timestamp>';
const address = 'struct<street:string,no:integer>';
const topics: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'enc.avro.types': {
    id: 'long',
    b: 'boolean',
    i: 'integer',
    l: 'long',
    f: 'float',
    d: 'double',
    s: 'string',
    by: 'binary',
    fx: 'binary',
    e: 'string',
    dec: 'decimal(20,4)',
    dec0: 'decimal(10,0)',
    decfx: 'decimal(38,10)',
    u: 'string',
    date: 'date',
    tms: 'time',
    tus: 'time',
    tsms: 'timestamp',
    tsus: 'timestamp',
    tsns: 'timestamp_ns',
    lms: 'timestamp_ntz',
    lus: 'timestamp_ntz',
    lns: 'timestamp_ntz_ns',
    dur: 'binary',
    odd: 'string',
    arr: 'array<string>',
    m: 'map<string,long>',
    rec: inner,
    recs: `array<${inner}>`,
    mrec: `map<string,${inner}>`,
    mm: 'map<string,array<map<string,double>>>',
    nu: 'double',
    nlast: 'string',
    ndec: 'decimal(9,2)',
    nulltype: 'string',
  },
  'enc.avro.unions': { id: 'long', pay: 'struct<pan:string,iban:string,bic:string>', one: 'string' },
  'enc.avro.refs': { id: 'integer', home: address, more: `array<${address}>` },
  'enc.avro.orders': {
    id: 'long',
    amount: 'double',
    qty: 'long',
    status: 'string',
    note: 'string',
    channel: 'string',
    ship: 'struct<city:string,zip:string>',
  },
};

describe('Avro payloads of another serializer', () => {
  it.each(Object.entries(topics))('%s become the rows that were produced', (topic, columns) => {
    const schema = schemaOf(columns);
    const decoder = decoderOf(schema, { value: registry });
    const own = records.filter(({ record }) => record.topic === topic);
    const kept = own.flatMap(({ record, row }) => {
      const rejection = decoder.decode(recordOf(record.value === null ? undefined : Buffer.from(record.value, 'base64')));
      expect(rejection?.reason).toBe(record.value === null ? 'null-value' : undefined);
      return row === 'null' ? [] : [row];
    });
    expect(kept.length).toBeGreaterThan(5);
    expect(rowsOf(decoder.finish())).toEqual(asJson(schema, kept));
  });

  it('and their keys, of one value and of members', () => {
    for (const [topic, source, member] of [
      ['enc.avro.types', { kind: 'key' }, (key: unknown) => key],
      ['enc.avro.orders', { kind: 'key', name: 'id' }, (key: unknown) => (key as { readonly id: unknown }).id],
    ] as const) {
      const schema = schemaOf({ k: 'long' });
      const decoder = decoderOf(schema, { key: registry, sources: [source] });
      const own = records.filter(({ record }) => record.topic === topic);
      for (const { record } of own) {
        const key = Buffer.from(record.key ?? '', 'base64');
        expect(decoder.decode(recordOf(undefined, { data: key, keyStart: 0, keyEnd: key.length }))).toBeUndefined();
      }
      expect(rowsOf(decoder.finish())).toEqual(own.map(({ expectedKey }) => ({ k: BigInt(String(member(expectedKey))) })));
    }
  });

  it('of a type that holds itself are refused by name', () => {
    const decoder = decoderOf(schemaOf({ id: 'integer' }), { value: registry });
    const [tree] = records.filter(({ record }) => record.topic === 'enc.avro.tree');
    expect(decoder.decode(recordOf(Buffer.from(tree?.record.value ?? '', 'base64')))).toEqual({
      reason: 'unknown-schema',
      message: 'the schema ids/4 of the registry cannot be used: ids/4: type rig.avro.Node contains itself',
    });
  });
});

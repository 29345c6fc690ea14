import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../src/schema/types.ts';
import { goldenPayloads } from '../support/golden-payloads.ts';
import { recordOf, rowsOf } from '../unit/ingest/decode/decoding.ts';

/* What a serializer of JSON Schema writes, JSON behind the id of its schema (test/golden/CATALOGUE.md), becomes the rows that it was given. */

const { records } = goldenPayloads('json-schema');
const framed: ValueEncoding = { kind: 'json', framed: true, tombstones: 'skip' };

const topics: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'enc.json.types': {
    id: 'long',
    i: 'integer',
    big: 'long',
    n: 'double',
    s: 'string',
    b: 'boolean',
    ns: 'string',
    date: 'date',
    ts: 'string',
    tm: 'string',
    u: 'string',
    raw: 'binary',
    dec: 'decimal(38,10)',
    e: 'string',
    c: 'string',
    arr: 'array<long>',
    aa: 'array<array<string>>',
    o: 'struct<x:long,y:struct<z:boolean>>',
    map: 'map<string,double>',
    home: 'struct<street:string,no:integer>',
    inner: 'struct<k:string>',
  },
  'enc.json.orders': {
    id: 'long',
    amount: 'double',
    qty: 'double',
    channel: 'string',
    ship: 'struct<city:string>',
  },
};

function decoderOf(columns: Readonly<Record<string, string>>, value: ValueEncoding | undefined): RecordDecoder {
  const schema: StructType = {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
  const sources = schema.fields.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder(schema, { sources, unknownMembers: 'ignore', value });
}

describe('JSON of a serializer with schemas', () => {
  it.each(Object.keys(topics))('%s becomes its rows', (topic) => {
    const columns = topics[topic] ?? {};
    const decoder = decoderOf(columns, framed);
    const account = decoderOf(columns, undefined);
    let rows = 0;
    for (const { record, row } of records.filter((each) => each.record.topic === topic)) {
      const refusal = decoder.decode(recordOf(record.value === null ? undefined : Buffer.from(record.value, 'base64')));
      expect(refusal, row).toEqual(row === 'null' ? { noRow: 'tombstone' } : undefined);
      if (row === 'null') continue;
      rows += 1;
      expect(account.decode(recordOf(row)), row).toBeUndefined();
    }
    expect(rows).toBeGreaterThan(0);
    expect(rowsOf(decoder.finish())).toEqual(rowsOf(account.finish()));
  });
});

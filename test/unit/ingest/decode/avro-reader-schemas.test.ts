import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import { recordOf, rowsOf, type Value } from './decoding.ts';

/* Rules of reading one schema as another that the captured pairs (test/golden/avro-evolution.test.ts) do not show one by one. */

const record = (fields: readonly unknown[], rest: object = {}): object => ({ type: 'record', name: 'R', fields, ...rest });
const v = (type: unknown, rest: object = {}): object => record([{ name: 'v', type, ...rest }]);
const logical = (type: string, logicalType: string): object => ({ type, logicalType });

interface Reading {
  readonly writer: object;
  readonly reader: object;
  readonly columns?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  readonly unknownMembers?: 'ignore' | 'reject';
}

function read({ writer, reader, columns = { v: 'long' }, required = [], unknownMembers = 'ignore' }: Reading, bytes: readonly number[]) {
  const schemas = new KnownSchemas();
  schemas.add([{ key: 'ids/7', schema: { type: 'AVRO', text: JSON.stringify(writer), references: [] } }]);
  const fields = Object.entries(columns).map(([name, type]) => ({
    ...{ name, type: parseColumnType(type) },
    nullable: !required.includes(name),
  }));
  const value = { kind: 'avro', schemas: 'registry', idIn: 'prefix', reader: JSON.stringify(reader) } as const;
  const sources = fields.map(({ name }) => ({ kind: 'value', name }) as const);
  const decoder = new RecordDecoder({ kind: 'struct', fields }, { sources, unknownMembers, value }, { schemas });
  const refusal = decoder.decode(recordOf(Uint8Array.from([0, 0, 0, 0, 7, ...bytes])));
  const [row = null] = rowsOf(decoder.finish());
  return refusal === undefined ? row : `${refusal.reason}: ${refusal.message}`;
}

describe('an Avro payload that is read as the schema of its route', () => {
  it.each<[string, Reading, readonly number[], Value]>([
    [
      'fills a required column with the default of a field that its writer did not have',
      { writer: record([]), reader: v('long', { default: 9_007_199_254_740_993 }), required: ['v'] },
      [],
      { v: 9_007_199_254_740_992n },
    ],
    [
      'is no unknown member where its writer had more fields',
      { writer: record([{ name: 'old', type: 'int' }]), reader: v('long', { default: 1 }), unknownMembers: 'reject' },
      [2],
      { v: 1n },
    ],
    [
      'has the unit that its writer meant',
      { writer: v(logical('long', 'timestamp-millis')), reader: v(logical('long', 'timestamp-micros')), columns: { v: 'timestamp' } },
      [2],
      { v: 1000n },
    ],
    [
      'has the meaning of the route where its writer told none',
      { writer: v('int'), reader: v(logical('long', 'timestamp-millis')), columns: { v: 'timestamp' } },
      [2],
      { v: 1000n },
    ],
    [
      'keeps a promoted number exact',
      { writer: v('long'), reader: v('float'), columns: { v: 'decimal(20,0)' } },
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
      { v: -9_223_372_036_854_775_808n },
    ],
    [
      'is of the branch of its own kind before others that take it',
      { writer: v('int'), reader: v(['null', 'double', 'int']), columns: { v: 'integer' } },
      [2],
      { v: 1 },
    ],
    [
      'is found by an alias only where no field has the name itself',
      {
        writer: record([
          { name: 'a', type: 'int' },
          { name: 'v', type: 'int' },
        ]),
        reader: v('int', { aliases: ['a'] }),
      },
      [2, 4],
      { v: 2n },
    ],
    [
      'has the default of an enum for a symbol that the route does not know',
      {
        writer: v({ type: 'enum', name: 'E', symbols: ['A', 'B'] }),
        reader: v({ type: 'enum', name: 'E', symbols: ['A'], default: 'A' }),
        columns: { v: 'string' },
      },
      [2],
      { v: 'A' },
    ],
  ])('%s', (_, reading, bytes, expected) => {
    expect(read(reading, bytes)).toEqual(expected);
  });

  const unread = 'unknown-schema: the schema ids/7 of the registry cannot be read as the schema of the route:';

  it.each<[string, Reading, readonly number[], string]>([
    ['whose field has another type', { writer: v('int'), reader: v('boolean') }, [2], `${unread} field v: int is not read as boolean`],
    [
      'without a field that has no default',
      { writer: record([]), reader: v('long') },
      [],
      `${unread} field v is not written and has no default`,
    ],
    [
      'of a record of another name',
      { writer: record([], { name: 'a.Q' }), reader: v('long', { default: 1 }) },
      [],
      `${unread} record a.Q is not R, nor one of its aliases`,
    ],
    [
      'of a fixed of another size',
      { writer: v({ type: 'fixed', name: 'F', size: 2 }), reader: v({ type: 'fixed', name: 'F', size: 3 }) },
      [0, 0],
      `${unread} field v: fixed(2) is not read as fixed(3)`,
    ],
    [
      'of text where digits are meant',
      { writer: v('string'), reader: v({ type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 }), columns: { v: 'decimal(4,2)' } },
      [2, 49],
      `${unread} field v: string is not read as bytes decimal`,
    ],
    [
      'of a symbol that the route does not know',
      {
        writer: v({ type: 'enum', name: 'E', symbols: ['A', 'B'] }),
        reader: v({ type: 'enum', name: 'E', symbols: ['A'] }),
        columns: { v: 'string' },
      },
      [2],
      'wrong-type: column "v": "B" is no symbol of the schema of the route, whose enum has no default',
    ],
    [
      'of a branch that the route does not take',
      { writer: v(['null', 'long']), reader: v('long') },
      [0],
      'wrong-type: column "v": by the schema of the route: null is not read as long',
    ],
    [
      'that names a type which holds itself',
      { writer: record([{ name: 'next', type: ['null', 'R'] }]), reader: v('long', { default: 1 }) },
      [0],
      'unknown-schema: the schema ids/7 of the registry cannot be used: ids/7: type R contains itself',
    ],
  ])('is refused when it is %s', (_, reading, bytes, expected) => {
    expect(read(reading, bytes)).toBe(expected);
  });
});

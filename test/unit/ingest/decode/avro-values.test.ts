import avsc from 'avsc';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { PayloadEncoding } from '../../../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { recordOf, rowsOf, type Value } from './decoding.ts';

type Json = string | readonly Json[] | { readonly [name: string]: unknown };

const one = (type: string, nullable = true): StructType => ({
  kind: 'struct',
  fields: [{ name: 'v', type: parseColumnType(type), nullable }],
});

/** What column `v` makes of a value that avsc wrote with the type: the value, or the reason and message of its rejection. */
function decodeAs(column: string, type: Json, value: unknown, options: { readonly nullable?: boolean } = {}): Value {
  const schema = { type: 'record', name: 'R', fields: [{ name: 'v', type }] };
  const bytes = avsc.Type.forSchema(schema as unknown as avsc.Schema, { wrapUnions: true, noAnonymousTypes: false }).toBuffer({ v: value });
  const encoding: PayloadEncoding = { kind: 'avro', schemas: 'given', schema: JSON.stringify(schema), framed: false };
  const spec = { sources: [{ kind: 'value', name: 'v' }] as const, unknownMembers: 'ignore', value: encoding } as const;
  const decoder = new RecordDecoder(one(column, options.nullable), spec);
  const rejection = decoder.decode(recordOf(bytes));
  if (rejection !== undefined) return `${rejection.reason}: ${rejection.message}`;
  const [row] = rowsOf(decoder.finish());
  return typeof row === 'object' && row !== null ? (Object.values(row)[0] ?? null) : null;
}

const decimal = (precision: number, scale: number): Json => ({ type: 'bytes', logicalType: 'decimal', precision, scale });
const logical = (type: string, logicalType: string): Json => ({ type, logicalType });
const named = (type: string, name: string): Json => ({ type, 'connect.name': name });

describe('an Avro value in a column', () => {
  it.each<[string, Json, unknown, Value]>([
    ['byte', 'int', -128, -128],
    ['short', 'long', 32_767, 32_767],
    ['integer', 'long', -2_147_483_648, -2_147_483_648],
    ['long', 'int', -7, -7n],
    ['float', 'int', 3, 3],
    ['double', 'float', 0.5, 0.5],
    ['double', 'long', 5, 5],
    ['decimal(5,2)', 'int', 12, 1200n],
    ['decimal(38,10)', decimal(4, 1), Buffer.from([0xff]), -1_000_000_000n],
    ['decimal(5,1)', decimal(6, 3), Buffer.from([0x04, 0xb0]), 12n],
    ['decimal(12,2)', 'string', '-12.5', -1250n],
    ['long', 'string', '9007199254740993', 9_007_199_254_740_993n],
    ['timestamp', 'string', '2024-02-29T12:00:00.5Z', 1_709_208_000_500_000n],
    ['date', 'string', '1970-01-02', 1],
    ['time', logical('int', 'time-millis'), 86_399_999, 86_399_999_000n],
    ['timestamp', logical('long', 'timestamp-millis'), -1, -1000n],
    ['timestamp_ntz', logical('long', 'local-timestamp-micros'), 1, 1n],
    ['timestamp', logical('long', 'timestamp-nanos'), 2_000, 2n],
    ['timestamp_ns', logical('long', 'timestamp-micros'), 2, 2_000n],
    ['long', logical('long', 'timestamp-micros'), 77, 77n],
    ['date', named('int', 'io.debezium.time.Date'), 19_782, 19_782],
    ['timestamp_ntz', named('long', 'io.debezium.time.MicroTimestamp'), 5, 5n],
    ['timestamp_ntz', named('long', 'io.debezium.time.Timestamp'), 5, 5_000n],
    ['string', { type: 'enum', name: 'E', symbols: ['A', 'B'] }, 'B', 'B'],
    ['string', { type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' }, Buffer.alloc(16, 0xab), 'abababab-abab-abab-abab-abababababab'],
    [
      'string',
      { type: 'fixed', name: 'D', size: 12, logicalType: 'duration' },
      Buffer.from('0100000002000000dc050000', 'hex'),
      'P1M2DT1.500S',
    ],
    ['array<integer>', { type: 'array', items: 'int' }, [1, 2], [1, 2]],
    ['map<string,long>', { type: 'map', values: 'long' }, { a: 1 }, [['a', 1n]]],
    ['string', ['string', 'null'], null, null],
    ['long', ['int', 'long', 'null'], { long: 5 }, 5n],
  ])('%s takes %j of %j', (column, type, value, expected) => {
    expect(decodeAs(column, type, value)).toEqual(expected);
  });

  it.each<[string, Json, unknown, string]>([
    ['byte', 'int', 128, 'out-of-range: column "v": 128 does not fit a byte'],
    ['integer', 'long', 2_147_483_648, 'out-of-range: column "v": 2147483648 does not fit an integer'],
    ['float', 'double', 0.1, 'wrong-type: column "v": a value of Avro type double is not float'],
    ['decimal(3,2)', 'int', 12, 'out-of-range: column "v": 12E0 does not fit a decimal(3,2)'],
    ['decimal(5,1)', decimal(6, 3), Buffer.from([0x01]), 'out-of-range: column "v": 1E-3 does not fit a decimal(5,1)'],
    ['decimal(38,0)', decimal(50, 0), Buffer.alloc(20, 0x7f), 'out-of-range: column "v": has more than 38 digits'],
    ['timestamp', logical('long', 'timestamp-nanos'), 1, 'out-of-range: column "v": 1 is in no whole microseconds'],
    ['timestamp', 'long', 1, 'wrong-type: column "v": a value of Avro type long is not timestamp'],
    [
      'timestamp',
      logical('long', 'local-timestamp-micros'),
      1,
      'wrong-type: column "v": a value of Avro type long local-timestamp-micros is not timestamp',
    ],
    [
      'timestamp',
      logical('long', 'timestamp-millis'),
      253_402_300_800_000,
      'out-of-range: column "v": 253402300800000 does not fit a timestamp',
    ],
    ['time', logical('int', 'time-millis'), 86_400_000, 'out-of-range: column "v": 86400000 does not fit a time'],
    [
      'date',
      logical('int', 'date'),
      2_932_897,
      'out-of-range: column "v": 2932897 does not fit a date of the years 0001 to 9999 (in days since 1970)',
    ],
    ['long', 'string', 'x"1', 'wrong-type: column "v": "x\\"1" is not a long'],
    ['string', 'bytes', Buffer.from('a'), 'wrong-type: column "v": a value of Avro type bytes is not string'],
    ['string', 'long', 1, 'wrong-type: column "v": a value of Avro type long is not string'],
    [
      'struct<a:long not null>',
      { type: 'record', name: 'S', fields: [] },
      {},
      'missing-required: column "v.a": a required column has no value',
    ],
    ['long', ['int', 'string'], { string: 'x' }, 'wrong-type: column "v": "x" is not a long'],
  ])('%s refuses %j of %j', (column, type, value, message) => {
    expect(decodeAs(column, type, value)).toBe(message);
  });

  it('null is refused where the column is required', () => {
    expect(decodeAs('long', ['null', 'long'], null, { nullable: false })).toBe(
      'missing-required: column "v": null is not allowed in a required column',
    );
  });
});

describe('Avro payloads', () => {
  const text = JSON.stringify({
    type: 'record',
    name: 'R',
    fields: [
      { name: 'v', type: 'long' },
      { name: 'w', type: ['null', 'string'] },
    ],
  });
  const given = (framed: boolean): PayloadEncoding => ({ kind: 'avro', schemas: 'given', schema: text, framed });
  const decoder = (value: PayloadEncoding, unknownMembers: 'ignore' | 'reject' = 'ignore', schemas = new KnownSchemas()): RecordDecoder =>
    new RecordDecoder(one('long'), { sources: [{ kind: 'value', name: 'v' }], unknownMembers, value }, { schemas });
  const five = Buffer.from([10, 0]);

  it.each<[string, PayloadEncoding, Buffer, string]>([
    ['end inside of a value', given(false), Buffer.from([10]), 'invalid-avro: not valid Avro: ends inside of a value at byte 1'],
    [
      'go on behind their value',
      given(false),
      Buffer.concat([five, five]),
      'invalid-avro: not valid Avro: 2 bytes follow the value of its schema (given)',
    ],
    ['have a branch that is none', given(false), Buffer.from([10, 4]), 'invalid-avro: not valid Avro: a union has no branch 2 at byte 2'],
    [
      'lack the mark of single objects',
      given(true),
      five,
      'invalid-avro: the value does not begin with the mark of single-object encoding (C3 01) and the fingerprint of the schema of the route',
    ],
    [
      'lack the id of their schema',
      { kind: 'avro', schemas: 'registry', idIn: 'prefix' },
      five,
      'invalid-avro: the value does not begin with the byte 0 and the 4-byte id of a schema',
    ],
  ])('that %s are rejected', (_, encoding, bytes, expected) => {
    const rejection = decoder(encoding).decode(recordOf(bytes));
    expect(`${rejection?.reason ?? ''}: ${rejection?.message ?? ''}`).toBe(expected);
  });

  it('with a member that no column takes are rejected when the table wants that', () => {
    expect(decoder(given(false), 'ignore').decode(recordOf(five))).toBeUndefined();
    expect(decoder(given(false), 'reject').decode(recordOf(five))).toEqual({
      reason: 'unknown-member',
      message: 'member "w" is a member that no column takes',
    });
  });

  // The fingerprint is that of the specification's canonical form: avro-tools gives the same for this schema.
  it('are read behind the mark of single-object encoding', () => {
    const fingerprintOfInt = Buffer.from('8f5c393f1ad57572', 'hex');
    const int = new RecordDecoder(one('integer'), {
      sources: [{ kind: 'value', name: 'v' }],
      unknownMembers: 'ignore',
      value: { kind: 'avro', schemas: 'given', schema: '"int"', framed: true },
    });
    const payload = Buffer.concat([Buffer.from('c301', 'hex'), fingerprintOfInt, Buffer.from([10])]);
    expect(int.decode(recordOf(payload))).toBeUndefined();
    expect(rowsOf(int.finish())).toEqual([{ v: 5 }]);
  });

  it('name schemas in headers of several serializers', () => {
    const schemas = new KnownSchemas();
    const schema = { type: 'AVRO', text, references: [] } as const;
    schemas.add(['ids/7', 'guids/00112233-4455-6677-8899-aabbccddeeff'].map((key) => ({ key, schema })));
    const reader = decoder({ kind: 'avro', schemas: 'registry', idIn: 'header' }, 'ignore', schemas);
    const headers: readonly (readonly [string, Buffer])[] = [
      ['apicurio.value.contentId', Buffer.from('0000000000000007', 'hex')],
      ['apicurio.value.globalId', Buffer.from('0000000000000007', 'hex')],
      ['__value_schema_id', Buffer.from('0100112233445566778899aabbccddeeff', 'hex')],
      ['__value_schema_id', Buffer.from('0000000007', 'hex')],
    ];
    for (const header of headers) expect(reader.decode(recordOf(five, { headers: () => [header] }))).toBeUndefined();
    expect(reader.decode(recordOf(five))?.reason).toBe('invalid-avro');
    expect(rowsOf(reader.finish())).toEqual(headers.map(() => ({ v: 5n })));
  });

  it('leave no trace of what is rejected, however they are damaged', () => {
    const random = new SeededRandom(20_261_123);
    const schema = {
      type: 'record',
      name: 'Damaged',
      fields: [
        { name: 's', type: 'string' },
        { name: 'l', type: { type: 'array', items: ['null', 'long'] } },
        { name: 'm', type: { type: 'map', values: { type: 'record', name: 'In', fields: [{ name: 'd', type: decimal(10, 2) }] } } },
        { name: 'n', type: { type: 'array', items: 'null' } },
      ],
    };
    const type = avsc.Type.forSchema(schema as unknown as avsc.Schema, { wrapUnions: true });
    const row = { s: 'naïve', l: [null, { long: 5 }], m: { a: { d: Buffer.from([1, 2]) } }, n: [null, null] };
    const whole = type.toBuffer(row);
    const columns = { s: 'string', l: 'array<long>', m: 'map<string,struct<d:decimal(10,2)>>', n: 'array<long>' };
    const table: StructType = {
      kind: 'struct',
      fields: Object.entries(columns).map(([name, text]) => ({ name, type: parseColumnType(text), nullable: true })),
    };
    const value: PayloadEncoding = { kind: 'avro', schemas: 'given', schema: JSON.stringify(schema), framed: false };
    const sources = table.fields.map(({ name }) => ({ kind: 'value', name }) as const);
    const reader = new RecordDecoder(table, { sources, unknownMembers: 'ignore', value });
    let rejected = 0;
    for (let round = 0; round < 3_000; round += 1) {
      const bytes = Buffer.from(whole);
      const at = Math.floor(random.next() * bytes.length);
      bytes[at] = Math.floor(random.next() * 256);
      const damaged = random.next() < 0.3 ? bytes.subarray(0, Math.floor(random.next() * bytes.length)) : bytes;
      const before = reader.rowCount;
      if (reader.decode(recordOf(damaged)) === undefined) continue;
      rejected += 1;
      expect(reader.rowCount).toBe(before);
      reader.reset();
      expect(reader.decode(recordOf(whole))).toBeUndefined();
      expect(rowsOf(reader.finish())).toEqual([{ s: 'naïve', l: [null, 5n], m: [['a', { d: 258n }]], n: [null, null] }]);
    }
    expect(rejected).toBeGreaterThan(500);
  });
});

describe('payloads that are one value', () => {
  const spec = (value: PayloadEncoding) => ({ sources: [{ kind: 'value', name: 'v' }] as const, unknownMembers: 'ignore', value }) as const;

  it('fill one column of text or bytes', () => {
    for (const [column, kind, expected] of [
      ['string', 'string', 'ab'],
      ['binary', 'bytes', 'hex:6162'],
      ['binary', 'string', 'hex:6162'],
    ] as const) {
      const decoder = new RecordDecoder(one(column), spec({ kind }));
      expect(decoder.decode(recordOf('ab'))).toBeUndefined();
      expect(rowsOf(decoder.finish())).toEqual([{ v: expected }]);
    }
    const text = new RecordDecoder(one('string'), spec({ kind: 'string' }));
    expect(text.decode(recordOf(Buffer.from([0xff])))?.reason).toBe('invalid-utf8');
  });

  it('need a column that can hold them, and only one', () => {
    expect(() => new RecordDecoder(one('long'), spec({ kind: 'string' }))).toThrow(
      'column "v" of type long cannot hold payloads of format string',
    );
    expect(() => new RecordDecoder(one('string'), spec({ kind: 'bytes' }))).toThrow('cannot hold payloads of format bytes');
  });

  it('in JSON are read behind the id of a schema', () => {
    const decoder = new RecordDecoder(one('long'), spec({ kind: 'json', framed: true }));
    expect(decoder.decode(recordOf(Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), Buffer.from('{"v":5}')])))).toBeUndefined();
    expect(decoder.decode(recordOf('{"v":5}'))?.message).toBe('the value does not begin with the byte 0 and the 4-byte id of a schema');
    expect(rowsOf(decoder.finish())).toEqual([{ v: 5n }]);
  });
});

import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';
import { recordOf, rowsOf, type Value } from './decoding.ts';

const header =
  'syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/wrappers.proto"; import "google/type/date.proto"; import "google/type/timeofday.proto"; import "confluent/type/decimal.proto"; ';

function decoderOf(
  schema: string,
  columns: Readonly<Record<string, string>>,
  options: { readonly message?: string; readonly unknownMembers?: 'ignore' | 'reject' } = {},
): RecordDecoder {
  const { message = 'M', unknownMembers = 'ignore' } = options;
  const fields = Object.entries(columns).map(([name, type]) => {
    return { name, type: parseColumnType(type.replace('!', '')), nullable: !type.endsWith('!') };
  });
  const sources = fields.map(({ name }) => ({ kind: 'value', name }) as const);
  const value: ValueEncoding = { kind: 'protobuf', schemas: 'given', schema, message };
  return new RecordDecoder({ kind: 'struct', fields }, { sources, unknownMembers, value });
}

/** The row, or why there is none. */
function read(decoder: RecordDecoder, payload: Uint8Array, headers: Headers = []): Value {
  const refusal = decoder.decode(recordOf(payload, { headers: () => headers }));
  const [row = null] = rowsOf(decoder.finish());
  if (refusal !== undefined) expect(row).toBeNull();
  return refusal?.message ?? row;
}

/** `[number, wire type, bytes]` of each field. */
function wire(
  ...fields: readonly (readonly [number: number, type: 'varint' | 'i64' | 'bytes' | 'i32' | 'group', bytes: readonly number[]])[]
): Uint8Array {
  const types = { varint: 0, i64: 1, bytes: 2, group: 3, i32: 5 };
  const parts = fields.flatMap(([number, type, bytes]) => {
    const tag = protobuf.Writer.create()
      .uint32((number << 3) | types[type])
      .finish();
    return [...tag, ...(type === 'bytes' ? [bytes.length] : []), ...bytes];
  });
  return Uint8Array.from(parts);
}

const minus = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
const ones = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const text = (value: string): readonly number[] => [...Buffer.from(value)];

describe('a value of Protobuf', () => {
  it.each([
    ['int32', 'varint', minus, 'integer', -1],
    ['int32', 'varint', [0xff, 0xff, 0xff, 0xff, 0x0f], 'integer', -1],
    ['int32', 'varint', [0x80, 0x01], 'byte', 'column "v": 128 does not fit a byte'],
    ['int32', 'varint', minus, 'byte', -1],
    ['int64', 'varint', minus, 'long', -1n],
    ['int64', 'varint', [0x80, 0x80, 0x80, 0x80, 0x10], 'integer', 'column "v": 4294967296 does not fit an integer'],
    ['int64', 'varint', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], 'long', -(2n ** 63n)],
    ['uint32', 'varint', [0xff, 0xff, 0xff, 0xff, 0x0f], 'long', 4_294_967_295n],
    ['uint32', 'varint', [0xff, 0xff, 0xff, 0xff, 0x0f], 'integer', 'column "v": 4294967295 does not fit an integer'],
    ['uint64', 'varint', minus, 'decimal(20,0)', 2n ** 64n - 1n],
    ['uint64', 'varint', minus, 'long', 'column "v": 18446744073709551615 does not fit a long'],
    ['uint64', 'varint', minus, 'double', 18_446_744_073_709_552_000],
    ['sint32', 'varint', [0x01], 'integer', -1],
    ['sint32', 'varint', [0xff, 0xff, 0xff, 0xff, 0x0f], 'integer', -2_147_483_648],
    ['sint64', 'varint', minus, 'long', -(2n ** 63n)],
    ['sint64', 'varint', [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 'long', 2n ** 63n - 1n],
    ['fixed32', 'i32', [0xff, 0xff, 0xff, 0xff], 'long', 4_294_967_295n],
    ['sfixed32', 'i32', [0xff, 0xff, 0xff, 0xff], 'integer', -1],
    ['fixed64', 'i64', ones, 'decimal(38,2)', (2n ** 64n - 1n) * 100n],
    ['sfixed64', 'i64', ones, 'long', -1n],
    ['float', 'i32', [0, 0, 0xc0, 0x3f], 'double', 1.5],
    ['float', 'i32', [0, 0, 0xc0, 0x7f], 'float', Number.NaN],
    ['double', 'i64', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 'double', 1.5],
    ['double', 'i64', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 'float', 'column "v": a value of Protobuf type double is not float'],
    ['bool', 'varint', [0x02], 'boolean', true],
    ['bool', 'varint', [0x01], 'integer', 'column "v": a value of Protobuf type bool is not integer'],
    ['string', 'bytes', text('é'), 'string', 'é'],
    ['string', 'bytes', [0xff], 'string', 'column "v": \ufffd is not valid UTF-8'],
    ['string', 'bytes', text('1'), 'long', 1n],
    ['string', 'bytes', text('x'), 'long', 'column "v": "x" is not a long'],
    ['string', 'bytes', text('true'), 'boolean', 'column "v": a value of Protobuf type string is not boolean'],
    ['string', 'bytes', [0xff], 'long', 'column "v": \ufffd is not valid UTF-8'],
    ['bytes', 'bytes', [0, 255], 'binary', 'hex:00ff'],
    ['bytes', 'bytes', [0], 'string', 'column "v": a value of Protobuf type bytes is not string'],
    ['E', 'varint', [1], 'string', 'ONE'],
    ['E', 'varint', [7], 'string', '7'],
    ['E', 'varint', minus, 'integer', -1],
    ['google.protobuf.Timestamp', 'bytes', [8, 1, 16, 0xe8, 0x07], 'timestamp', 1_000_001n],
    ['google.protobuf.Timestamp', 'bytes', [8, 1, 16, 1], 'timestamp', 'column "v": 1000000001 is in no whole microseconds'],
    ['google.protobuf.Timestamp', 'bytes', [8, 1, 16, 1], 'timestamp_ns', 1_000_000_001n],
    ['google.protobuf.Timestamp', 'bytes', [], 'timestamp', 0n],
    ['google.protobuf.Timestamp', 'bytes', [16, ...minus], 'timestamp', 'column "v": -1 does not fit the nanoseconds of a second'],
    [
      'google.protobuf.Timestamp',
      'bytes',
      [8, 1],
      'timestamp_ntz',
      'column "v": a value of Protobuf type google.protobuf.Timestamp is not timestamp_ntz',
    ],
    ['google.protobuf.Timestamp', 'bytes', [8, 1], 'struct<seconds:long,nanos:integer>', { seconds: 1n, nanos: 0 }],
    ['google.protobuf.Duration', 'bytes', [8, 3, 16, 0x80, 0xca, 0xb5, 0xee, 0x01], 'string', '3.500s'],
    ['google.protobuf.Duration', 'bytes', [8, 3, 16, ...minus], 'string', 'column "v": 3s -1ns does not fit a duration'],
    ['google.protobuf.Int64Value', 'bytes', [], 'long', 0n],
    ['google.protobuf.Int64Value', 'bytes', [8, 5], 'long', 5n],
    ['google.protobuf.StringValue', 'bytes', [10, 1, 0x78], 'string', 'x'],
    ['google.protobuf.Struct', 'bytes', [10, 8, 10, 1, 0x61, 18, 3, 26, 1, 0x22], 'string', '{"a":"\\""}'],
    ['google.protobuf.Value', 'bytes', [32, 1], 'string', 'true'],
    ['google.protobuf.Value', 'bytes', [], 'string', 'null'],
    ['google.protobuf.ListValue', 'bytes', [10, 2, 8, 0, 10, 0], 'string', '[null,null]'],
    ['google.type.Date', 'bytes', [8, 0xe8, 0x0f, 16, 2, 24, 29], 'date', 19_782],
    ['google.type.Date', 'bytes', [8, 0xe8, 0x0f], 'date', 'column "v": 2024-0-0 does not fit a date of the years 0001 to 9999'],
    ['google.type.TimeOfDay', 'bytes', [8, 1, 24, 2], 'time', 3_602_000_000n],
    ['google.type.TimeOfDay', 'bytes', [8, 24], 'time', 'column "v": 24:0:0 and 0 ns does not fit a time of day in whole microseconds'],
    ['confluent.type.Decimal', 'bytes', [10, 2, 0x04, 0xd2, 24, 2], 'decimal(9,2)', 1234n],
    ['confluent.type.Decimal', 'bytes', [10, 2, 0x04, 0xd2, 24, 3], 'decimal(9,2)', 'column "v": 1234E-3 does not fit a decimal(9,2)'],
  ] as const)('%s (%s %j) as %s', (type, wireType, bytes, column, expected) => {
    const schema = `${header} message M { ${type} v = 1; } enum E { ZERO = 0; ONE = 1; }`;
    const refused = typeof expected === 'string' && expected.startsWith('column');
    expect(read(decoderOf(schema, { v: column }), wire([1, wireType, bytes]))).toEqual(refused ? expected : { v: expected });
  });
});

describe('a message of Protobuf', () => {
  const schema = `${header} package a.b; message M { int64 id = 1; optional int64 opt = 2; Inner one = 3; repeated int32 list = 4; repeated Inner many = 5; map<string, int64> map = 6; oneof pick { string left = 7; Inner right = 8; } repeated string names = 9; message Inner { int32 x = 1; int32 y = 2; Inner again = 3; } }`;
  const inner = 'struct<x:integer,y:integer>';

  it('has zeros where absent fields are not told from them, and null where they are', () => {
    const decoder = decoderOf(schema, {
      id: 'long',
      opt: 'long',
      one: inner,
      list: 'array<integer>',
      map: 'map<string,long>',
      left: 'string',
      gone: 'string',
    });
    expect(read(decoder, new Uint8Array(0))).toEqual({ id: 0n, opt: null, one: null, list: [], map: [], left: null, gone: null });
    expect(read(decoderOf(schema, { opt: 'long!' }), new Uint8Array(0))).toBe('column "opt": a required column has no value');
    expect(read(decoderOf(schema, { gone: 'long!' }), new Uint8Array(0))).toBe('column "gone": a required column has no value');
  });

  it('takes the last of a value, all parts of a message and the last entry of a key', () => {
    const decoder = decoderOf(schema, { id: 'long', one: inner, map: 'map<string,long>' });
    const entry = (key: string, value: number): readonly number[] => [10, key.length, ...text(key), 16, value];
    const payload = wire(
      [1, 'varint', [1]],
      [3, 'bytes', [8, 1]],
      [6, 'bytes', entry('a', 1)],
      [6, 'bytes', entry('b', 2)],
      [3, 'bytes', [16, 2]],
      [6, 'bytes', entry('a', 3)],
      [6, 'bytes', []],
      [1, 'varint', [9]],
    );
    expect(read(decoder, payload)).toEqual({
      id: 9n,
      one: { x: 1, y: 2 },
      map: [
        ['b', 2n],
        ['a', 3n],
        ['', 0n],
      ],
    });
  });

  it('has of a oneof the member that comes last, whichever of them columns take', () => {
    const left = [7, 'bytes', text('x')] as const;
    const right = [8, 'bytes', [8, 1]] as const;
    const more = [8, 'bytes', [16, 2]] as const;
    const both = { left: 'string', right: inner };
    expect(read(decoderOf(schema, both), wire(left, right))).toEqual({ left: null, right: { x: 1, y: 0 } });
    expect(read(decoderOf(schema, both), wire(right, left))).toEqual({ left: 'x', right: null });
    expect(read(decoderOf(schema, both), wire(right, more))).toEqual({ left: null, right: { x: 1, y: 2 } });
    expect(read(decoderOf(schema, both), wire(right, left, more))).toEqual({ left: null, right: { x: 0, y: 2 } });
    expect(read(decoderOf(schema, { left: 'string' }), wire(left, right))).toEqual({ left: null });
    expect(read(decoderOf(schema, { right: inner }), wire(right, left))).toEqual({ right: null });
    // What is written as another type is a field of somebody else, and puts nothing out.
    expect(read(decoderOf(schema, { left: 'string' }), wire(left, [8, 'varint', [1]]))).toEqual({ left: 'x' });
  });

  it('has a key of a map once, however it is spelled', () => {
    const numbers = `${header} message M { map<int32, int32> map = 1; map<bool, int32> flags = 2; }`;
    const entry = (number: number, key: readonly number[], value: number) => [number, 'bytes', [...key, 16, value]] as const;
    const payload = wire(
      entry(1, [], 1),
      entry(1, [8, 0], 2),
      entry(1, [8, 0x85, 0], 3),
      // 2^40 + 5: 32 bits of it count.
      entry(1, [8, 0x85, 0x80, 0x80, 0x80, 0x80, 0x20], 4),
      entry(2, [8, 1], 5),
      entry(2, [8, 2], 6),
    );
    expect(read(decoderOf(numbers, { map: 'map<integer,integer>', flags: 'map<boolean,integer>' }), payload)).toEqual({
      map: [
        [0, 2],
        [5, 4],
      ],
      flags: [[true, 6]],
    });
  });

  it('has lists packed and unpacked, in parts', () => {
    const decoder = decoderOf(schema, { list: 'array<integer>', many: `array<${inner}>`, names: 'array<string>' });
    const payload = wire(
      [4, 'bytes', [1, 2]],
      [5, 'bytes', []],
      [4, 'varint', [3]],
      [9, 'bytes', []],
      [4, 'bytes', []],
      [5, 'bytes', [8, 7]],
      [9, 'bytes', text('x')],
    );
    expect(read(decoder, payload)).toEqual({
      list: [1, 2, 3],
      many: [
        { x: 0, y: 0 },
        { x: 7, y: 0 },
      ],
      names: ['', 'x'],
    });
  });

  it('may hold itself, as deep as columns ask', () => {
    const decoder = decoderOf(schema, { one: 'struct<x:integer,again:struct<again:struct<y:integer>>>' });
    expect(read(decoder, wire([3, 'bytes', [8, 1, 26, 6, 26, 4, 16, 5, 26, 0]]))).toEqual({ one: { x: 1, again: { again: { y: 5 } } } });
  });

  it('is passed over where no column takes its fields, groups too', () => {
    const decoder = decoderOf(schema, { id: 'long' });
    const payload = wire(
      [20, 'group', [0x0a, 1, 0, 0xa4, 1]],
      [21, 'i32', [1, 2, 3, 4]],
      [22, 'i64', [1, 2, 3, 4, 5, 6, 7, 8]],
      [1, 'bytes', [1]],
      [1, 'varint', [4]],
    );
    expect(read(decoder, payload)).toEqual({ id: 4n });
    expect(read(decoderOf(schema, { id: 'long' }, { unknownMembers: 'reject' }), wire([2, 'varint', [1]]))).toBe(
      '1 fields are members that no column takes',
    );
  });

  it.each([
    [[8], 'a number passes the end'],
    [[8, ...minus.slice(0, 9), 0x02], 'a number has more than 64 bits'],
    [[8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], 'a number has more than ten bytes'],
    [[0, 1], 'a field has no possible number'],
    [[26, 5, 1], 'a value of 5 bytes passes the end'],
    [[0x0e, 1], 'field 1 has the wire type 6, which is none'],
    [[0x0c], 'field 1 has the wire type 4, which is none'],
    [[0x0b, 0x14], 'the group 1 ends as 2'],
    [Array.from({ length: 200 }, () => 0x0b), 'groups nest deeper than 100 levels'],
    [[34, 1, 0x80], 'a number passes the end'],
    [[26, 2, 8, 0x80], 'a number passes the end'],
  ])('%j is refused', (bytes, fault) => {
    const decoder = decoderOf(schema, { id: 'long', one: inner, list: 'array<integer>' });
    expect(read(decoder, Uint8Array.from(bytes))).toBe(`not valid Protobuf: ${fault}`);
  });

  it('of proto2 has the defaults that its schema spells out', () => {
    const proto2 =
      'syntax = "proto2"; message M { optional int32 a = 1 [default = -5]; optional string s = 2 [default = "x"]; optional E e = 3 [default = B]; optional bytes b = 4; optional group G = 5 { optional int32 q = 1; } enum E { A = 1; B = 2; } }';
    const decoder = decoderOf(proto2, { a: 'integer', s: 'string', e: 'string', b: 'binary' });
    expect(read(decoder, new Uint8Array(0))).toEqual({ a: -5, s: 'x', e: 'B', b: null });
    expect(read(decoderOf(proto2, { g: 'struct<q:integer>' }), Uint8Array.from([0x2b, 0x08, 1, 0x2c]))).toBe(
      'column "g": a value of Protobuf type M.G is not struct<q:integer>',
    );
  });

  it('whose schema cannot be read is refused at the start', () => {
    expect(() => decoderOf('message M {', { v: 'long' })).toThrow('the Protobuf schema of a route cannot be read');
    expect(() => decoderOf('syntax = "proto3"; import "x.proto"; message M { }', { v: 'long' })).toThrow(
      'the file "x.proto", which the schema imports, is not among its references',
    );
    expect(() => decoderOf(schema, { id: 'long' }, { message: 'N' })).toThrow('the Protobuf schema of a route has no message "N"');
    expect(read(decoderOf(schema, { x: 'integer' }, { message: 'a.b.M.Inner' }), wire([1, 'varint', [3]]))).toEqual({ x: 3 });
  });

  it('that is damaged is a row or is refused, and leaves nothing behind', () => {
    const seed = Number(process.env['PAYLOAD_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const below = (bound: number): number => Math.floor(random.next() * bound);
    const type = protobuf.parse(`syntax = "proto3"; ${schema.slice(header.length)}`, { keepCase: true }).root.lookupType('a.b.M');
    const healthy = type
      .encode({
        id: 5,
        opt: 6,
        one: { x: 1, again: { y: 2 } },
        list: [1, 2, 300],
        many: [{ x: 1 }, {}],
        map: { a: 1, b: 2 },
        right: { x: 3 },
        names: ['', 'é'],
      })
      .finish();
    const columns = {
      id: 'long',
      opt: 'long',
      one: 'struct<x:integer,again:struct<y:integer>>',
      list: 'array<integer>',
      many: `array<${inner}>`,
      map: 'map<string,long>',
      left: 'string',
      right: inner,
      names: 'array<string>',
    };
    const decoder = decoderOf(schema, columns);
    let rows = 0;
    for (let round = 0; round < 3_000; round += 1) {
      const bytes = Uint8Array.from(healthy);
      for (let damage = below(4); damage > 0; damage -= 1) bytes[below(bytes.length)] = below(256);
      const payload = random.next() < 0.2 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
      if (decoder.decode(recordOf(payload)) === undefined) rows += 1;
      expect(decoder.rowCount, `seed ${seed}`).toBe(rows);
    }
    expect(rowsOf(decoder.finish()), `seed ${seed}`).toHaveLength(rows);
    expect(rows).toBeGreaterThan(0);
  });
});

type Headers = readonly (readonly [string, Uint8Array])[];

const guid = '00112233-4455-6677-8899-aabbccddeeff';
const guidBytes = Buffer.from(guid.replaceAll('-', ''), 'hex');

describe('the message of a payload behind an id', () => {
  const schema =
    'syntax = "proto3"; message A { int32 x = 1; message N { int32 z = 1; } map<string, int32> m = 2; message L { int32 q = 1; } message P { int32 p = 1; } } message B { int32 x = 1; }';
  const decoderFor = (column: string, message?: string, idIn: 'prefix' | 'header' = 'prefix'): RecordDecoder => {
    const schemas = new KnownSchemas();
    schemas.add(['ids/7', `guids/${guid}`].map((key) => ({ key, schema: { type: 'PROTOBUF', text: schema, references: [] } })));
    const value: ValueEncoding = { kind: 'protobuf', schemas: 'registry', idIn, message };
    const fields = [{ name: column, type: { kind: 'integer' }, nullable: true }] as const;
    return new RecordDecoder(
      { kind: 'struct', fields },
      { sources: [{ kind: 'value', name: column }], unknownMembers: 'ignore', value },
      { schemas },
    );
  };
  const payload = (...indexes: readonly number[]): Uint8Array => Uint8Array.from([0, 0, 0, 0, 7, ...indexes, 8, 5]);

  it.each([
    [[0], 'x', { x: 5 }],
    [[2, 0], 'x', { x: 5 }],
    [[2, 2], 'x', { x: 5 }],
    [[4, 0, 0], 'z', { z: 5 }],
    // Only who counts the entries of maps gets so far.
    [[4, 0, 6], 'p', { p: 5 }],
    // Only who does not count them means a message by this.
    [[4, 0, 2], 'q', { q: 5 }],
    [[4, 0, 4], 'q', 'the schema ids/7 of the registry: [0, 2] is "A.L" or "A.P", as one counts: name the message of the route'],
    [[2, 6], 'x', 'the schema ids/7 of the registry: the schema has no message [3]'],
    [[2, 1], 'x', 'the schema ids/7 of the registry: the schema has no message [-1]'],
    [[200, 1], 'x', 'not valid Protobuf: names a message by 100 numbers'],
    [[1], 'x', 'not valid Protobuf: names a message by -1 numbers'],
  ])('%j', (indexes, column, expected) => {
    expect(read(decoderFor(column), payload(...indexes))).toEqual(expected);
  });

  const inConfluents = (...indexes: readonly number[]): Headers => [['__value_schema_id', Buffer.from([1, ...guidBytes, ...indexes])]];
  const inApicurios = (name: string): Headers => [
    ['apicurio.value.contentId', Buffer.from([0, 0, 0, 0, 0, 0, 0, 7])],
    ...(name === '' ? [] : ([['apicurio.protobuf.type', Buffer.from(name)]] as const)),
  ];
  const unnamed = (key: string): string =>
    `its header names the schema ${key} of the registry, and no message of it: set the message of the route`;

  it.each<[string, Headers, readonly number[], string, unknown]>([
    ['numbers behind a GUID', inConfluents(0), [8, 5], 'x', { x: 5 }],
    ['of a message inside of another', inConfluents(4, 0, 0), [8, 5], 'z', { z: 5 }],
    ['behind an id', [['__value_schema_id', Buffer.from([0, 0, 0, 0, 7, 2, 2])]], [8, 5], 'x', { x: 5 }],
    ['none behind it', inConfluents(), [8, 5], 'x', unnamed(`guids/${guid}`)],
    ['a name', inApicurios('B'), [8, 5], 'x', { x: 5 }],
    ['a name that also stands before the payload', inApicurios('B'), [3, 10, 1, 0x42, 8, 5], 'x', { x: 5 }],
    ['no name', inApicurios(''), [8, 5], 'x', unnamed('ids/7')],
    ['no header: as before there were any', [], [0, 0, 0, 0, 7, 0, 8, 5], 'x', { x: 5 }],
    [
      'nothing',
      [],
      [8, 5],
      'x',
      'the value has no header with the id of its schema (__value_schema_id, apicurio.value.contentId or apicurio.value.globalId)',
    ],
  ])('in headers: %s', (_, headers, bytes, column, expected) => {
    expect(read(decoderFor(column, undefined, 'header'), Uint8Array.from(bytes), headers)).toEqual(expected);
  });

  it('is that of the route where it names one', () => {
    expect(read(decoderFor('x', 'B', 'header'), Uint8Array.of(8, 5), inConfluents())).toEqual({ x: 5 });
    expect(read(decoderFor('q', 'A.L'), payload(4, 0, 4))).toEqual({ q: 5 });
    expect(read(decoderFor('q', 'Z'), payload(0))).toBe('the schema ids/7 of the registry has no message "Z"');
  });
});

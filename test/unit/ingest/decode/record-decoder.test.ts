import { describe, expect, it } from 'vitest';
import { randomInt } from '../../../../src/base/random.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';
import { decode, decoderOf, field, recordOf, rowsOf, struct } from './decoding.ts';

const string = { kind: 'string' } as const;
const long = { kind: 'long' } as const;
const list = (element: DataType, elementNullable = true): DataType => ({ kind: 'list', element, elementNullable });
const map = (value: DataType, valueNullable = true): DataType => ({ kind: 'map', key: string, value, valueNullable });

describe('objects', () => {
  const schema = struct({ a: long, b: string, c: { kind: 'boolean' } });

  it('takes members in any order, between any whitespace, and null for absent ones', () => {
    const decoder = decoderOf(schema);
    for (const payload of [
      '{"a":1,"b":"x","c":true}',
      ' {\t"c" :\r\n false , "a": 2 }\n',
      '{}',
      '{"b":"y","c":null,"a":3}',
      '{"\\u0061":4}',
    ]) {
      expect(decoder.decode(recordOf(payload))).toBeUndefined();
    }
    expect(rowsOf(decoder.finish())).toEqual([
      { a: 1n, b: 'x', c: true },
      { a: 2n, b: null, c: false },
      { a: null, b: null, c: null },
      { a: 3n, b: 'y', c: null },
      { a: 4n, b: null, c: null },
    ]);
  });

  it('matches member names by case, and __proto__ is a name like any other', () => {
    const odd = struct({ __proto: string, A: long, '': long, 'a"b\\': long, é: long });
    const named: StructType = { kind: 'struct', fields: [...odd.fields, field('__proto__', long)] };
    const { rows, rejection } = decode(named, '{"a":1,"__proto__":2,"":3,"a\\"b\\\\":4,"é":5,"constructor":{"prototype":1}}');
    expect(rejection).toBeUndefined();
    expect(rows.map((row) => Object.entries(row ?? {}))).toEqual([
      [
        ['__proto', null],
        ['A', null],
        ['', 3n],
        ['a"b\\', 4n],
        ['é', 5n],
        ['__proto__', 2n],
      ],
    ]);
    expect(Object.hasOwn(Object.prototype, 'A')).toBe(false);
  });

  it('refuses a member given twice, even as null', () => {
    for (const payload of ['{"a":1,"a":1}', '{"a":null,"b":"","a":2}', '{"a":1,"\\u0061":1}']) {
      expect(decode(schema, payload).rejection).toMatchObject({ reason: 'duplicate-member' });
    }
    expect(decode(schema, '{"a":1,"a":1}').rejection?.message).toBe('column "a": member "a" is there more than once');
  });

  it('ignores unknown members or refuses the record, as told, at every depth', () => {
    const nested = struct({ a: long, s: struct({ x: long }) });
    const payload = '{"a":1,"other":[{"deep":[1,"\\n",null,true]}],"s":{"x":2,"y":{}}}';
    expect(decode(nested, payload).rows).toEqual([{ a: 1n, s: { x: 2n } }]);
    const strict = { unknownMembers: 'reject' } as const;
    expect(decode(nested, payload, strict).rejection).toEqual({
      reason: 'unknown-member',
      message: 'member "other" is a member that no column takes',
    });
    expect(decode(nested, '{"s":{"y":1}}', strict).rejection?.message).toBe('column "s": member "y" is a member that no column takes');
  });

  it('checks the syntax of what it ignores', () => {
    for (const ignored of ['tru', '[1,]', '{"x"}', '{"x":}', '{x:1}', '[1 2]', '"\\q"', '01', '', '[', '{', '"']) {
      expect(decode(schema, `{"other":${ignored}}`).rejection).toMatchObject({ reason: 'invalid-json' });
    }
    expect(decode(schema, '{"other":"\\ud800"}').rejection).toMatchObject({ reason: 'invalid-utf8' });
  });

  it('names the required column that is null or absent, with its path', () => {
    const required: StructType = {
      kind: 'struct',
      fields: [field('s', struct({ city: string }, { required: ['city'] })), field('l', list(long, false)), field('m', map(long, false))],
    };
    const reject = (payload: string): unknown => decode(required, payload).rejection;
    const message = (text: string, missing: string): unknown => ({ reason: 'missing-required', message: text, missing });
    expect(reject('{"s":{}}')).toEqual(message('column "s.city": a required column has no value', 's.city'));
    expect(reject('{"s":{"city":null}}')).toEqual(message('column "s.city": null is not allowed in a required column', 's.city'));
    expect(reject('{"l":[1,null]}')).toEqual(message('column "l[1]": null is not allowed here', 'l[1]'));
    expect(reject('{"m":{"k":null}}')).toEqual(message('column "m{}": null is not allowed here', 'm{}'));
    expect(reject('{"s":null}')).toBeUndefined();
  });
});

describe('payloads', () => {
  const schema = struct({ a: long });
  it.each([
    ['', 'invalid-json'],
    ['   ', 'invalid-json'],
    ['{', 'invalid-json'],
    ['{"a"', 'invalid-json'],
    ['{"a":', 'invalid-json'],
    ['{"a":1', 'invalid-json'],
    ['{"a":1,', 'invalid-json'],
    ['{"a":1,}', 'invalid-json'],
    ['{,}', 'invalid-json'],
    ['{"a":1}}', 'invalid-json'],
    ['{"a":1} x', 'invalid-json'],
    ['{}{}', 'invalid-json'],
    ['\ufeff{"a":1}', 'invalid-json'],
    ['{"a":1}\u00a0', 'invalid-json'],
    ['/* */{"a":1}', 'invalid-json'],
    ['{"a" 1}', 'invalid-json'],
    ['{"a":1 "b":2}', 'invalid-json'],
    ['nul', 'invalid-json'],
    ['[] x', 'invalid-json'],
    ['null', 'not-an-object'],
    ['[1,2]', 'not-an-object'],
    ['"{}"', 'not-an-object'],
    ['12', 'not-an-object'],
  ])('refuses %j as %s', (payload, reason) => {
    expect(decode(schema, payload).rejection).toMatchObject({ reason });
  });

  it('never reads past the payload, whatever follows it in the buffer', () => {
    const whole = '{"a":123456789012345678,"s":"x\\u00e9y","d":1.25e1,"t":"2026-01-01T00:00:00.123Z","l":["a",null],"b":true}';
    const wide = struct({ a: long, s: string, d: { kind: 'double' }, t: { kind: 'timestamp' }, l: list(string), b: { kind: 'boolean' } });
    const data = new TextEncoder().encode(whole);
    for (let end = 0; end < data.length; end += 1) {
      const rejection = decoderOf(wide).decode(recordOf(undefined, { data, valueStart: 0, valueEnd: end }));
      expect(rejection, whole.slice(0, end)).toMatchObject({ reason: 'invalid-json' });
    }
    expect(decode(wide, data).rejection).toBeUndefined();
  });

  it('refuses bytes that are not UTF-8 in strings and names', () => {
    const bad = ['ff', 'c3', 'c0af', 'e282', 'eda080', 'f4908080', 'f8888080', '80', 'e08080', 'f0808080', 'c328'];
    for (const hex of bad) {
      for (const [before, after] of [
        ['{"s":"ok', '"}'],
        ['{"other":"', '"}'],
        ['{"', '":1}'],
      ] as const) {
        const payload = Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]);
        expect(decode(struct({ s: string }), payload).rejection, hex).toMatchObject({ reason: 'invalid-utf8' });
      }
    }
  });

  it('limits the depth of what it reads and of what it skips', () => {
    const nest = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(decode(schema, nest(64)).rejection).toBeUndefined();
    expect(decode(schema, nest(65)).rejection).toMatchObject({ reason: 'too-deep' });
    expect(decode(schema, nest(10_000)).rejection).toMatchObject({ reason: 'too-deep' });
    expect(decode(schema, '{"a":'.repeat(10_000)).rejection?.reason).toMatch(/too-deep/);
    expect(decode(schema, nest(3), { maxDepth: 2 }).rejection).toMatchObject({ reason: 'too-deep' });
    expect(decode(schema, nest(512), { maxDepth: 512 }).rejection).toBeUndefined();
  });

  it('takes strings of megabytes and numbers of a hundred thousand digits', () => {
    const text = 'å'.repeat(2_000_000);
    expect(decode(struct({ s: string }), `{"s":"${text}"}`).rows).toEqual([{ s: text }]);
    const digits = '9'.repeat(100_000);
    expect(decode(schema, `{"a":${digits}}`).rejection).toMatchObject({ reason: 'out-of-range' });
    expect(decode(schema, `{"a":1.${'0'.repeat(100_000)}}`).rows).toEqual([{ a: 1n }]);
    expect(decode(struct({ d: { kind: 'double' } }), `{"d":0.${digits}}`).rows).toEqual([{ d: 1 }]);
  });

  it('takes a tombstone only when no column reads the value', () => {
    const tombstone = recordOf(undefined, { offset: () => 7n });
    expect(decoderOf(schema).decode(tombstone)).toEqual({ reason: 'null-value', message: 'the record has no value' });
    const decoder = decoderOf(struct({ o: long }), { sources: [{ kind: 'offset' }] });
    expect(decoder.decode(tombstone)).toBeUndefined();
    expect(rowsOf(decoder.finish())).toEqual([{ o: 7n }]);
  });
});

describe('nested columns', () => {
  it('reads lists, maps and structs within each other', () => {
    const schema = struct({ l: list(list(long)), m: map(struct({ x: string })), e: list(struct({ y: list(string) })) });
    const payload = '{"l":[[1,null],null,[ ]],"m":{"a":{"x":"1"},"\\u0062":null,"":{}},"e":[{"y":["p","q"]},{"y":null},null]}';
    expect(decode(schema, payload).rows).toEqual([
      {
        l: [[1n, null], null, []],
        m: [
          ['a', { x: '1' }],
          ['b', null],
          ['', { x: null }],
        ],
        e: [{ y: ['p', 'q'] }, { y: null }, null],
      },
    ]);
  });

  it('names the place of a bad value inside', () => {
    const schema = struct({ e: list(struct({ y: list(string) })) });
    expect(decode(schema, '{"e":[{"y":["p"]},{"y":["q",5]}]}').rejection).toEqual({
      reason: 'wrong-type',
      message: 'column "e[1].y[1]": 5 is not a string',
    });
  });

  it('refuses a map with a key twice', () => {
    expect(decode(struct({ m: map(long) }), '{"m":{"k":1,"\\u006b":2}}').rejection).toMatchObject({ reason: 'duplicate-member' });
    expect(decode(struct({ m: map(long) }), '{"m":{"k":1,"K":2}}').rejection).toBeUndefined();
  });

  it('refuses maps whose keys are not strings', () => {
    const type: DataType = { kind: 'map', key: long, value: long, valueNullable: true };
    expect(() => decoderOf(struct({ m: type }))).toThrow(expect.objectContaining({ code: 'DECODE_TYPE_UNSUPPORTED' }));
  });
});

describe('a rejected record', () => {
  const schema = struct({
    i: { kind: 'integer' },
    a: long,
    s: string,
    b: { kind: 'boolean' },
    d: { kind: 'decimal', precision: 20, scale: 2 },
    f: { kind: 'double' },
    t: { kind: 'timestamp' },
    day: { kind: 'date' },
    bin: { kind: 'binary' },
    l: list(struct({ x: string, n: list(long) })),
    m: map(list(string)),
    st: struct({ p: string, q: { kind: 'boolean' } }),
  });
  const good = [
    '{"i":1,"a":2,"s":"three","b":true,"d":4.5,"f":6.5,"t":"2026-01-01T00:00:00Z","day":"2026-01-01","bin":"AAEC","l":[{"x":"y","n":[1,2]}],"m":{"k":["v"]},"st":{"p":"p","q":true}}',
    '{"l":[null,{"n":null}],"m":{}}',
    '{"b":false,"st":{"q":false},"s":"","l":[],"bin":""}',
  ];
  const bad = [
    '{"i":7,"a":7,"s":"seven","b":true,"d":"7777777777777777","f":7,"t":"2077-07-07T00:00:00Z","day":"2077-07-07","bin":"BwcH","l":[{"x":"7","n":[7,7,7]}],"m":{"7":["7"]},"st":{"p":"7","q":7}}',
    '{"l":[{"x":"seven","n":[7,null,7]},null,{"x":"7","n":[7,"no"]}]}',
    '{"m":{"a":["x","y"],"b":null,"c":[null,7]}}',
    '{"b":null,"s":null,"i":null,"st":null,"s":1}',
    '{"st":{"p":"seven"},"s":"unfinished',
    '{"bin":"BwcH","b":true} trailing',
  ];

  it('leaves no trace in any column', () => {
    const seed = 20_260_101;
    const random = new SeededRandom(seed);
    const decoder = decoderOf(schema);
    const clean = decoderOf(schema);
    for (let step = 0; step < 3000; step += 1) {
      const payload = good[randomInt(random, good.length)] ?? '';
      expect(decoder.decode(recordOf(payload))).toBeUndefined();
      clean.decode(recordOf(payload));
      for (let i = randomInt(random, 3); i > 0; i -= 1) {
        expect(decoder.decode(recordOf(bad[randomInt(random, bad.length)])), `seed ${seed}`).toBeDefined();
      }
      if (random.next() < 0.01) expect(decoder.finish(), `seed ${seed} step ${step}`).toEqual(clean.finish());
    }
    expect(decoder.rowCount).toBe(clean.rowCount);
    expect(decoder.finish(), `seed ${seed}`).toEqual(clean.finish());
  });

  it('is gone too when it is the only one', () => {
    for (const payload of bad) expect(decode(schema, payload).rows).toEqual([]);
    const decoder = decoderOf(schema);
    for (const payload of bad) decoder.decode(recordOf(payload));
    const batch = decoder.finish();
    expect(batch.columns.map((column) => [column.length, column.nullCount])).toEqual(schema.fields.map(() => [0, 0]));
  });
});

describe('batches', () => {
  it('own their buffers: later records do not touch them', () => {
    const decoder = decoderOf(struct({ a: long, s: string }));
    decoder.decode(recordOf('{"a":1,"s":"one"}'));
    const first = decoder.finish();
    decoder.decode(recordOf('{"a":2,"s":"two"}'));
    expect(rowsOf(first)).toEqual([{ a: 1n, s: 'one' }]);
    expect(rowsOf(decoder.finish())).toEqual([{ a: 2n, s: 'two' }]);
    expect(decoder.finish().rowCount).toBe(0);
  });

  it('start from zero after a reset', () => {
    const decoder = decoderOf(struct({ a: long }));
    decoder.decode(recordOf('{"a":1}'));
    decoder.reset();
    decoder.decode(recordOf('{"a":2}'));
    expect(rowsOf(decoder.finish())).toEqual([{ a: 2n }]);
  });

  it('hold the layout that Arrow reads: offsets from zero, zeros under nulls, no bitmap without nulls', () => {
    const decoder = decoderOf(struct({ s: string, a: long, i: { kind: 'byte' }, f: { kind: 'float' } }));
    for (const payload of ['{"s":"ab","a":7,"i":1,"f":1.5}', '{"a":-1,"i":null,"f":2}', '{"s":"c","i":3}'])
      decoder.decode(recordOf(payload));
    const [s, a, i, f] = decoder.finish().columns;
    expect(s).toEqual({
      layout: 'bytes',
      type: { kind: 'string' },
      length: 3,
      nullCount: 1,
      validity: Uint8Array.of(0b101),
      offsets: Int32Array.of(0, 2, 2, 3),
      data: new TextEncoder().encode('abc'),
    });
    expect(a).toMatchObject({ nullCount: 1, values: BigInt64Array.of(7n, -1n, 0n) });
    expect(i).toMatchObject({ values: Int8Array.of(1, 0, 3) });
    expect(f).toMatchObject({ values: Float32Array.of(1.5, 2, 0) });
    const full = decoderOf(struct({ a: long }));
    full.decode(recordOf('{"a":1}'));
    expect(full.finish().columns[0]?.validity).toBeUndefined();
  });
});

import { expect, it } from 'vitest';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import { recordOf, rowsOf, type Value } from '../unit/ingest/decode/decoding.ts';
import { type Encoding, type Given, isMissing, type Meant, type Written } from '../unit/ingest/decode/meant.ts';

/*
 * What every decoder of payloads promises: the same values become the same columns, the same faults are refused for the same reasons, a refused
 * record leaves nothing behind, and damage is never more than a reason. What an encoding does not have, it says with the reason.
 */

const bool = (value: boolean): Meant => ({ kind: 'boolean', value });
const int = (value: bigint): Meant => ({ kind: 'integer', value });
const double = (value: number): Meant => ({ kind: 'double', value });
const single = (value: number): Meant => ({ kind: 'float', value });
const text = (value: string): Meant => ({ kind: 'text', value });
const bytes = (...value: readonly number[]): Meant => ({ kind: 'bytes', value: Uint8Array.from(value) });
const decimal = (unscaled: bigint, scale: number): Meant => ({ kind: 'decimal', unscaled, scale });
const date = (days: number, written: string): Meant => ({ kind: 'date', days, text: written });
const time = (micros: bigint, written: string): Meant => ({ kind: 'timestamp', micros, text: written });
const list = (of: Meant, ...items: readonly Meant[]): Meant => ({ kind: 'list', of, items });
const map = (of: Meant, entries: Readonly<Record<string, Meant>>): Meant => ({ kind: 'map', of, entries: Object.entries(entries) });
const struct = (members: Readonly<Record<string, Meant>>): Meant => ({ kind: 'struct', members });
const symbol = (value: string): Meant => ({ kind: 'symbol', value, symbols: ['A', 'B', 'C_1'] });
const union = (value: Meant): Meant => ({ kind: 'union', value, of: [int(0n), text(''), bool(true)] });
const oneof = (chosen: string): Meant => ({ kind: 'oneof', chosen, members: { n: int(-long), t: text('x'), s: struct({ a: int(1n) }) } });
const preset = (like: Meant): Given => ({ kind: 'default', like });
const nothing = (like: Meant): Given => ({ kind: 'null', like });
const absent = (like: Meant): Given => ({ kind: 'absent', like });

const long = 2n ** 63n;
const widest = 10n ** 38n - 1n;

/** `[column, what the payload has, what the column has]`. */
const values: readonly (readonly [column: string, given: Given, expected: Value])[] = [
  ['boolean', bool(true), true],
  ['boolean', bool(false), false],
  ['byte', int(127n), 127],
  ['byte', int(-128n), -128],
  ['short', int(32_767n), 32_767],
  ['short', int(-32_768n), -32_768],
  ['integer', int(2_147_483_647n), 2_147_483_647],
  ['integer', int(-2_147_483_648n), -2_147_483_648],
  ['long', int(long - 1n), long - 1n],
  ['long', int(-long), -long],
  ['long', int(0n), 0n],
  ['double', double(Number.MAX_VALUE), Number.MAX_VALUE],
  ['double', double(Number.MIN_VALUE), Number.MIN_VALUE],
  ['double', double(-0), -0],
  ['double', double(0.1), 0.1],
  ['float', single(0.5), 0.5],
  ['float', single(-1.17549435e-38), Math.fround(-1.17549435e-38)],
  ['double', single(0.5), 0.5],
  ['double', int(9_007_199_254_740_991n), 9_007_199_254_740_991],
  ['string', text(''), ''],
  ['string', text('a"b,\n\u0000é漢😀'), 'a"b,\n\u0000é漢😀'],
  ['binary', bytes(), 'hex:'],
  ['binary', bytes(0, 127, 128, 255), 'hex:007f80ff'],
  ['decimal(38,0)', decimal(widest, 0), widest],
  ['decimal(38,0)', decimal(-widest, 0), -widest],
  ['decimal(38,38)', decimal(widest, 38), widest],
  ['decimal(12,2)', decimal(-1250n, 2), -1250n],
  ['decimal(12,4)', decimal(-125n, 1), -125_000n],
  ['decimal(5,1)', decimal(1200n, 3), 12n],
  ['decimal(21,2)', int(long - 1n), (long - 1n) * 100n],
  ['date', date(-719_162, '0001-01-01'), -719_162],
  ['date', date(2_932_896, '9999-12-31'), 2_932_896],
  ['date', date(19_782, '2024-02-29'), 19_782],
  ['timestamp', time(-62_135_596_800_000_000n, '0001-01-01T00:00:00Z'), -62_135_596_800_000_000n],
  ['timestamp', time(253_402_300_799_999_999n, '9999-12-31T23:59:59.999999Z'), 253_402_300_799_999_999n],
  ['timestamp', time(-1n, '1969-12-31T23:59:59.999999Z'), -1n],
  ['array<long>', list(int(0n), int(1n), int(-long)), [1n, -long]],
  ['array<long>', list(int(0n)), []],
  ['array<struct<a:long>>', list(struct({ a: int(0n) }), struct({ a: int(1n) }), struct({ a: int(2n) })), [{ a: 1n }, { a: 2n }]],
  [
    'map<string,long>',
    map(int(0n), { b: int(2n), '': int(1n) }),
    [
      ['b', 2n],
      ['', 1n],
    ],
  ],
  ['struct<a:long,b:string>', struct({ a: int(1n), b: text('x') }), { a: 1n, b: 'x' }],
  ['struct<b:string,a:long,c:double>', struct({ a: int(1n), b: text('x') }), { b: 'x', a: 1n, c: null }],
  [
    'struct<s:struct<l:array<string>,m:map<string,timestamp>>>',
    struct({ s: struct({ l: list(text(''), text('a'), text('')), m: map(time(0n, ''), { k: time(1n, '1970-01-01T00:00:00.000001Z') }) }) }),
    { s: { l: ['a', ''], m: [['k', 1n]] } },
  ],
  [
    'array<struct<m:map<string,struct<l:array<long>>>>>',
    list(
      struct({ m: map(struct({ l: list(int(0n)) }), {}) }),
      struct({ m: map(struct({ l: list(int(0n)) }), { k: struct({ l: list(int(0n), int(3n)) }) }) }),
    ),
    [{ m: [['k', { l: [3n] }]] }],
  ],
  ['timestamp', time(1_709_208_000_123_456n, '2024-02-29T12:00:00.123456Z'), 1_709_208_000_123_456n],
  ['string', text('x'.repeat(70_000)), 'x'.repeat(70_000)],
  ['string', symbol('A'), 'A'],
  ['string', symbol('C_1'), 'C_1'],
  ['string!', symbol('B'), 'B'],
  ['array<string>', list(symbol('A'), symbol('C_1'), symbol('A')), ['C_1', 'A']],
  ['map<string,string>', map(symbol('A'), { k: symbol('B') }), [['k', 'B']]],
  ['struct<e:string>', struct({ e: symbol('B') }), { e: 'B' }],
  ['long', union(int(-long)), -long],
  ['string', union(text('x')), 'x'],
  ['boolean', union(bool(false)), false],
  ['decimal(21,2)', union(int(5n)), 500n],
  ['struct<n:long,t:string,s:struct<a:long>>', oneof('n'), { n: -long, t: null, s: null }],
  ['struct<n:long,t:string,s:struct<a:long>>', oneof('t'), { n: null, t: 'x', s: null }],
  ['struct<n:long,t:string,s:struct<a:long>>', oneof('s'), { n: null, t: null, s: { a: 1n } }],
  ['long', preset(int(7n)), 7n],
  ['long!', preset(int(-7n)), -7n],
  ['string', preset(text('é "x"')), 'é "x"'],
  ['boolean', preset(bool(true)), true],
  ['double', preset(double(0.1)), 0.1],
  ['string', preset(symbol('B')), 'B'],
  ['long', nothing(int(0n)), null],
  ['struct<a:long>', nothing(struct({ a: int(0n) })), null],
  ['long', absent(int(0n)), null],
  ['struct<a:long>', absent(struct({ a: int(0n) })), null],
];

/** Text that is a value of its column, in every encoding. */
const textual: readonly (readonly [column: string, given: Given, expected: Value])[] = [
  ['long', text('-9223372036854775808'), -long],
  ['long', union(text('12')), 12n],
  ['decimal(12,2)', text('-12.50'), -1250n],
  ['date', text('2024-02-29'), 19_782],
  ['timestamp', text('1970-01-01T01:00:00.000001+01:00'), 1n],
];

/** `[column, what the payload has, why the record is rejected]`. */
const faults: readonly (readonly [column: string, given: Given, reason: string])[] = [
  ['byte', int(128n), 'out-of-range'],
  ['short', int(-32_769n), 'out-of-range'],
  ['integer', int(2_147_483_648n), 'out-of-range'],
  ['struct<a:integer>', struct({ a: int(-long) }), 'out-of-range'],
  ['array<byte>', list(int(0n), int(1n), int(128n)), 'out-of-range'],
  ['map<string,byte>', map(int(0n), { k: int(-129n) }), 'out-of-range'],
  ['decimal(4,2)', decimal(10_000n, 2), 'out-of-range'],
  ['decimal(5,1)', decimal(1234n, 2), 'out-of-range'],
  ['decimal(3,0)', int(1000n), 'out-of-range'],
  ['long', bool(true), 'wrong-type'],
  ['boolean', int(1n), 'wrong-type'],
  ['long', text('x'), 'wrong-type'],
  ['date', text('2024-13-01'), 'out-of-range'],
  ['date', text('January'), 'wrong-type'],
  ['long', text('9223372036854775808'), 'out-of-range'],
  ['timestamp', text('yesterday'), 'wrong-type'],
  ['decimal(4,2)', text('1,5'), 'wrong-type'],
  ['long', list(int(0n), int(1n)), 'wrong-type'],
  ['array<long>', int(1n), 'wrong-type'],
  ['struct<a:long>', text('x'), 'wrong-type'],
  ['long', struct({ a: int(1n) }), 'wrong-type'],
  ['boolean', symbol('A'), 'wrong-type'],
  ['long', union(bool(true)), 'wrong-type'],
  ['string', union(int(1n)), 'wrong-type'],
  ['struct<n:long not null,t:string>', oneof('t'), 'missing-required'],
  ['struct<n:byte>', oneof('n'), 'out-of-range'],
  ['byte', preset(int(128n)), 'out-of-range'],
  ['long!', nothing(int(0n)), 'missing-required'],
  ['long!', absent(int(0n)), 'missing-required'],
  ['struct<a:long not null>', struct({ b: int(1n) }), 'missing-required'],
];

type Case<T> = readonly [column: string, given: Given, expected: T];

/** Of the cases those that the encoding has. */
function had<T>(
  encoding: Encoding,
  cases: readonly Case<T>[],
): readonly { readonly column: string; readonly given: Given; readonly expected: T; readonly shown: string }[] {
  return cases
    .filter(([column, given]) => kindsOf(given).every((kind) => encoding.lacks[kind] === undefined) && !isRefused(encoding, column))
    .map(([column, given, expected]) => ({ column, given, expected, shown: shown(given) }));
}

/** Columns that no payload of the encoding can fill are refused when the decoder is made. */
function isRefused({ fills }: Encoding, column: string): boolean {
  return fills?.columns.test(column) === false;
}

function kindsOf(given: Given): readonly Given['kind'][] {
  if (isMissing(given)) return [given.kind, ...kindsOf(given.like)];
  if (given.kind === 'list' || given.kind === 'map') return [given.kind, ...kindsOf(given.of)];
  if (given.kind === 'union') return [given.kind, ...given.of.flatMap(kindsOf)];
  return 'members' in given ? [given.kind, ...Object.values(given.members).flatMap(kindsOf)] : [given.kind];
}

function shown(given: Given): string {
  return JSON.stringify(given, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)).slice(0, 90);
}

function decoderOf(column: string, { value, writer }: Pick<Written, 'value' | 'writer'>): RecordDecoder {
  const schemas = new KnownSchemas();
  if (writer !== undefined) schemas.add([{ key: 'ids/7', schema: { type: 'AVRO', text: writer, references: [] } }]);
  const schema = {
    kind: 'struct',
    fields: [{ name: 'v', type: parseColumnType(column.replace('!', '')), nullable: !column.endsWith('!') }],
  } as const;
  return new RecordDecoder(schema, { sources: [{ kind: 'value', name: 'v' }], unknownMembers: 'ignore', value }, { schemas });
}

function decode(column: string, written: Written): { readonly row?: Value; readonly reason?: string } {
  const decoder = decoderOf(column, written);
  const refusal = decoder.decode(recordOf(written.payload));
  const [row] = rowsOf(decoder.finish());
  return refusal === undefined ? { row: memberOf(row) } : { reason: refusal.reason ?? refusal.noRow };
}

function memberOf(row: Value | undefined): Value {
  return typeof row === 'object' && row !== null && 'v' in row ? (row['v'] ?? null) : null;
}

/** The tests of a decoder, for the `describe` block it is called in. */
export function payloadDecoderConformance(encoding: Encoding): void {
  it.each(had(encoding, [...values, ...textual]))('$shown is what it is in a column $column', ({ column, given, expected }) => {
    expect(decode(column, encoding.write(given))).toEqual({ row: expected });
  });

  it.each(had(encoding, faults))('$shown is refused by a column $column: $expected', ({ column, given, expected }) => {
    expect(decode(column, encoding.write(given))).toEqual({ reason: expected });
  });

  const lacking = Object.entries(encoding.lacks);
  if (lacking.length > 0)
    it.each(lacking)('has no value that is %s: %s', (kind) => {
      const left = [...values, ...textual, ...faults].filter(([, given]) => kindsOf(given).some((each) => each === kind));
      expect(left.length).toBeGreaterThan(0);
    });

  const { fills } = encoding;
  if (fills !== undefined)
    it('refuses columns that it cannot fill before any record', () => {
      const columns = new Set(values.map(([column]) => column).filter((column) => isRefused(encoding, column)));
      expect(columns.size).toBeGreaterThan(5);
      for (const column of columns)
        expect(() => decoderOf(column, encoding.write(text(''))), column).toThrow(
          expect.objectContaining({ code: fills.refusal }) as Error,
        );
    });

  it.each(had(encoding, [...values, ...textual]))(
    '$shown, cut anywhere, is a reason or a row of $column, and the next record is whole',
    (each) => {
      const written = encoding.write(each.given);
      const { payload } = written;
      const decoder = decoderOf(each.column, written);
      let [rows, cuts] = [0, 0];
      // Of long payloads some places are enough.
      for (let end = 0; end <= payload.length; end += Math.ceil((payload.length + 1) / 400)) {
        cuts += 1;
        for (const part of [payload.subarray(0, end), payload]) {
          const refusal = decoder.decode(recordOf(part));
          if (part === payload) expect(refusal).toBeUndefined();
          if (refusal === undefined) rows += 1;
        }
        expect(decoder.rowCount).toBe(rows);
      }
      const found = rowsOf(decoder.finish());
      expect(found).toHaveLength(rows);
      expect(memberOf(found.at(-1))).toEqual(each.expected);
      expect(found.filter((row) => isEqual(memberOf(row), each.expected)).length).toBeGreaterThanOrEqual(cuts);
    },
  );
}

function isEqual(one: Value, other: Value): boolean {
  const text = (value: Value): string =>
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : Object.is(inner, -0) ? '-0' : inner));
  return text(one) === text(other);
}

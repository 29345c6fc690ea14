import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysSinceEpoch } from '../../../../src/ingest/decode/json/date-time-text.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';
import { triesOf } from '../../../support/property/property-runs.ts';
import { decode, decoderOf, decodeValue, field, recordOf, rowsOf, type Value } from './decoding.ts';
import { Refused, referenceRow } from './reference.ts';

const string = { kind: 'string' } as const;
const schema: StructType = {
  kind: 'struct',
  fields: [
    field('id', { kind: 'long' }),
    field('n', { kind: 'integer' }),
    field('d', { kind: 'double' }),
    field('amount', { kind: 'decimal', precision: 20, scale: 4 }),
    field('name', string),
    field('on', { kind: 'boolean' }),
    field('must', string, false),
    field('s', { kind: 'struct', fields: [field('x', { kind: 'long' }), field('y', string, false)] }),
    field('l', { kind: 'list', element: { kind: 'double' }, elementNullable: false }),
    field('m', { kind: 'map', key: string, value: { kind: 'list', element: string, elementNullable: true }, valueNullable: true }),
  ],
};

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...Array.from('0123456789')), { minLength: min, maxLength: max }).map((list) => list.join(''));
const integerPart = fc.oneof(
  fc.constant('0'),
  digits(0, 19).chain((rest) => fc.constantFrom(...Array.from('123456789')).map((first) => first + rest)),
);
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    integerPart,
    fc.oneof(
      fc.constant(''),
      digits(1, 12).map((fraction) => `.${fraction}`),
    ),
    fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.integer({ min: -30, max: 30 }).map((e) => `e${e}`) }),
  )
  .map((parts) => parts.join(''));
const print = (value: unknown): string => JSON.stringify(value);
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.constantFrom('NaN', '-Infinity'));
const stringText = fc.oneof(anyText.map(print), anyText.map(escaped), numberText.map(print));
const scalarText = fc.oneof(numberText, stringText, fc.constantFrom('true', 'false', 'null'));

const arrayText = (element: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(element, { maxLength: 4 }).map((list) => `[${list.join(' , ')}]`);
const objectText = (members: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.shuffledSubarray(Object.keys(members)), fc.constantFrom('', ' ', '\n\t'), fc.record(members))
    .map(
      ([names, space, values]) =>
        `{${space}${names.map((name) => `${print(name)}${space}:${space}${values[name] ?? ''}`).join(`${space},`)}}`,
    );
const mapText = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .uniqueArray(
      fc.tuple(
        fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__'),
        value,
      ),
      { selector: ([key]) => key, maxLength: 4 },
    )
    .map((entries) => `{${entries.map(([key, text]) => `${print(key)}:${text}`).join(',')}}`);

const fitting = objectText({
  id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  n: fc.integer().map(String),
  d: fc.double({ noNaN: true, noDefaultInfinity: true }).map(print),
  amount: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }).map((n) => `${n}.25`),
  name: fc.string({ unit: 'grapheme' }).map(print),
  on: fc.boolean().map(String),
  s: fc.string().map((text) => `{"y":${print(text)},"x":null}`),
  l: arrayText(numberText),
  m: mapText(arrayText(stringText)),
  other: scalarText,
}).map((text) => (text.endsWith(':}') ? text : `${text.slice(0, -1)}${/^\{\s*\}$/.test(text) ? '' : ','}"must":"y"}`));

const anything = objectText({
  id: scalarText,
  n: scalarText,
  d: scalarText,
  amount: scalarText,
  name: scalarText,
  on: scalarText,
  must: stringText,
  s: fc.oneof(scalarText, objectText({ x: scalarText, y: scalarText, z: arrayText(scalarText) })),
  l: fc.oneof(scalarText, arrayText(scalarText)),
  m: fc.oneof(scalarText, mapText(fc.oneof(scalarText, arrayText(scalarText)))),
});

const mutated = fc
  .tuple(
    fc.oneof(fitting, anything),
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '0', '-', 'e', '.', '\\', 'n', ' ', '\u0000', '\u00e9'),
    fc.nat(2),
  )
  .map(([text, at, insert, drop]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + insert + text.slice(place + drop);
  });

function expected(payload: string): Value | Refused {
  try {
    return referenceRow(schema, payload);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function agrees(payload: string): void {
  // A text with half a surrogate pair has no UTF-8 form.
  fc.pre(!/\p{Cs}/u.test(payload));
  const wanted = expected(payload);
  const { rows, rejection } = decode(schema, payload);
  if (wanted instanceof Refused) expect(rejection, payload).toBeDefined();
  else {
    // The reference keeps the last of two equal members, and looks for half pairs only where a column reads.
    fc.pre(rejection?.reason !== 'duplicate-member' && rejection?.reason !== 'invalid-utf8');
    expect(rejection, payload).toBeUndefined();
    expect(rows.map(mapsAsRead), payload).toEqual([mapsAsRead(wanted)]);
  }
}

// The reference parses into objects of JavaScript, which put keys that look like indexes first: with such a key no order is compared.
function mapsAsRead(row: Value): Value {
  const { m, ...rest } = row as { readonly m?: readonly (readonly [string, Value])[] | null };
  if (m?.some(([key]) => /^\d+$/.test(key)) !== true) return row;
  return { ...rest, m: m.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}

// fast-check prints the seed and the path of a failure, and takes them back as parameters.
describe('the decoder agrees with a slow lossless one', () => {
  it('on payloads that fit', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fitting, (payload) => {
        if (decode(schema, payload).rejection === undefined) accepted += 1;
        agrees(payload);
      }),
      { numRuns: triesOf(1500) },
    );
    expect(accepted).toBeGreaterThan(triesOf(700));
  });

  it('on keys of maps that JavaScript puts into another order', () => {
    agrees('{"m":{"":[],"0":[],"10":["x"],"9":null},"must":"y"}');
  });

  it('on payloads of wrong types', () => {
    fc.assert(fc.property(anything, agrees), { numRuns: triesOf(1500) });
  });

  it('on payloads with a slip of the pen', () => {
    fc.assert(fc.property(mutated, agrees), { numRuns: triesOf(3000) });
  });

  it('on each number alone', () => {
    const types: readonly DataType[] = schema.fields
      .map(({ type }) => type)
      .filter(({ kind }) => ['long', 'integer', 'double', 'decimal'].includes(kind));
    fc.assert(
      fc.property(numberText, fc.constantFrom(...types), (text, type) => {
        const one: StructType = { kind: 'struct', fields: [field('v', type)] };
        let wanted: Value;
        try {
          wanted = referenceRow(one, `{"v":${text}}`);
        } catch {
          wanted = 'refused';
        }
        const found = decode(one, `{"v":${text}}`);
        expect(found.rejection === undefined ? found.rows[0] : 'refused', text).toEqual(wanted);
      }),
      { numRuns: triesOf(5000) },
    );
  });

  it('record after record, whatever was refused between', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fitting, anything, mutated), { maxLength: 12 }), (payloads) => {
        const decoder = decoderOf(schema);
        const rows = payloads.flatMap((payload) => {
          const alone = decode(schema, payload);
          expect(decoder.decode(recordOf(payload))).toEqual(alone.rejection);
          return alone.rows;
        });
        expect(rowsOf(decoder.finish())).toEqual(rows);
      }),
      { numRuns: 300 },
    );
  });
});

describe('dates and times agree with the platform', () => {
  it('on every first and last day of a month', () => {
    for (let year = 1; year <= 9999; year += 1) {
      for (const [month, day] of [
        [1, 1],
        [2, 28],
        [3, 1],
        [12, 31],
      ] as const) {
        const date = new Date(0);
        date.setUTCFullYear(year, month - 1, day);
        expect(daysSinceEpoch(year, month, day)).toBe(date.getTime() / 86_400_000);
      }
    }
  });

  it('on any instant', () => {
    const min = new Date('0001-01-01T00:00:00Z');
    const max = new Date('9999-12-31T23:59:59.999Z');
    fc.assert(
      fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
        expect(decodeValue({ kind: 'timestamp' }, print(date.toISOString()))).toBe(BigInt(date.getTime()) * 1000n);
      }),
      { numRuns: triesOf(2000) },
    );
  });
});

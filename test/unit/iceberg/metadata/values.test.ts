import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printJson } from '../../../../src/base/bigint-json.ts';
import type { PartitionValue } from '../../../../src/iceberg/metadata/content-file.ts';
import { compareValues, FieldSummaries } from '../../../../src/iceberg/metadata/field-summaries.ts';
import { mappedId, nameMappingOf, parseNameMapping, printNameMapping } from '../../../../src/iceberg/metadata/name-mapping.ts';
import { partitionPath } from '../../../../src/iceberg/metadata/partition-path.ts';
import { columnAt, columnPath, fieldById } from '../../../../src/iceberg/metadata/schema-fields.ts';
import { decodeSingleValue, encodeSingleValue } from '../../../../src/iceberg/metadata/single-value.ts';
import type { IcebergSchema } from '../../../../src/iceberg/metadata/table-metadata.ts';
import { icebergTypeOf } from '../../../../src/iceberg/metadata/type-text.ts';
import { parseDecimal } from '../../../../src/schema/decimal-text.ts';
import type { DataType, Field } from '../../../../src/schema/types.ts';
import { parseTransform } from '../../../../src/table/partitioning/transform.ts';
import { truncateLower, truncateUpper } from '../../../support/iceberg/bounds.ts';
import { textOf, vectorsOf } from '../../../support/iceberg-vectors.ts';

const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');

function valueOf(type: DataType, value: unknown): NonNullable<PartitionValue> {
  if (typeof value === 'boolean') return value;
  switch (type.kind) {
    case 'integer':
    case 'date':
    case 'float':
    case 'double':
      return Number(value);
    case 'decimal':
      return parseDecimal(String(value), 38, type.scale) ?? 0n;
    case 'string':
      return String(value);
    case 'binary':
      return new Uint8Array(Buffer.from(String(value), 'hex'));
    default:
      return BigInt(String(value));
  }
}

describe('single values', () => {
  it.each(vectorsOf('single-value-binary').map((vector) => [textOf(vector, 'type'), printJson(vector['value'] ?? null), vector] as const))(
    '%s %s',
    (text, _, vector) => {
      const type = icebergTypeOf(text);
      if (type === undefined) throw new TypeError(text);
      const value = valueOf(type, vector['value']);
      expect(hex(encodeSingleValue(type, value))).toBe(vector['hex']);
      expect(decodeSingleValue(type, Buffer.from(textOf(vector, 'hex'), 'hex'))).toEqual(
        type.kind === 'binary' ? Buffer.from(value as Uint8Array) : value,
      );
    },
  );

  it('of a type that was promoted are read as the wider one', () => {
    const four = Uint8Array.of(255, 255, 255, 255);
    expect(decodeSingleValue({ kind: 'long' }, four)).toBe(-1n);
    expect(decodeSingleValue({ kind: 'timestamp_ntz' }, four)).toBe(-86_400_000_000n);
    expect(decodeSingleValue({ kind: 'timestamp_ntz_ns' }, four)).toBe(-86_400_000_000_000n);
    expect(decodeSingleValue({ kind: 'double' }, new Uint8Array(Float32Array.of(0.5).buffer))).toBe(0.5);
  });

  it('that are no value of the type tell nothing', () => {
    const kinds: readonly DataType[] = [
      { kind: 'integer' },
      { kind: 'long' },
      { kind: 'double' },
      { kind: 'boolean' },
      { kind: 'string', format: 'uuid' },
    ];
    expect(kinds.map((type) => decodeSingleValue(type, Uint8Array.of(1, 2, 3)))).toEqual(kinds.map(() => undefined));
    expect(encodeSingleValue({ kind: 'integer' }, 'x')).toBeUndefined();
    expect(encodeSingleValue({ kind: 'string', format: 'uuid' }, 'no uuid')).toBeUndefined();
  });
});

describe('bounds', () => {
  it('are cut by code points and by bytes', () => {
    expect([truncateLower('𝄞𝄞𝄞', 2), truncateUpper('𝄞𝄞𝄞', 2)]).toEqual(['𝄞𝄞', '𝄞\u{1d11f}']);
    expect([truncateUpper('abc', 3), truncateUpper('abc', 2), truncateUpper('a\u{10ffff}c', 2)]).toEqual(['abc', 'ac', 'b']);
    expect(truncateUpper('\ud7ffx', 1)).toBe('\ue000');
    expect(truncateUpper('\u{10ffff}\u{10ffff}', 1)).toBeUndefined();
    expect([hex(truncateLower(Uint8Array.of(1, 2, 3), 2)), hex(truncateUpper(Uint8Array.of(1, 255, 3), 2))]).toEqual(['0102', '02']);
    expect(truncateUpper(Uint8Array.of(255, 255, 3), 2)).toBeUndefined();
  });

  it('are around what they were cut from, in the order of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 6 }), (text, length) => {
        const upper = truncateUpper(text, length);
        expect(compareValues(truncateLower(text, length), text)).toBeLessThanOrEqual(0);
        if (upper !== undefined) expect(compareValues(upper, text)).toBeGreaterThanOrEqual(0);
        expect(Array.from(truncateLower(text, length)).length).toBeLessThanOrEqual(length);
      }),
      { seed: 5 },
    );
  });

  it('of partitions leave NaN and null out, and order zeros by sign', () => {
    const summaries = new FieldSummaries({ kind: 'struct', fields: [{ name: 'd', type: { kind: 'double' }, nullable: true }] });
    for (const value of [0, -0, Number.NaN, undefined]) summaries.add([value]);
    const [summary] = summaries.summaries();
    expect([summary?.containsNull, summary?.containsNan, hex(summary?.lowerBound), hex(summary?.upperBound)]).toEqual([
      true,
      true,
      '0000000000000080',
      '0000000000000000',
    ]);
  });
});

const fields: readonly Field[] = [
  { name: 'ts', type: { kind: 'timestamp' }, nullable: true, id: 1 },
  { name: 'a b', type: { kind: 'string' }, nullable: true, id: 2 },
  { name: 'dc', type: { kind: 'decimal', precision: 9, scale: 2 }, nullable: true, id: 3 },
  {
    name: 'l',
    type: {
      kind: 'list',
      element: { kind: 'struct', fields: [{ name: 'x', type: { kind: 'integer' }, nullable: true, id: 6 }] },
      elementNullable: true,
      elementId: 5,
    },
    nullable: true,
    id: 4,
  },
  {
    name: 'm',
    type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: false, keyId: 8, valueId: 9 },
    nullable: true,
    id: 7,
  },
];
const schema: IcebergSchema = { schemaId: 0, struct: { kind: 'struct', fields }, identifierFieldIds: [] };

describe('partitionPath', () => {
  const path = (transform: string, sourceId: number, value: PartitionValue, name = 'p'): string =>
    partitionPath({ specId: 0, fields: [{ sourceId, fieldId: 1000, name, transform: parseTransform(transform) }] }, schema, [value]);

  it.each([
    ['year', 1, -1, 'p=1969'],
    ['month', 1, -1, 'p=1969-12'],
    ['month', 1, 575, 'p=2017-12'],
    ['day', 1, -719_162, 'p=0001-01-01'],
    ['hour', 1, -1, 'p=1969-12-31-23'],
    ['identity', 1, -1n, 'p=1969-12-31T23%3A59%3A59.999999Z'],
    ['identity', 2, 'a b/ü=~*!', 'p=a+b%2F%C3%BC%3D%7E*%21'],
    ['identity', 2, '', 'p='],
    ['identity', 2, undefined, 'p=null'],
    ['identity', 3, -5n, 'p=-0.05'],
    ['bucket[4]', 2, 3, 'p=3'],
    ['unknown', 77, Uint8Array.of(255, 254), 'p=%2F%2F4%3D'],
  ] as const)('%s of column %i: %s is %s', (transform, sourceId, value, text) => {
    expect(path(transform, sourceId, value)).toBe(text);
  });

  it('encodes names, joins fields and is empty without any', () => {
    expect(path('identity', 2, 'x', 'a b')).toBe('a+b=x');
    expect(partitionPath({ specId: 0, fields: [] }, schema, [])).toBe('');
  });
});

describe('columns of a schema', () => {
  it('are found by id and by path', () => {
    expect([1, 5, 6, 8, 9, 77].map((id) => columnPath(schema, id))).toEqual([
      'ts',
      'l.element',
      'l.element.x',
      'm.key',
      'm.value',
      undefined,
    ]);
    expect(fieldById(schema, 6)).toMatchObject({ repeated: true, nullable: true, field: { name: 'x' } });
    expect(fieldById(schema, 4)).toMatchObject({ repeated: false });
    expect([columnAt(schema, ['L', 'ELEMENT', 'X'])?.id, columnAt(schema, ['dc'])?.id, columnAt(schema, ['nope'])]).toEqual([
      6,
      3,
      undefined,
    ]);
  });
});

describe('name mappings', () => {
  const text =
    '[{"field-id":1,"names":["id","a.b"]},{"names":["extra"]},{"field-id":2,"names":["l"],"fields":[{"field-id":3,"names":["element"]}]}]';

  it('come back, and find columns by their literal names', () => {
    const mapping = parseNameMapping(text);
    expect(printNameMapping(mapping)).toBe(text);
    expect([['id'], ['a.b'], ['a', 'b'], ['extra'], ['l', 'element'], ['l', 'key']].map((path) => mappedId(mapping, path))).toEqual([
      1,
      1,
      undefined,
      undefined,
      3,
      undefined,
    ]);
  });

  it('follow from a schema', () => {
    const mapping = nameMappingOf(schema.struct);
    expect(
      [
        ['l', 'element', 'x'],
        ['m', 'value'],
      ].map((path) => mappedId(mapping, path)),
    ).toEqual([6, 9]);
  });

  it.each([
    ['a name twice', '[{"field-id":1,"names":["a"]},{"field-id":2,"names":["a"]}]', 'multiple fields for name a'],
    ['an object', '{}', 'cannot parse from non-array'],
  ])('with %s are refused', (_, bad, message) => {
    expect(() => parseNameMapping(bad)).toThrow(message);
  });
});

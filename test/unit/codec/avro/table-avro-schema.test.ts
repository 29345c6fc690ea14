import { describe, expect, it } from 'vitest';
import { decimalBytes, sanitizeAvroName, tableAvroSchema } from '../../../../src/codec/avro/table-avro-schema.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { readAvroFile } from '../../../support/avro-records.ts';
import { avroVector } from './vectors.ts';

function struct(...fields: readonly Field[]): StructType & DataType {
  return { kind: 'struct', fields };
}

function field(id: number, name: string, type: DataType, nullable = true): Field {
  return { name, type, nullable, id };
}

const text: DataType = { kind: 'string' };
const int: DataType = { kind: 'integer' };

describe('the schema of a table', () => {
  it('is what Spark writes for it, attribute for attribute', () => {
    const table = struct(
      field(1, 'id', { kind: 'long' }, false),
      field(2, 's', text),
      field(3, 'ts', { kind: 'timestamp' }),
      field(4, 'tn', { kind: 'timestamp_ntz' }),
      field(5, 'dt', { kind: 'date' }),
      field(6, 'dec', { kind: 'decimal', precision: 20, scale: 4 }),
      field(7, 'st', struct(field(10, 'a', int), field(11, 'b', { kind: 'list', element: text, elementNullable: true, elementId: 12 }))),
      field(8, 'm', { kind: 'map', key: text, value: { kind: 'double' }, valueNullable: true, keyId: 13, valueId: 14 }),
      field(9, 'mi', { kind: 'map', key: int, value: text, valueNullable: true, keyId: 15, valueId: 16 }),
    );
    const { schema } = readAvroFile(avroVector('data-0').bytes, { name: 'data-0' });
    expect(JSON.stringify(sorted(tableAvroSchema(table, 'table')))).toBe(JSON.stringify(sorted(schema)));
  });

  it('names a type once and refers to it afterwards', () => {
    const uuid: DataType = { kind: 'string', format: 'uuid' };
    const table = struct(
      field(1, 'a', uuid),
      field(2, 'b', uuid, false),
      field(3, 'c', { kind: 'binary', fixedLength: 5 }, false),
      field(4, 'd', { kind: 'list', element: { kind: 'binary', fixedLength: 5 }, elementNullable: false, elementId: 5 }, false),
    );
    expect(tableAvroSchema(table, 't')).toEqual({
      type: 'record',
      name: 't',
      fields: [
        { name: 'a', type: ['null', { type: 'fixed', name: 'uuid_fixed', size: 16, logicalType: 'uuid' }], default: null, 'field-id': 1 },
        { name: 'b', type: 'uuid_fixed', 'field-id': 2 },
        { name: 'c', type: { type: 'fixed', name: 'fixed_5', size: 5 }, 'field-id': 3 },
        { name: 'd', type: { type: 'array', items: 'fixed_5', 'element-id': 5 }, 'field-id': 4 },
      ],
    });
  });

  it('marks instants, local times, nanoseconds and times of day', () => {
    const kinds = ['timestamp', 'timestamp_ntz', 'timestamp_ns', 'timestamp_ntz_ns', 'time'] as const;
    const types = kinds.map((kind) => tableAvroSchema(struct({ name: 'a', type: { kind }, nullable: false }), 't')['fields']);
    const marked = (logicalType: string, utc: boolean): unknown => [
      { name: 'a', type: { type: 'long', logicalType, 'adjust-to-utc': utc } },
    ];
    expect(types).toEqual([
      marked('timestamp-micros', true),
      marked('timestamp-micros', false),
      marked('timestamp-nanos', true),
      marked('timestamp-nanos', false),
      [{ name: 'a', type: { type: 'long', logicalType: 'time-micros' } }],
    ]);
  });

  it('gives every record and every field a name of its own', () => {
    const inner = (name: string): Field => ({ name, type: struct({ name: 'x', type: int, nullable: false }), nullable: false });
    expect(tableAvroSchema(struct(inner('a b'), inner('a_x20b')), 'r')).toMatchObject({
      name: 'r',
      fields: [
        { name: 'a_x20b', type: { name: 'r_1' }, 'iceberg-field-name': 'a b' },
        { name: 'a_x20b_1', type: { name: 'r_2' }, 'iceberg-field-name': 'a_x20b' },
      ],
    });
  });
});

it.each([
  ['plain_9', 'plain_9'],
  ['9lives', '_9lives'],
  ['a.b-c', 'a_x2Eb_x2Dc'],
  ['größe', 'gr_xF6_xDFe'],
  ['\u{1F600}', '_xD83D_xDE00'],
  ['', '_'],
])('the name "%s" is written %s', (name, written) => {
  expect(sanitizeAvroName(name)).toBe(written);
});

it('decimals take the fewest bytes that hold their digits', () => {
  expect([1, 2, 3, 4, 9, 10, 18, 19, 20, 38].map(decimalBytes)).toEqual([1, 1, 2, 2, 4, 5, 8, 9, 9, 16]);
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

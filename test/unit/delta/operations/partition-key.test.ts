import { describe, expect, it } from 'vitest';
import { partitionKey } from '../../../../src/delta/operations/optimize/partition-key.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';

const schemaOf = (type: DataType): StructType => ({ kind: 'struct', fields: [{ name: 'p', type, nullable: true }] });
const key = (type: DataType, text: string | undefined) => partitionKey({ p: text }, ['p'], schemaOf(type));

describe('partitionKey', () => {
  it.each<[DataType, string, string]>([
    [{ kind: 'timestamp' }, '2024-01-01 10:00:00', '2024-01-01T10:00:00.000000Z'],
    [{ kind: 'timestamp' }, '2024-01-01 10:00:00.5', '2024-01-01T10:00:00.500000Z'],
    [{ kind: 'timestamp' }, '2024-01-01T12:00:00+02:00', '2024-01-01T10:00:00Z'],
    [{ kind: 'timestamp_ntz' }, '2024-01-01 10:00:00.120', '2024-01-01 10:00:00.12'],
    [{ kind: 'timestamp' }, '0001-01-01 00:00:00', '0001-01-01T00:00:00Z'],
    [{ kind: 'decimal', precision: 5, scale: 2 }, '12.5', '12.50'],
    [{ kind: 'decimal', precision: 5, scale: 2 }, '12', '12.00'],
    [{ kind: 'double' }, '1', '1.0'],
    [{ kind: 'long' }, '007', '7'],
    [{ kind: 'boolean' }, 'true', 'TRUE'],
  ])('takes %j "%s" and "%s" for one partition', (type, one, other) => {
    expect(key(type, one)).toBe(key(type, other));
  });

  it.each<[DataType, string, string]>([
    [{ kind: 'timestamp' }, '2024-01-01 10:00:00.000001', '2024-01-01 10:00:00'],
    [{ kind: 'timestamp' }, '0001-01-01 00:00:00', '1901-01-01 00:00:00'],
    [{ kind: 'decimal', precision: 5, scale: 2 }, '10', '1'],
    [{ kind: 'long' }, '9007199254740993', '9007199254740992'],
    [{ kind: 'string' }, '1', '01'],
    [{ kind: 'string' }, 'a', 'A'],
  ])('keeps %j "%s" and "%s" apart', (type, one, other) => {
    expect(key(type, one)).not.toBe(key(type, other));
  });

  it('takes an empty text for null, and null apart from the text "null"', () => {
    expect(key({ kind: 'string' }, '')).toBe(key({ kind: 'string' }, undefined));
    expect(key({ kind: 'string' }, 'null')).not.toBe(key({ kind: 'string' }, undefined));
  });

  it('keeps values apart that only look alike when joined', () => {
    const two: StructType = { kind: 'struct', fields: ['a', 'b'].map((name) => ({ name, type: { kind: 'string' }, nullable: true })) };
    expect(partitionKey({ a: 'x,y', b: 'z' }, ['a', 'b'], two)).not.toBe(partitionKey({ a: 'x', b: 'y,z' }, ['a', 'b'], two));
  });
});

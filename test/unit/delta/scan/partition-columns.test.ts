import { describe, expect, it } from 'vitest';
import { partitionValueOf } from '../../../../src/delta/scan/partition-columns.ts';
import type { DataType } from '../../../../src/schema/types.ts';

const text = (value: string | undefined, type: DataType) =>
  partitionValueOf({ p: value }, { table: 't', name: 'p', key: 'p', type }, 'f.parquet');

describe('a partition value of the log', () => {
  it.each<[DataType, string, string]>([
    [{ kind: 'integer' }, '-0012', '-12'],
    [{ kind: 'long' }, '+9223372036854775807', '9223372036854775807'],
    [{ kind: 'decimal', precision: 20, scale: 2 }, '12.000000000000000000', '12.000000000000000000'],
    [{ kind: 'decimal', precision: 20, scale: 10 }, '-1E-10', '-0.0000000001'],
    [{ kind: 'decimal', precision: 20, scale: 0 }, '1.25e3', '1250'],
    [{ kind: 'double' }, '1.0E10', '1.0E10'],
    [{ kind: 'float' }, 'nan', 'NaN'],
    [{ kind: 'double' }, '-inf', '-Infinity'],
    [{ kind: 'boolean' }, 'TRUE', 'true'],
    [{ kind: 'date' }, '2024-02-29', '2024-02-29'],
    [{ kind: 'date' }, '2024-02-29 00:00:00', '2024-02-29'],
    [{ kind: 'timestamp' }, '2021-09-08 11:11:11', '2021-09-08 11:11:11.000000'],
    [{ kind: 'timestamp' }, '2024-01-01T10:00:00.000001Z', '2024-01-01 10:00:00.000001'],
    [{ kind: 'timestamp' }, '2024-01-01T00:30:00.123456789+02:00', '2023-12-31 22:30:00.123456'],
    [{ kind: 'timestamp' }, '2024-01-01', '2024-01-01 00:00:00.000000'],
    [{ kind: 'timestamp_ntz' }, '2024-01-01 10:00:00.5', '2024-01-01 10:00:00.500000'],
    [{ kind: 'string' }, ' ü/%20 ', ' ü/%20 '],
    [{ kind: 'string' }, '__HIVE_DEFAULT_PARTITION__', '__HIVE_DEFAULT_PARTITION__'],
    [{ kind: 'binary' }, '\\u0001\\u00FF', '01ff'],
    [{ kind: 'binary' }, 'ab\u0001', '616201'],
  ])('reads %o written as %s', (type, value, expected) => {
    expect(text(value, type)).toBe(expected);
  });

  it.each<DataType>([{ kind: 'string' }, { kind: 'integer' }, { kind: 'binary' }])('takes no text and no value for null: %o', (type) => {
    expect(text('', type)).toBeUndefined();
    expect(text(undefined, type)).toBeUndefined();
  });

  it.each<[DataType, string]>([
    [{ kind: 'integer' }, '1.5'],
    [{ kind: 'decimal', precision: 5, scale: 2 }, '.'],
    [{ kind: 'double' }, 'one'],
    [{ kind: 'boolean' }, '1'],
    [{ kind: 'date' }, '29.02.2024'],
    [{ kind: 'timestamp' }, '2024-01-01T10'],
  ])('refuses what is no %o, naming file and column: %s', (type, value) => {
    expect(() => text(value, type)).toThrow(expect.objectContaining({ code: 'DELTA_PARTITION_VALUE_INVALID', kind: 'corrupt' }));
    expect(() => text(value, type)).toThrow(/f\.parquet.*"p"/);
  });
});

import { describe, expect, it } from 'vitest';
import { createBuilder } from '../../../../src/codec/columns/create-builder.ts';
import { createJsonReader } from '../../../../src/ingest/decode/json/create-reader.ts';
import { JsonCursor } from '../../../../src/ingest/decode/json/json-cursor.ts';
import type { DataType } from '../../../../src/schema/types.ts';

/** The value of a JSON text, or why it is refused. */
function decode(type: DataType, json: string): bigint | string | undefined {
  const reader = createJsonReader(createBuilder(type), 'ignore');
  const cursor = new JsonCursor(10);
  const bytes = new TextEncoder().encode(json);
  cursor.load(bytes, 0, bytes.length);
  if (!reader.read(cursor)) return cursor.failure?.reason;
  const column = reader.column.finish();
  return column.layout === 'fixed' ? BigInt(column.values[0] ?? 0) : undefined;
}

describe('times of the day', () => {
  it.each([
    ['"00:00:00"', 0n],
    ['"23:59:59.999999"', 86_399_999_999n],
    ['"10:11:12.5"', 36_672_500_000n],
    ['"10:11:12.123456000"', 36_672_123_456n],
  ])('%s is exact', (json, micros) => {
    expect(decode({ kind: 'time' }, json)).toBe(micros);
  });

  it.each([
    ['"24:00:00"', 'out-of-range'],
    ['"10:60:00"', 'out-of-range'],
    ['"10:11:12.1234567"', 'out-of-range'],
    ['"10:11"', 'wrong-type'],
    ['"10:11:12Z"', 'wrong-type'],
    ['36672', 'wrong-type'],
  ])('%s is refused', (json, reason) => {
    expect(decode({ kind: 'time' }, json)).toBe(reason);
  });
});

describe('timestamps of nanoseconds', () => {
  it.each([
    ['timestamp_ns', '"1970-01-01T00:00:00.000000001Z"', 1n],
    ['timestamp_ns', '"1969-12-31T23:59:59.999999999Z"', -1n],
    ['timestamp_ns', '"1970-01-01T01:00:00.000001+01:00"', 1_000n],
    ['timestamp_ns', '"2262-04-11T23:47:16.854775807Z"', 2n ** 63n - 1n],
    ['timestamp_ntz_ns', '"1970-01-01T00:00:00"', 0n],
  ] as const)('of type %s: %s is exact', (kind, json, nanos) => {
    expect(decode({ kind }, json)).toBe(nanos);
  });

  it.each([
    ['timestamp_ns', '"2262-04-11T23:47:16.854775808Z"', 'out-of-range'],
    ['timestamp_ns', '"1970-01-01T00:00:00"', 'wrong-type'],
    ['timestamp_ns', '"1970-13-01T00:00:00Z"', 'out-of-range'],
    ['timestamp_ntz_ns', '"1970-01-01T00:00:00Z"', 'wrong-type'],
    ['timestamp_ntz_ns', '"1970-01-01T00:00:00.0000000001"', 'wrong-type'],
  ] as const)('of type %s: %s is refused', (kind, json, reason) => {
    expect(decode({ kind }, json)).toBe(reason);
  });

  it('are not taken for microseconds: finer digits there are refused as before', () => {
    expect(decode({ kind: 'timestamp' }, '"1970-01-01T00:00:00.0000001Z"')).toBe('out-of-range');
    expect(decode({ kind: 'timestamp' }, '"1970-01-01T00:00:00.0000010Z"')).toBe(1n);
  });
});

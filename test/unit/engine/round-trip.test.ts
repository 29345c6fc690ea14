import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { type PlainRow, rowsOf } from '../../../src/codec/rows.ts';
import type { Column, ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import { scanOf } from '../../support/engine-scans.ts';
import { schemaAndRows } from '../../support/random-batches.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

function struct(types: Readonly<Record<string, DataType>>): StructType {
  return { kind: 'struct', fields: Object.entries(types).map(([name, type]) => ({ name, type, nullable: true })) };
}

const long: DataType = { kind: 'long' };
const string: DataType = { kind: 'string' };
const decimal = (precision: number, scale: number): DataType => ({ kind: 'decimal', precision, scale });

const schema = struct({
  boolean: { kind: 'boolean' },
  byte: { kind: 'byte' },
  short: { kind: 'short' },
  integer: { kind: 'integer' },
  long,
  float: { kind: 'float' },
  double: { kind: 'double' },
  decimal4: decimal(4, 1),
  decimal9: decimal(9, 2),
  decimal18: decimal(18, 18),
  decimal38: decimal(38, 10),
  string,
  binary: { kind: 'binary' },
  date: { kind: 'date' },
  timestamp: { kind: 'timestamp' },
  timestamp_ntz: { kind: 'timestamp_ntz' },
  struct: struct({ a: long, b: struct({ 'c d': string }) }),
  list: { kind: 'list', element: { kind: 'list', element: long, elementNullable: true }, elementNullable: true },
  structs: { kind: 'list', element: struct({ x: string, y: decimal(20, 0) }), elementNullable: true },
  map: { kind: 'map', key: string, value: struct({ v: { kind: 'double' } }), valueNullable: true },
  'a "quoted" ; name': string,
});

const yearOne = -62_135_596_800_000_000n;
const lastMicro = 253_402_300_799_999_999n;

const rows: readonly PlainRow[] = [
  {
    boolean: true,
    byte: -128,
    short: -32_768,
    integer: -(2 ** 31),
    long: -(2n ** 63n),
    float: -3.4028234663852886e38,
    double: -Number.MAX_VALUE,
    decimal4: '-999.9',
    decimal9: '-9999999.99',
    decimal18: '-0.999999999999999999',
    decimal38: `-${'9'.repeat(28)}.${'9'.repeat(10)}`,
    string: '',
    binary: new Uint8Array(0),
    date: -719_162,
    timestamp: yearOne,
    timestamp_ntz: yearOne,
    struct: { a: 1n, b: { 'c d': 'ü😀\u0000x' } },
    list: [[1n, null], [], null],
    structs: [{ x: 'a string longer than twelve bytes', y: '-5' }, null, { x: null, y: null }],
    map: new Map([
      ['', { v: Number.NaN }],
      ['a key longer than twelve bytes', null],
    ]),
    'a "quoted" ; name': `it's "quoted"`,
  },
  {
    boolean: false,
    byte: 127,
    short: 32_767,
    integer: 2 ** 31 - 1,
    long: 2n ** 63n - 1n,
    float: Number.NEGATIVE_INFINITY,
    double: 5e-324,
    decimal4: '0.0',
    decimal9: '0.01',
    decimal18: '0.000000000000000001',
    decimal38: `${'9'.repeat(28)}.${'9'.repeat(10)}`,
    string: 'x'.repeat(100_000),
    binary: Uint8Array.from({ length: 256 }, (_, index) => index),
    date: 2_932_896,
    timestamp: lastMicro,
    timestamp_ntz: lastMicro,
    struct: { a: null, b: null },
    list: [],
    structs: [],
    map: new Map(),
    'a "quoted" ; name': null,
  },
  Object.fromEntries(schema.fields.map((field) => [field.name, null])),
  {
    ...Object.fromEntries(schema.fields.map((field) => [field.name, null])),
    float: Number.NaN,
    double: -0,
    long: 2n ** 53n + 1n,
    timestamp: -1n,
    timestamp_ntz: 1n,
    date: 0,
    string: '\u{10FFFF}',
    struct: { a: 7n, b: { 'c d': null } },
  },
];

describe('rows that are held, written as Parquet, scanned and read', () => {
  it('are the same rows, for every type at its extremes', async () => {
    const { engine, directory } = made;
    const held = await made.hold(schema, rows);
    expect(await made.rows(held)).toEqual(rows);
    const target = join(directory, 'extremes');
    const files = await engine.writeParquet(held, { directory: target, pathOf: () => 'a.parquet', partitionBy: [], compression: 'zstd' });
    const scan = await engine.scan(scanOf(schema, target, files));
    expect(await made.rows(scan)).toEqual(rows);
    expect(Object.is((await made.rows(scan))[3]?.['double'], -0)).toBe(true);
    await scan.dispose();
    await held.dispose();
  });

  it('are the same rows for random schemas and values', async () => {
    const { engine, directory } = made;
    let round = 0;
    await fc.assert(
      fc.asyncProperty(schemaAndRows, async ({ schema: anySchema, rows: inputs }) => {
        round += 1;
        const batch = withinCalendar(buildBatch(anySchema, inputs));
        const expected = [...rowsOf([batch])];
        const held = await engine.hold(batch.schema, [batch]);
        expect(await made.rows(held)).toEqual(expected);
        const target = join(directory, `random-${round}`);
        const files = await engine.writeParquet(held, {
          directory: target,
          pathOf: () => 'a.parquet',
          partitionBy: [],
          compression: 'snappy',
        });
        const scan = await engine.scan(scanOf(batch.schema, target, files));
        expect(await made.rows(scan)).toEqual(expected);
        await scan.dispose();
        await held.dispose();
      }),
      { numRuns: 40 },
    );
  });
});

/** Times of the years 1 to 9999, which every engine has; the first and last 64-bit instants are none in this one. */
function withinCalendar(batch: ColumnBatch): ColumnBatch {
  return { ...batch, columns: batch.columns.map(calendarColumn) };
}

function calendarColumn(column: Column): Column {
  switch (column.layout) {
    case 'fixed':
      if (column.values instanceof BigInt64Array && column.type.kind !== 'long') {
        return { ...column, values: column.values.map((value) => (value < yearOne ? yearOne : value > lastMicro ? lastMicro : value)) };
      }
      if (column.values instanceof Int32Array && column.type.kind === 'date') {
        return { ...column, values: column.values.map((days) => Math.trunc(days / 1000)) };
      }
      return column;
    case 'struct':
      return { ...column, children: column.children.map(calendarColumn) };
    case 'list':
      return { ...column, element: calendarColumn(column.element) };
    case 'map':
      return { ...column, keys: calendarColumn(column.keys), values: calendarColumn(column.values) };
    default:
      return column;
  }
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { triesOf } from '../../../support/property/property-runs.ts';
import { schemaAndRows } from '../../../support/random-batches.ts';

describe('writing and reading a Parquet file', () => {
  it('gives the schema and every row back, for any schema and values', async () => {
    await fc.assert(
      fc.asyncProperty(
        schemaAndRows,
        fc.constantFrom('zstd' as const, 'snappy' as const, 'uncompressed' as const),
        async (input, compression) => {
          const batch = buildBatch(input.schema, input.rows);
          const read = await readParquet(await writeParquet([batch], { compression }), { batchRows: 7 });
          expect(read.schema).toEqual(input.schema);
          expect([...rowsOf(read.batches)]).toEqual([...rowsOf([batch])]);
        },
      ),
      { numRuns: triesOf(150) },
    );
  });

  it('keeps the rows of several batches in order', async () => {
    const schema = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'long' }, nullable: false }] } as const;
    const [first, second] = [buildBatch(schema, [{ n: 1 }, { n: 2 }]), buildBatch(schema, [{ n: 3 }])];
    const { batches } = await readParquet(await writeParquet([first, second], { compression: 'zstd' }));
    expect([...rowsOf(batches)].map((row) => row['n'])).toEqual([1n, 2n, 3n]);
  });

  it('keeps field ids of fields, list elements, map keys and map values', async () => {
    const schema = {
      kind: 'struct',
      fields: [
        { name: 'a', type: { kind: 'long' }, nullable: true, id: 3 },
        { name: 'l', type: { kind: 'list', element: { kind: 'long' }, elementNullable: true, elementId: 11 }, nullable: true, id: 4 },
        {
          name: 'm',
          type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: true, keyId: 12, valueId: 13 },
          nullable: true,
          id: 5,
        },
      ],
    } as const;
    const { schema: read } = await readParquet(await writeParquet([buildBatch(schema, [])], { compression: 'snappy' }));
    expect(read).toEqual(schema);
  });

  it('refuses a null in a required column', async () => {
    const field = { name: 'n', type: { kind: 'long' }, nullable: true } as const;
    const batch = buildBatch({ kind: 'struct', fields: [field] }, [{ n: null }]);
    const required = { ...batch, schema: { kind: 'struct', fields: [{ ...field, nullable: false }] } } as const;
    await expect(writeParquet([required], { compression: 'zstd' })).rejects.toMatchObject({ code: 'PARQUET_NULL_IN_REQUIRED_COLUMN' });
  });

  it('refuses text that is not UTF-8 and goes on working', async () => {
    const schema = { kind: 'struct', fields: [{ name: 's', type: { kind: 'string' }, nullable: true }] } as const;
    const batch = {
      schema,
      rowCount: 1,
      columns: [
        {
          layout: 'bytes',
          type: { kind: 'string' },
          length: 1,
          nullCount: 0,
          validity: undefined,
          offsets: Int32Array.of(0, 1),
          data: Uint8Array.of(0xff),
        },
      ],
    } as const;
    await expect(writeParquet([batch], { compression: 'zstd' })).rejects.toMatchObject({ code: 'PARQUET_WRITE_REFUSED', kind: 'invalid' });
    await expect(writeParquet([buildBatch(schema, [{ s: 'ok' }])], { compression: 'zstd' })).resolves.toBeInstanceOf(Uint8Array);
  });

  it('calls bytes that are no Parquet file corrupt', async () => {
    await expect(readParquet(new Uint8Array(100))).rejects.toMatchObject({ code: 'PARQUET_CORRUPT', kind: 'corrupt' });
    await expect(readParquet(new Uint8Array(0))).rejects.toMatchObject({ code: 'PARQUET_CORRUPT', kind: 'corrupt' });
  });
});

describe('projection while reading', () => {
  const written = {
    kind: 'struct',
    fields: [
      { name: 'a', type: { kind: 'integer' }, nullable: true },
      { name: 'b', type: { kind: 'string' }, nullable: true },
      { name: 's', type: { kind: 'struct', fields: [{ name: 'x', type: { kind: 'float' }, nullable: true }] }, nullable: true },
      { name: 'd', type: { kind: 'decimal', precision: 5, scale: 1 }, nullable: true },
    ],
  } as const;
  const file = (): Promise<Uint8Array> =>
    writeParquet([buildBatch(written, [{ a: -7, b: 'x', s: { x: 0.5 }, d: '-12.5' }, {}])], { compression: 'zstd' });

  it('gives absent columns as null, widens the others and follows the wanted order', async () => {
    const schema = {
      kind: 'struct',
      fields: [
        { name: 'd', type: { kind: 'decimal', precision: 12, scale: 3 }, nullable: true },
        { name: 'new', type: { kind: 'list', element: { kind: 'long' }, elementNullable: true }, nullable: true },
        {
          name: 's',
          type: {
            kind: 'struct',
            fields: [
              { name: 'y', type: { kind: 'timestamp' }, nullable: true },
              { name: 'x', type: { kind: 'double' }, nullable: true },
            ],
          },
          nullable: true,
        },
        { name: 'a', type: { kind: 'long' }, nullable: true },
      ],
    } as const;
    const read = await readParquet(await file(), { schema });
    expect([...rowsOf(read.batches)]).toEqual([
      { d: '-12.500', new: null, s: { y: null, x: 0.5 }, a: -7n },
      { d: null, new: null, s: null, a: null },
    ]);
  });

  it('takes integers for decimals that hold them all', async () => {
    const decimal = (precision: number, scale: number): StructType => ({
      kind: 'struct',
      fields: [{ name: 'a', type: { kind: 'decimal', precision, scale }, nullable: true }],
    });
    const read = await readParquet(await file(), { schema: decimal(12, 2) });
    expect([...rowsOf(read.batches)]).toEqual([{ a: '-7.00' }, { a: null }]);
    await expect(readParquet(await file(), { schema: decimal(11, 2) })).rejects.toMatchObject({ code: 'PARQUET_TYPE_MISMATCH' });
    const long = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'long' }, nullable: true }] } as const;
    const numbers = [{ n: 9_223_372_036_854_775_807n }, { n: -9_223_372_036_854_775_808n }];
    const longs = await writeParquet([buildBatch(long, numbers)], { compression: 'zstd' });
    const wide = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'decimal', precision: 22, scale: 2 }, nullable: true }] } as const;
    expect([...rowsOf((await readParquet(longs, { schema: wide })).batches)]).toEqual([
      { n: '9223372036854775807.00' },
      { n: '-9223372036854775808.00' },
    ]);
  });

  it('still counts rows when the file has none of the wanted columns', async () => {
    const read = await readParquet(await file(), { columns: ['absent'] });
    expect([read.schema.fields, read.batches.map((batch) => batch.rowCount)]).toEqual([[], [2]]);
  });

  it('refuses a cast that would lose values', async () => {
    const schema = { kind: 'struct', fields: [{ name: 'b', type: { kind: 'long' }, nullable: true }] } as const;
    await expect(readParquet(await file(), { schema })).rejects.toMatchObject({ code: 'PARQUET_TYPE_MISMATCH', kind: 'unsupported' });
  });
});

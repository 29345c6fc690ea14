import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { ParquetFileWriter } from '../../../../src/codec/parquet/parquet-file-writer.ts';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import { sliceRows } from '../../../../src/schema/slice.ts';
import { triesOf } from '../../../support/property/property-runs.ts';
import { schemaAndRows } from '../../../support/random-batches.ts';

describe('ParquetFileWriter', () => {
  it('writes the rows of all appended batches in order, also none', async () => {
    await fc.assert(
      fc.asyncProperty(schemaAndRows, fc.integer({ min: 1, max: 15 }), async ({ schema, rows }, step) => {
        const batch = buildBatch(schema, rows);
        const writer = new ParquetFileWriter(schema, { compression: 'zstd' });
        for (let from = 0; from < rows.length; from += step) {
          await writer.append(sliceRows(batch, { from, until: Math.min(from + step, rows.length) }));
        }
        const read = await readParquet(await writer.finish());
        expect(read.schema).toEqual(schema);
        expect([...rowsOf(read.batches)]).toEqual([...rowsOf([batch])]);
      }),
      { numRuns: triesOf(60) },
    );
  });

  it('refuses a null in a required column', async () => {
    const field = { name: 'n', type: { kind: 'long' }, nullable: true } as const;
    const batch = buildBatch({ kind: 'struct', fields: [field] }, [{ n: null }]);
    const schema = { kind: 'struct', fields: [{ ...field, nullable: false }] } as const;
    const writer = new ParquetFileWriter(schema, { compression: 'zstd' });
    await expect(writer.append({ ...batch, schema })).rejects.toMatchObject({ code: 'PARQUET_NULL_IN_REQUIRED_COLUMN' });
  });
});

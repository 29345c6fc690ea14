import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { readParquet } from '../../../src/codec/parquet/read-parquet.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import { type PlainRow, rowsOf } from '../../../src/codec/rows.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import { concatBatches } from '../../../src/schema/concat.ts';
import { sliceRows } from '../../../src/schema/slice.ts';
import { takeRows } from '../../../src/schema/take.ts';
import { schemaAndRows } from '../../support/random-batches.ts';

const plain = (...batches: readonly ColumnBatch[]): PlainRow[] => [...rowsOf(batches)];
const indices = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 50 });

describe('selecting and joining rows of any schema', () => {
  it('take gives the rows at the indices, repeated ones too, and nulls for -1', () => {
    fc.assert(
      fc.property(schemaAndRows, indices, ({ schema, rows }, picks) => {
        const batch = buildBatch(schema, rows);
        const chosen = Int32Array.from(picks, (pick) => Math.floor(pick * (rows.length + 1)) - 1);
        const all = plain(batch);
        const nothing = Object.fromEntries(schema.fields.map((field) => [field.name, null]));
        expect(plain(takeRows(batch, chosen))).toEqual(Array.from(chosen, (index) => all[index] ?? nothing));
      }),
    );
  });

  it('slice gives the rows of the range, and joining the slices gives the batch', () => {
    fc.assert(
      fc.property(schemaAndRows, fc.nat(40), fc.nat(40), ({ schema, rows }, first, second) => {
        const batch = buildBatch(schema, rows);
        const [from, until] = [Math.min(first, second, rows.length), Math.min(Math.max(first, second), rows.length)];
        const all = plain(batch);
        const parts = [
          sliceRows(batch, { from: 0, until: from }),
          sliceRows(batch, { from, until }),
          sliceRows(batch, { from: until, until: rows.length }),
        ];
        expect(parts.map((part) => plain(part))).toEqual([all.slice(0, from), all.slice(from, until), all.slice(until)]);
        expect(plain(concatBatches(schema, parts))).toEqual(all);
        expect(plain(sliceRows(concatBatches(schema, parts), { from, until }))).toEqual(all.slice(from, until));
      }),
    );
  });

  it('a slice can be taken from, sliced and written like any batch', async () => {
    await fc.assert(
      fc.asyncProperty(schemaAndRows, fc.nat(12), async ({ schema, rows }, start) => {
        const from = Math.min(start, rows.length);
        const slice = sliceRows(buildBatch(schema, rows), { from, until: rows.length });
        const expected = plain(buildBatch(schema, rows.slice(from)));
        expect(
          plain(
            takeRows(
              slice,
              Int32Array.from({ length: slice.rowCount }, (_, index) => index),
            ),
          ),
        ).toEqual(expected);
        expect(plain(...(await readParquet(await writeParquet([slice], { compression: 'snappy' }))).batches)).toEqual(expected);
      }),
    );
  });
});

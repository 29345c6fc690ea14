import { assert, assertNever } from '../base/assert.ts';
import { countOnes, sliceBits } from './bitmap.ts';
import type { Column, ColumnBatch } from './columns.ts';

export interface Range {
  readonly from: number;
  readonly until: number;
}

/** Rows `[from, until)` over the same buffers wherever the layout allows. Offsets of the result may start above 0. */
export function sliceRows(batch: ColumnBatch, range: Range): ColumnBatch {
  const { from, until } = range;
  assert(from >= 0 && from <= until && until <= batch.rowCount, `rows [${from}, ${until}) of a batch of ${batch.rowCount}`);
  return { schema: batch.schema, rowCount: until - from, columns: batch.columns.map((column) => sliceColumn(column, range)) };
}

/** Values `[from, until)` of a column; see `sliceRows`. */
export function sliceColumn(column: Column, { from, until }: Range): Column {
  const length = until - from;
  const base = { type: column.type, length, ...sliceValidity(column, from, until) };
  switch (column.layout) {
    case 'fixed':
      return { ...base, layout: 'fixed', values: column.values.subarray(from, until) };
    case 'boolean':
      return { ...base, layout: 'boolean', bits: sliceBits(column.bits, from, until) };
    case 'decimal':
      return { ...base, layout: 'decimal', words: column.words.subarray(2 * from, 2 * until) };
    case 'bytes':
      return { ...base, layout: 'bytes', offsets: column.offsets.subarray(from, until + 1), data: column.data };
    case 'struct':
      return { ...base, layout: 'struct', children: column.children.map((child) => sliceColumn(child, { from, until })) };
    case 'list':
      return { ...base, layout: 'list', offsets: column.offsets.subarray(from, until + 1), element: column.element };
    case 'map':
      return { ...base, layout: 'map', offsets: column.offsets.subarray(from, until + 1), keys: column.keys, values: column.values };
    default:
      return assertNever(column);
  }
}

function sliceValidity(column: Column, from: number, until: number): { validity: Uint8Array | undefined; nullCount: number } {
  if (column.validity === undefined) return { validity: undefined, nullCount: 0 };
  const validity = sliceBits(column.validity, from, until);
  const nullCount = until - from - countOnes(validity, until - from);
  return { nullCount, validity: nullCount === 0 ? undefined : validity };
}

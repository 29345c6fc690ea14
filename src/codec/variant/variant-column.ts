import type { BytesColumn, Column, StructColumn } from '../../schema/columns.ts';
import { variantFields } from '../../schema/variant-type.ts';
import type { VariantBytes } from './fold-variant.ts';

/** The bytes of variant `index` of a column, views into its buffers. */
export function variantAtIndex(column: StructColumn, index: number): VariantBytes {
  const [metadata, value] = column.children;
  return { metadata: bytesOf(metadata, index), value: bytesOf(value, index) };
}

/** A column of variants; `undefined` is null. */
export function variantColumn(values: readonly (VariantBytes | undefined)[]): StructColumn {
  const validity = new Uint8Array((values.length + 7) >> 3);
  let nullCount = values.length;
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    validity[index >> 3] = (validity[index >> 3] ?? 0) | (1 << (index & 7));
    nullCount -= 1;
  }
  const nulls = { length: values.length, nullCount, validity: nullCount === 0 ? undefined : validity };
  const children = variantFields.map(({ name, type }): BytesColumn => {
    const parts = values.map((value) => (name === 'metadata' ? value?.metadata : value?.value) ?? new Uint8Array(0));
    return { type, ...nulls, layout: 'bytes', ...joined(parts) };
  });
  return { type: { kind: 'variant' }, ...nulls, layout: 'struct', children };
}

function joined(parts: readonly Uint8Array[]): { readonly offsets: Int32Array; readonly data: Uint8Array } {
  const offsets = new Int32Array(parts.length + 1);
  for (const [index, part] of parts.entries()) offsets[index + 1] = (offsets[index] ?? 0) + part.length;
  return { offsets, data: Buffer.concat(parts) };
}

function bytesOf(column: Column | undefined, index: number): Uint8Array {
  if (column?.layout !== 'bytes') return new Uint8Array(0);
  return column.data.subarray(column.offsets[index], column.offsets[index + 1]);
}

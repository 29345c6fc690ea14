import { bytesAt, textAt, unscaledAt } from '../../../codec/rows.ts';
import type { ThetaSketch } from '../../../codec/theta/theta-sketch.ts';
import { type Column, type FixedColumn, isValid } from '../../../schema/columns.ts';
import { encodeSingleValue } from '../../metadata/single-value.ts';

/** A sketch takes in the values of a column of single values, in their binary form (`encodeSingleValue`); nulls are no values. */
export function addValues(sketch: ThetaSketch, column: Column): void {
  if (column.layout === 'fixed') addFixed(sketch, column);
  else if (column.layout === 'bytes' && !isUuid(column)) {
    const { data, offsets } = column;
    for (let index = 0; index < column.length; index++) {
      if (isValid(column, index)) sketch.add(data, offsets[index] ?? 0, offsets[index + 1] ?? 0);
    }
  } else {
    for (let index = 0; index < column.length; index++) {
      const bytes = isValid(column, index) ? valueBytes(column, index) : undefined;
      if (bytes !== undefined) sketch.add(bytes);
    }
  }
}

/** Little-endian, as the columns themselves are; integers have four bytes at least. */
function addFixed(sketch: ThetaSketch, column: FixedColumn): void {
  const values = column.values.BYTES_PER_ELEMENT < 4 ? Int32Array.from(column.values as Int16Array) : column.values;
  const { BYTES_PER_ELEMENT: size } = values;
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  for (let index = 0; index < column.length; index++) if (isValid(column, index)) sketch.add(bytes, index * size, (index + 1) * size);
}

function valueBytes(column: Column, index: number): Uint8Array | undefined {
  switch (column.layout) {
    case 'boolean':
      return encodeSingleValue(column.type, ((column.bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0);
    case 'decimal':
      return encodeSingleValue(column.type, unscaledAt(column.words, index));
    case 'bytes':
      return isUuid(column) ? encodeSingleValue(column.type, textAt(column, index)) : bytesAt(column, index);
    default:
      return undefined;
  }
}

function isUuid({ type }: Column): boolean {
  return type.kind === 'string' && type.format === 'uuid';
}

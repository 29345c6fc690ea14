import { isValidAt } from '../schema/bitmap.ts';
import type { BooleanColumn, BytesColumn, Column, FixedColumn } from '../schema/columns.ts';
import type { ExactBounds } from '../schema/statistics.ts';
import { compareBytes } from './byte-order.ts';
import { bytesAt } from './rows.ts';

/**
 * Bounds of booleans, bytes and floating numbers, NaN left out; `undefined` for other types and where nothing is left. `validity` counts in
 * place of the column's own.
 */
export function exactBounds(column: Column, validity: Uint8Array | undefined): ExactBounds | undefined {
  switch (column.layout) {
    case 'boolean':
      return booleanBounds(column, validity);
    case 'fixed':
      return floatBounds(column, validity);
    case 'bytes':
      return column.type.kind === 'binary' ? bytesBounds(column, validity) : undefined;
    default:
      return undefined;
  }
}

function booleanBounds({ bits, length }: BooleanColumn, validity: Uint8Array | undefined): ExactBounds | undefined {
  let [hasFalse, hasTrue] = [false, false];
  for (let row = 0; row < length && !(hasFalse && hasTrue); row++) {
    if (!isValidAt(validity, row)) continue;
    if (((bits[row >> 3] ?? 0) & (1 << (row & 7))) === 0) hasFalse = true;
    else hasTrue = true;
  }
  return hasFalse || hasTrue ? { min: !hasFalse, max: hasTrue } : undefined;
}

function floatBounds({ values, length }: FixedColumn, validity: Uint8Array | undefined): ExactBounds | undefined {
  if (!(values instanceof Float32Array || values instanceof Float64Array)) return undefined;
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < length; row++) {
    if (!isValidAt(validity, row)) continue;
    const value = values[row] ?? Number.NaN;
    // A comparison with NaN is false.
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min > max ? undefined : { min, max };
}

function bytesBounds(column: BytesColumn, validity: Uint8Array | undefined): ExactBounds | undefined {
  let [min, max] = [-1, -1];
  for (let row = 0; row < column.length; row++) {
    if (!isValidAt(validity, row)) continue;
    if (min < 0 || compareAt(column, row, min) < 0) min = row;
    if (max < 0 || compareAt(column, row, max) > 0) max = row;
  }
  // Views of a batch that goes.
  return min < 0 ? undefined : { min: bytesAt(column, min).slice(), max: bytesAt(column, max).slice() };
}

/** By bytes. */
export function compareAt({ offsets, data }: BytesColumn, left: number, right: number): number {
  return compareBytes(data, { from: offsets[left] ?? 0, until: offsets[left + 1] ?? 0 }, data, {
    from: offsets[right] ?? 0,
    until: offsets[right + 1] ?? 0,
  });
}

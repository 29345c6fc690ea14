import { assertNever } from '../base/assert.ts';
import type { Column } from './columns.ts';

/** Bytes that the values of a column take in memory, about. */
export function columnBytes(column: Column): number {
  return column.length / 8 + valueBytes(column);
}

function valueBytes(column: Column): number {
  switch (column.layout) {
    case 'fixed':
      return column.length * column.values.BYTES_PER_ELEMENT;
    case 'boolean':
      return column.length / 8;
    case 'decimal':
      return column.length * 16;
    case 'bytes':
      return 4 * column.length + entries(column.offsets, column.length);
    case 'struct':
      return column.children.reduce((sum, child) => sum + columnBytes(child), 0);
    case 'list':
      return 4 * column.length + share(column.element, entries(column.offsets, column.length));
    case 'map': {
      const count = entries(column.offsets, column.length);
      return 4 * column.length + share(column.keys, count) + share(column.values, count);
    }
    default:
      return assertNever(column);
  }
}

function entries(offsets: Int32Array, length: number): number {
  return (offsets[length] ?? 0) - (offsets[0] ?? 0);
}

/** Slices share their elements: only those in use count. */
function share(elements: Column, count: number): number {
  return elements.length === 0 ? 0 : (columnBytes(elements) * count) / elements.length;
}

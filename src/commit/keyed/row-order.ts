import { assert } from '../../base/assert.ts';
import { compareAt } from '../../codec/exact-bounds.ts';
import type { Column } from '../../schema/columns.ts';

type CompareRows = (left: number, right: number) => number;

/** Compares rows by columns without nulls, the first that differs decides; as the engine does: numbers by value, text by its bytes. */
export function rowOrder(columns: readonly Column[]): CompareRows {
  const each = columns.map(columnOrder);
  return (left, right) => {
    for (const compare of each) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function columnOrder(column: Column): CompareRows {
  switch (column.layout) {
    case 'fixed': {
      const { values } = column;
      return (left, right) => compare(values[left] ?? 0, values[right] ?? 0);
    }
    case 'decimal': {
      const { words } = column;
      const low = new BigUint64Array(words.buffer, words.byteOffset, words.length);
      return (left, right) =>
        compare(words[2 * left + 1] ?? 0n, words[2 * right + 1] ?? 0n) || compare(low[2 * left] ?? 0n, low[2 * right] ?? 0n);
    }
    case 'bytes':
      return (left, right) => compareAt(column, left, right);
    default:
      assert(false, `rows have no order by a column of layout ${column.layout}`);
  }
}

function compare(left: number | bigint, right: number | bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
